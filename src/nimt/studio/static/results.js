// How the lessons stand: a table, and the same in sentences.
import { countText, numberText, write } from "./drawing.js";
import { furthest } from "./why.js";

/** The colour of a lesson; a branch has the colour of its number, and its own dashes. */
export function inkOf(number) { return `racer-${(number % 4) + 1}`; }

/** The lessons in the order in which they reached the tolerance, then those that have not, the nearest to the target first. */
export function ahead(rows) {
  const reached = ({ racer }) => (racer.itd === null ? Infinity : racer.offset + racer.itd);
  const key = (row) => [reached(row), Number.isNaN(row.m) ? Infinity : row.m];
  const compare = (one, other) => (one === other ? 0 : one < other ? -1 : 1); // Infinity - Infinity is no number
  return rows.map(({ racer, step }) => ({ racer, step, m: racer.discrepancyAt(step) }))
    .sort((a, b) => compare(key(a)[0], key(b)[0]) || compare(key(a)[1], key(b)[1]));
}

export class Results {
  constructor(table) {
    const head = table.createTHead().insertRow();
    for (const text of ["", "M now", "examples", "ITD"]) head.append(Object.assign(document.createElement("th"), { textContent: text }));
    this.body = table.createTBody();
  }

  /** @param {object[]} rows  of { racer, step }, one for each lesson */
  draw(rows) {
    const sorted = ahead(rows);
    const lines = sorted.map(({ racer, step, m }) => {
      const itd = racer.itd === null ? (racer.over ? "not reached" : "…") : countText(racer.offset + racer.itd);
      return [`${racer.number + 1} ${racer.name}`, numberText(m), countText(racer.toPlace(step, "examples")), itd];
    });
    while (this.body.rows.length > lines.length) this.body.deleteRow(-1);
    lines.forEach((cells, i) => {
      const row = this.body.rows[i] || this.newRow();
      cells.forEach((text, column) => write(column ? row.cells[column] : row.cells[0].lastChild, text));
      const ink = `var(--${inkOf(sorted[i].racer.number)})`;
      if (row.style.getPropertyValue("--mine") !== ink) row.style.setProperty("--mine", ink);
    });
  }

  newRow() {
    const row = this.body.insertRow();
    const name = document.createElement("th");
    name.append(Object.assign(document.createElement("span"), { className: "swatch" }), document.createElement("span"));
    row.append(name);
    for (let column = 1; column < 4; column++) row.insertCell();
    return row;
  }
}

/** Where every lesson stands, in words. */
export function standing(rows) {
  const one = ({ racer, step }) => `${racer.name}: M = ${numberText(racer.discrepancyAt(step))} at step ${countText(step)}`;
  return rows.length ? `${rows.map(one).join("; ")}.` : "";
}

const stepsText = (count) => (count === 1 ? "1 step" : `${countText(count)} steps`);

/** You against greedy, on the same problem. */
export function compared([you, greedy], isEnd) {
  const steps = you.taken;
  if (!steps) return "Click an example on your learner: where is it furthest off? Greedy plays beside you.";
  const mine = you.discrepancyAt(steps);
  let same = 0;
  while (same < greedy.taken && !(greedy.discrepancyAt(same) <= mine)) same++;
  const theirs = numberText(greedy.discrepancyAt(Math.min(steps, greedy.end)));
  const verdict = same >= steps ? "You keep up with it." : `It was where you are now after ${countText(same)}.`;
  const text = `You: ${stepsText(steps)}, M = ${numberText(mine)}. Greedy after as many: M = ${theirs}. ${verdict}`;
  return isEnd ? `The end. ${text} ${agreement(you)}` : text;
}

/** How often a person showed what greedy would have shown in their place. */
function agreement(you) {
  let alike = 0;
  for (let step = 0; step < you.taken; step++) {
    const worst = furthest(you.valuesAt(step), you.target, you.outputs);
    if (you.shownAt(step)[0] === worst.point) alike++;
  }
  return `${countText(alike)} of your ${countText(you.taken)} examples ${alike === 1 ? "was" : "were"} where the learner was furthest off.`;
}
