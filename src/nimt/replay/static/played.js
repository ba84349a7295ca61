// A whole lesson, with what a page asks of it while it plays.
import { findEarlyEnd } from "./clock.js";
import { discrepancy, lessonOf } from "./recording.js";

const COMPUTED = ["paper", "rms"]; // measures that a page takes itself; of others it knows the recorded curve

export class PlayedLesson {
  /** @param {number} number  its place among the lessons of a page
   *  @param {object} recording  header and blocks */
  constructor(number, recording) {
    const { header, blocks } = recording;
    Object.assign(this, { number, header, blocks, target: blocks.target, initial: blocks.initial, points: blocks.points, rows: blocks.rows });
    this.lesson = lessonOf(recording);
    this.kernel = this.lesson.kernel;
    Object.assign(this, { outputs: header.outputs, pack: header.pack, tol: header.tol, itd: header.itd, said: header.sentence });
    Object.assign(this, { over: true, known: true, parent: null, offset: 0 });
    const early = findEarlyEnd(blocks.curve);
    this.early = early === null ? null : blocks.curve_steps[early];
  }

  get taken() { return this.header.steps; }

  get end() { return this.header.steps; }

  get name() { return this.header.teacher; }

  /** Whether f and the example of every single step are known. */
  get isExact() { return this.header.kernel !== "frames" && this.header.every === 1; }

  ownerAt() { return this; }

  sheetAt() { return null; }

  /** The step of the recording that shows a step of the lesson. */
  within(step) {
    const asked = Math.max(0, Math.min(step, this.end));
    if (this.header.kernel === "frames") return asked;
    return asked === this.end ? this.lesson.steps : Math.floor(asked / this.header.every);
  }

  valuesAt(step) { return this.lesson.at(this.within(step)); }

  work(step) { return this.lesson.work(this.within(step)); }

  /** What a step shows, empty where that is not known. */
  shownAt(step) { return this.header.kernel !== "frames" && !this.isExact ? [] : this.lesson.shownAt(step); }

  coefficientsAt(step) { return this.isExact && step < this.end ? this.lesson.coefficientsAt(step) : null; }

  heldOutAt() { return null; }

  discrepancyAt(step) {
    const { header } = this;
    if (COMPUTED.includes(header.measure)) return discrepancy(this.valuesAt(step), this.target, header.points, header.measure);
    const { curve, curve_steps: steps } = this.blocks;
    let place = 0;
    while (place + 1 < steps.length && steps[place + 1] <= step) place++;
    return curve[place];
  }

  // -- clocks: a lesson that is over has forgotten the seconds it took

  secondsAt() { return 0; }

  toPlace(step, clock) { return clock === "examples" ? step * this.pack : clock === "steps" ? step : 0; }

  fromPlace(place, clock) {
    if (clock === "seconds") return 0;
    return Math.min(this.end, Math.floor(place / (clock === "examples" ? this.pack : 1) + 1e-9));
  }

  series(clock, ink) {
    const each = clock === "examples" ? this.pack : 1;
    return { steps: this.blocks.curve_steps.map((step) => step * each), values: this.blocks.curve, ink, itd: this.itd === null ? null : this.itd * each };
  }
}
