// Lessons as the page knows them: played from what was sent, on one clock, with branches that share their past.
import { findEarlyEnd } from "./clock.js";
import { classOf } from "./confusion.js";
import { countText, numberText } from "./drawing.js";
import { ColumnKernel, Frames, Growing, Replay, discrepancy, kernelOf, shrunk } from "./recording.js";
import { sayWay } from "./teachers.js";

const MEMORY = 48e6; // bytes of kept frames per lesson
const CURVE = 900; // points of a curve that is drawn

/** The root mean square distance of numbers from their mean. */
function spreadOf(values) {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length);
}

/** The rows of a table that are held out, and f there. */
class HeldOut {
  constructor({ held_out: count, points, outputs, pool }, blocks) {
    Object.assign(this, { count, outputs, target: blocks.held_target, classes: pool.classes?.length > 1 });
    const all = Uint32Array.from({ length: points }, (_, i) => i);
    const kernel = new ColumnKernel({
      points: all, begin: Uint32Array.from({ length: points + 1 }, (_, i) => i * count),
      members: Uint32Array.from({ length: points * count }, (_, i) => i % count), weights: blocks.held_weights,
    });
    this.spread = outputs === 1 ? spreadOf(blocks.held_target) : 0;
    this.lesson = new Replay(blocks.held_initial, kernel, { outputs, memory: MEMORY / 8 });
  }

  /** The share of right classes, or the root mean square error; and in words, of an error as R², which needs no unit. */
  at(step) {
    const values = this.lesson.at(step);
    if (!this.classes) {
      const rms = discrepancy(values, this.target, this.count, "rms");
      const { spread } = this;
      return { value: rms, text: spread > 0 ? `R² ${numberText(Number((1 - (rms / spread) ** 2).toFixed(3)))}` : `RMS ${numberText(rms)}` };
    }
    let right = 0;
    for (let i = 0; i < this.count; i++) right += Number(classOf(values, i, this.outputs) === classOf(this.target, i, this.outputs));
    return { value: right / this.count, text: `${numberText(Math.round((1000 * right) / this.count) / 10)} %` };
  }
}

export class Racer {
  constructor(number, header, blocks, parent = null) {
    Object.assign(this, { number, header, parent, target: blocks.target, initial: blocks.initial, points: blocks.points, rows: blocks.rows });
    this.outputs = header.outputs || 1;
    this.offset = header.offset || 0;
    this.pack = header.pack;
    this.tol = header.tol;
    if (header.kernel === "frames") {
      const sheet = header.shrink ? shrunk(blocks.target, header.pool.shape, this.outputs, header.shrink) : null;
      this.lesson = new Frames({ outputs: this.outputs, sheet });
      this.lesson.append(0, blocks.initial);
    } else {
      this.kernel = kernelOf(header, blocks);
      this.lesson = new Replay(blocks.initial, this.kernel, { outputs: this.outputs, memory: MEMORY });
    }
    this.heldOut = header.held_out ? new HeldOut(header, blocks) : null;
    this.curve = new Growing(Float64Array);
    this.curve.push([discrepancy(blocks.initial, blocks.target, header.points)]);
    this.times = [[0, 0]]; // [steps, seconds]
    this.itd = null;
    this.early = null; // the step by which most of what can be seen has happened
    this.over = false;
    this.said = "";
    this.find(0);
  }

  get taken() { return this.curve.length - 1; }

  /** The last step, counted from the start of the race. */
  get end() { return this.offset + this.taken; }

  get name() {
    const way = sayWay(this.header.request);
    if (!this.parent) return way;
    return this.header.said ? `${this.header.said}: ${way}` : `${way} from step ${countText(this.offset)}`; // what a branch changed comes first
  }

  append(header, blocks) {
    if (header.from !== this.taken) return; // sent twice, after the line broke
    const before = this.curve.length;
    this.curve.push(blocks.curve);
    if (blocks.indices) this.lesson.append(blocks.indices, blocks.coefficients, this.pack);
    if (blocks.indices) this.heldOut?.lesson.append(blocks.indices, blocks.coefficients, this.pack);
    const size = this.lesson.sheet ? this.lesson.sheet.target.length : this.initial.length;
    (header.frames || []).forEach(({ step, low, scale, shown }, place) => {
      this.lesson.append(step, blocks.values.subarray(place * size, (place + 1) * size), { shown: Uint32Array.from(shown), low, scale });
    });
    this.lesson.thin?.();
    this.times.push([this.taken, header.seconds]);
    this.find(before);
    this.drawn = null;
  }

