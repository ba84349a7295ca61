// Lessons computed in the page: the square loss, one example per step, on a grid; the same additions as the library's.
import { WindowKernel, discrepancy } from "./recording.js";

const CUT = 1e-16; // of K(0): smaller contributions are lost in rounding
const FORMS = {
  rbf: (distance, width) => Math.exp(-((distance / width) ** 2)),
  matern: (distance, width) => (1 + (Math.sqrt(3) * distance) / width) * Math.exp((-Math.sqrt(3) * distance) / width),
};

/** K at a distance. */
export function kernelAt({ kernel, width }, distance) {
  if (!(kernel in FORMS)) throw new Error(`the kernel ${kernel} needs nimt on a machine of your own: take rbf or matern`);
  if (!(width > 0)) throw new Error(`the width must be a number above 0, got ${width}`);
  return FORMS[kernel](distance, width);
}

/** The window of a kernel on a grid of one or two axes, as runs along the last one. */
export function windowOf(rules, { shape, spacing }) {
  const along = spacing[spacing.length - 1];
  const [lead, first, start, weights] = [[], [], [0], []];
  const rows = shape.length === 1 ? [0] : Array.from({ length: 2 * shape[0] - 1 }, (_, i) => i - shape[0] + 1);
  for (const row of rows) {
    const down = shape.length === 1 ? 0 : row * spacing[0];
    const at = (column) => kernelAt(rules, Math.hypot(down, column * along));
    let reach = -1;
    while (reach + 1 < shape[shape.length - 1] && at(reach + 1) >= CUT) reach++;
    if (reach < 0) continue;
    if (shape.length > 1) lead.push(row);
    first.push(-reach);
    for (let column = -reach; column <= reach; column++) weights.push(at(column));
    start.push(weights.length);
  }
  return { lead: Int32Array.from(lead), first: Int32Array.from(first), start: Uint32Array.from(start), weights: Float64Array.from(weights) };
}

/** Numbers in [0, 1), the same for the same seed (mulberry32). */
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

export class LocalLesson {
  /** @param {object} problem  pool, target, initial; of numbers one for each point */
  constructor({ pool, target, initial }, rules, { teacher, rate }, seed = 0) {
    Object.assign(this, { pool, target, initial, rules, teacher, rate, steps: rules.steps, tol: rules.tol });
    if (!(rate > 0)) throw new Error(`the rate must be a number above 0, got ${rate}`);
    this.blocks = windowOf(rules, pool);
    this.kernel = new WindowKernel({ shape: pool.shape, ...this.blocks });
    this.values = Float64Array.from(initial);
    this.random = randomNumbers(seed);
    this.curve = [this.discrepancy];
    this.indices = [];
    this.coefficients = [];
    this.decide();
  }

  get taken() { return this.indices.length; }

  get discrepancy() { return discrepancy(this.values, this.target, this.target.length); }

  /** The point that the teacher shows next. */
  choose() {
    if (this.teacher === "random") return Math.floor(this.random() * this.target.length);
    let [best, most] = [0, -1];
    for (let i = 0; i < this.target.length; i++) {
      const gap = Math.abs(this.values[i] - this.target[i]);
      if (gap > most) [best, most] = [i, gap];
    }
    return best;
  }

  show(point) {
    const step = 2 * this.rate * (this.target[point] - this.values[point]);
    this.kernel.add(this.values, point, [step], 0, 1);
    this.indices.push(point);
    this.coefficients.push(step);
    this.curve.push(this.discrepancy);
    this.decide();
  }

  decide() {
    const now = this.curve[this.curve.length - 1];
    this.said = this.tol !== null && now < this.tol ? "the discrepancy fell below the tolerance"
      : !(now < 1e6 * this.curve[0]) && this.taken ? "the learner is moving away: lower the learning rate"
        : this.taken >= this.steps ? "the iteration budget ran out" : "";
  }

  get over() { return this.said !== ""; }

  /** f after some steps. */
  valuesAt(step) {
    const values = Float64Array.from(this.initial);
    for (let t = 0; t < step; t++) this.kernel.add(values, this.indices[t], this.coefficients, t, 1);
    return values;
  }
}
