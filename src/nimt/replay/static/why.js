// Why this example: how far f is off everywhere, who is worst, who is next, and what the step will move.
import { classOf } from "./confusion.js";
import { countText, gapAt, numberText } from "./drawing.js";

/** Return the point that is furthest off, ties to the lowest index. */
export function furthest(values, target, outputs = 1, skip = null) {
  let best = -1;
  let most = -1;
  for (let i = 0; i < target.length / outputs; i++) {
    if (skip && skip[i] !== 0) continue;
    const gap = gapAt(target, values, i, outputs);
    if (gap > most) { most = gap; best = i; }
  }
  return { point: best, gap: most };
}

/** What the coming step of a lesson adds to f, or null where that is not known. */
export function footprintOf(racer, step) {
  const coefficients = racer.coefficientsAt(step);
  if (coefficients === null || racer.pack > 1 || !racer.kernel) return null;
  // every output fades alike: that of one is drawn, as large as all of them together
  const size = racer.outputs === 1 ? coefficients[0] : Math.hypot(...coefficients);
  const footprint = new Float64Array(racer.target.length / racer.outputs);
  racer.kernel.add(footprint, racer.shownAt(step)[0], [size], 0, 1);
  return footprint;
}

const FEW = 3; // coordinates that are said of a point

/** Say where a point lies; of a row of a table `briefly` only which one. */
export function placeText({ pool, view }, { points = null, rows = null } = {}, i, briefly = false) {
  if (pool.kind === "grid" && pool.shape.length === 1) return `x = ${numberText(pool.start[0] + i * pool.spacing[0])}`;
  if (pool.kind === "grid" && pool.shape.length === 2) {
    const places = [Math.floor(i / pool.shape[1]), i % pool.shape[1]];
    if (view === "picture") return `row ${places[0]}, column ${places[1]}`;
    return places.map((place, axis) => `x${axis + 1} = ${numberText(pool.start[axis] + place * pool.spacing[axis])}`).join(", ");
  }
  const which = rows ? `row ${countText(rows[i])}` : `point ${countText(i)}`;
  const d = pool.dimension;
  if (!points || (briefly && (rows || d > FEW))) return which;
  const name = (axis) => pool.names?.[axis] || (d === 1 ? "x" : `x${axis + 1}`);
  const said = Array.from({ length: Math.min(d, FEW) }, (_, axis) => `${name(axis)} = ${numberText(points[d * i + axis])}`).join(", ");
  if (!rows && d <= FEW) return said;
  return `${which} with ${said}${d > FEW ? ` and ${countText(d - FEW)} more` : ""}`;
}

/** Say what class a row has, and what the learner takes it for; nothing where there are no classes. */
function classText({ header: { pool }, target, outputs }, values, i) {
  if (!(pool.classes?.length > 1)) return "";
  const [right, said] = [target, values].map((of) => pool.classes[classOf(of, i, outputs)]);
  return right === said ? ` It is ${right}, and the learner says so.` : ` It is ${right}, and the learner says ${said}.`;
}

/** Explain the step that comes after `step`: marks to draw, and a text that says the same. */
export function explain(branch, step) {
  const racer = branch.ownerAt(step);
  const values = racer.valuesAt(step);
  const { header, outputs } = racer;
  const small = racer.sheetAt(step);
  if (small) return explainSmall(racer, step, values, small);
  const { target } = racer;
  const worst = furthest(values, target, outputs);
  const shown = racer.isExact ? racer.shownAt(step) : [];
  const footprint = footprintOf(racer, step);
  const winner = shown.length && racer.pack === 1 && step < racer.end ? shown[0] : worst.point;
  const near = footprint || around(racer, winner);
  const next = furthest(values, target, outputs, near);
  const say = (i, briefly = i !== winner) => placeText(header, racer, i, briefly);
  const sentences = [];
  if (step >= racer.end && !racer.over) {
    sentences.push(`|f − f*| is largest at ${say(worst.point)} (circle): ${numberText(worst.gap)}.`);
  } else if (step >= racer.end) {
    sentences.push(`The lesson is over. |f − f*| is still largest at ${say(worst.point)}: ${numberText(worst.gap)}.`);
  } else if (racer.pack > 1) {
    sentences.push(`${racer.pack} examples come next. |f − f*| is largest at ${say(worst.point)} (circle): ${numberText(worst.gap)}.`);
  } else if (!shown.length) {
    sentences.push(`|f − f*| is largest at ${say(worst.point)} (circle): ${numberText(worst.gap)}.`);
  } else if (winner === worst.point) {
    sentences.push(`Next comes ${say(winner)} (circle): |f − f*| is largest there, ${numberText(worst.gap)}.`);
  } else {
    const gap = gapAt(target, values, winner, outputs);
    sentences.push(`Next comes ${say(winner)} (circle), where |f − f*| is ${numberText(gap)}; greedy would show ${say(worst.point)}, where it is ${numberText(worst.gap)}.`);
  }
  if (shown.length === 1 && step < racer.end) sentences[0] += classText(racer, values, winner);
  if (next.point >= 0) sentences.push(`The runner-up outside its reach is ${say(next.point)} (square): ${numberText(next.gap)}.`);
  if (footprint) {
    const moved = footprint.reduce((count, value) => count + (Math.abs(value) > 0 ? 1 : 0), 0);
    sentences.push(`The step moves f by ${numberText(footprint[winner])} there and fades over ${countText(moved)} points${header.pool.kind === "grid" || header.pool.dimension === 1 ? " (dotted)" : ""}.`);
  }
  return { values, winner, runnerUp: next.point, footprint, text: sentences.join(" ") };
}

/** The same for a frame that was shrunk: its blocks stand for their middle pixels. */
function explainSmall(racer, step, values, small) {
  const columns = racer.header.pool.shape[1];
  const whole = (block) => {
    const middle = (place, most) => Math.min(most - 1, place * small.by + Math.floor(small.by / 2));
    return middle(Math.floor(block / small.columns), racer.header.pool.shape[0]) * columns + middle(block % small.columns, columns);
  };
  const worst = furthest(values, small.target, racer.outputs);
  const winner = whole(worst.point);
  const what = step >= racer.end ? "The lesson is over." : `${countText(racer.pack)} examples come next.`;
  const text = `${what} |f − f*| is largest near ${placeText(racer.header, {}, winner)} (circle): about ${numberText(worst.gap)}.`;
  return { values, winner, runnerUp: -1, footprint: null, text };
}

/** A few points around one, where the reach of the kernel is not known. */
function around(racer, point) {
  const near = new Float64Array(racer.target.length / racer.outputs);
  near[point] = 1;
  if (racer.kernel) racer.kernel.add(near, point, [1], 0, 1);
  return near;
}