  /** Look for the first step below the tolerance among the new ones. */
  find(from) {
    this.early ??= findEarlyEnd(this.curve.view, from);
    if (this.itd !== null || !(this.tol > 0)) return;
    for (let t = from; t < this.curve.length; t++) {
      if (this.curve.data[t] < this.tol) { this.itd = t; return; }
    }
  }

  /** The lesson that a step belongs to: this one, or before it began the one it was forked from. */
  ownerAt(step) { return step < this.offset && this.parent ? this.parent.ownerAt(step) : this; }

  /** f at a step of the race. */
  valuesAt(step) {
    const owner = this.ownerAt(step);
    return owner.lesson.at(owner.within(step));
  }

  /** The smaller sheet that f of a step lies on, null where it is as large as the target. */
  sheetAt(step) {
    const { lesson: { sheet }, target } = this.ownerAt(step);
    return sheet && this.valuesAt(step).length !== target.length ? sheet : null;
  }

  /** How many additions it takes to show a step. */
  work(step) {
    const owner = this.ownerAt(step);
    return owner.lesson.work(owner.within(step));
  }

  within(step) { return Math.max(0, Math.min(step - this.offset, this.taken)); }

  /** Whether f and the example of every single step are known. */
  get isExact() { return this.header.kernel !== "frames"; }

  discrepancyAt(step) {
    if (step < this.offset && this.parent) return this.parent.discrepancyAt(step);
    return this.curve.data[this.within(step)];
  }

  /** How the learner does on rows that it was never shown, null where there are none. */
  heldOutAt(step) {
    const owner = this.ownerAt(step);
    return owner.heldOut ? owner.heldOut.at(owner.within(step)) : null;
  }

  shownAt(step) {
    const owner = this.ownerAt(step);
    return owner.lesson.shownAt(step - owner.offset);
  }

  coefficientsAt(step) {
    const own = step - this.offset;
    return this.lesson.coefficientsAt && own >= 0 && own < this.lesson.steps ? this.lesson.coefficientsAt(own) : null;
  }

  // -- clocks: steps, examples or seconds, each counted from the start of the race

  secondsAt(step) {
    const past = this.parent ? this.parent.secondsAt(this.offset) : 0;
    const own = Math.max(0, Math.min(step - this.offset, this.taken));
    let i = 1;
    while (i < this.times.length - 1 && this.times[i][0] < own) i++;
    if (this.times.length < 2) return past;
    const [[t0, s0], [t1, s1]] = [this.times[i - 1], this.times[i]];
    return past + (t1 > t0 ? s0 + ((own - t0) / (t1 - t0)) * (s1 - s0) : s1);
  }

  toPlace(step, clock) {
    if (clock === "seconds") return this.secondsAt(step);
    if (clock === "steps") return step;
    const past = this.parent ? this.parent.toPlace(this.offset, clock) : 0;
    return past + (step - this.offset) * this.pack;
  }

  fromPlace(place, clock) {
    if (clock === "steps") return Math.min(Math.floor(place + 1e-9), this.end);
    const past = this.parent ? this.parent.toPlace(this.offset, clock) : 0;
    if (place < past) return this.parent.fromPlace(place, clock);
    if (clock === "examples") return Math.min(this.end, this.offset + Math.floor((place - past) / this.pack + 1e-9));
    let [low, high] = [this.offset, this.end];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.secondsAt(middle) <= place + 1e-12) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** The curve of M on a clock, in few enough points to be drawn at every frame. */
  series(clock, ink) {
    if (!this.drawn || this.drawn.clock !== clock) {
      const stride = Math.max(1, Math.floor(this.taken / CURVE));
      const [steps, values] = [[], []];
      const put = (own) => { steps.push(this.toPlace(this.offset + own, clock)); values.push(this.curve.data[own]); };
      for (let own = 0; own < this.taken; own += stride) put(own);
      put(this.taken);
      this.drawn = { clock, steps, values };
    }
    const itd = this.itd === null ? null : this.toPlace(this.offset + this.itd, clock);
    return { steps: this.drawn.steps, values: this.drawn.values, ink, itd };
  }
}
