// f at scattered points: as dots on a plane, or against f*.
import { CLASSES, TEXT, clamp, classAt, colour, colourTable, drawAxes, fitted, gapAt, rangeOf, ring, widened } from "./drawing.js";

/** f as coloured dots on a plane. */
export class PointsView {
  constructor(scene) {
    Object.assign(this, scene);
    this.n = scene.target.length / scene.outputs;
    const [x, y] = [0, 1].map((axis) => Float64Array.from({ length: this.n }, (_, i) => scene.points[2 * i + axis]));
    this.xs = x;
    this.ys = y;
    this.edges = [rangeOf(x), rangeOf(y)].map((edges) => widened(edges));
    this.table = scene.outputs === 1 && !scene.classes ? "map" : null; // of colours that stand for values
  }

  draw({ values, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1, spot = null }) {
    const sheet = fitted(this.canvas);
    const { context, width, height } = sheet;
    const box = { left: 46 * TEXT.scale, right: width - 8, top: 8, bottom: height - 24 * TEXT.scale };
    const [name, other] = this.pool.names || ["x1", "x2"];
    const [[left, right], [bottom, top]] = this.edges;
    const axes = drawAxes(sheet, box, { from: left, to: right, name }, { from: bottom, to: top, name: other });
    this.toX = (i) => axes.toX(this.xs[i]);
    this.toY = (i) => axes.toY(this.ys[i]);
    const table = colourTable(layer === "error" || this.outputs > 1 ? "error" : "map");
    const [low, high] = this.limits;
    const radius = Math.max(2, Math.min(6, Math.sqrt((width * height) / this.n) / 4));
    const byGap = layer === "error" || (this.outputs > 1 && !this.classes);
    for (let i = 0; i < this.n; i++) {
      const value = byGap ? gapAt(this.target, values, i, this.outputs) : values[i * this.outputs] - low;
      const entry = 3 * Math.round(255 * clamp(value / (high - low), 0, 1));
      const ink = this.classes && !byGap ? CLASSES[classAt(values, i, this.outputs) % CLASSES.length] : table.subarray(entry, entry + 3);
      context.fillStyle = `rgb(${ink[0]},${ink[1]},${ink[2]})`;
      context.beginPath();
      context.arc(this.toX(i), this.toY(i), radius, 0, 2 * Math.PI);
      context.fill();
    }
    for (const i of marks) ring(context, this.toX(i), this.toY(i), radius + 2, "winner", ink);
    if (runnerUp >= 0) ring(context, this.toX(runnerUp), this.toY(runnerUp), radius + 2, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, this.toX(winner), this.toY(winner), radius + 3, "winner", ink);
    if (spot) ring(context, this.toX(spot.point), this.toY(spot.point), radius + 3, "winner", ink);
  }

  pointAt(px, py) {
    let best = -1;
    let least = Infinity;
    for (let i = 0; i < this.n; i++) {
      const distance = (this.toX(i) - px) ** 2 + (this.toY(i) - py) ** 2;
      if (distance < least) { least = distance; best = i; }
    }
    return best;
  }
}

/** f where points have three dimensions or more: against f*, where a taught learner lies on the diagonal, or along one of the axes. */
export class AgreementView {
  constructor(scene) {
    Object.assign(this, scene);
    this.n = scene.target.length / scene.outputs;
    this.dimension = scene.pool.dimension || 0;
    this.along = -1; // the axis of the pool that lies across, -1 for f*
  }

  /** What can lie across the picture. */
  get axes() {
    const names = this.pool.names || Array.from({ length: this.dimension }, (_, axis) => `x${axis + 1}`);
    return [this.pool.target || "the target f*", ...(this.points ? names : [])];
  }

  /** Where a value of an output lies across. */
  across(i, o = 0) { return this.along < 0 ? this.target[i * this.outputs + o] : this.points[i * this.dimension + this.along]; }

  draw({ values, marks = [], ink = colour("learner"), winner = -1, runnerUp = -1 }) {
    const sheet = fitted(this.canvas);
    const { context, width, height } = sheet;
    const box = { left: 46 * TEXT.scale, right: width - 8, top: 8, bottom: height - 24 * TEXT.scale };
    if (this.along < 0) { // a square, whose diagonal is f = f*
      const side = Math.min(box.right - box.left, box.bottom - box.top);
      box.left += (box.right - box.left - side) / 2;
      box.right = box.left + side;
    }
    const [low, high] = widened(this.limits);
    const [from, to] = this.along < 0 ? [low, high] : widened(rangeOf(Float64Array.from({ length: this.n }, (_, i) => this.across(i))));
    const axes = drawAxes(sheet, box, { from, to, name: this.axes[this.along + 1] }, { from: low, to: high, name: "the learner f" });
    this.toX = (i, o = 0) => axes.toX(this.across(i, o));
    this.toY = (i, o = 0) => clamp(axes.toY(values[i * this.outputs + o]), box.top - 4, box.bottom + 4);
    context.strokeStyle = colour("quiet");
    context.lineWidth = 1;
    if (this.along < 0) {
      context.beginPath();
      context.moveTo(axes.toX(low), axes.toY(low));
      context.lineTo(axes.toX(high), axes.toY(high));
      context.stroke();
    }
    for (let i = 0; i < this.n * this.outputs; i++) {
      const [point, output] = [Math.floor(i / this.outputs), i % this.outputs];
      if (this.along >= 0) { // f* as an open ring, f as a dot
        context.beginPath();
        context.arc(axes.toX(this.across(point)), axes.toY(this.target[i]), 3.2, 0, 2 * Math.PI);
        context.stroke();
      }
      context.fillStyle = ink;
      context.beginPath();
      context.arc(this.toX(point, output), this.toY(point, output), 2.5, 0, 2 * Math.PI);
      context.fill();
    }
    for (const i of marks) ring(context, this.toX(i), this.toY(i), 5, "winner", ink);
    if (runnerUp >= 0) ring(context, this.toX(runnerUp), this.toY(runnerUp), 5, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, this.toX(winner), this.toY(winner), 6, "winner", ink);
  }

  pointAt() { return -1; }
}
