// f over one coordinate, as a curve.
import { TEXT, colour, drawAxes, fitted, rangeOf, ring, widened } from "./drawing.js";

/** f and f* as curves over one coordinate. */
export class CurveView {
  constructor(scene) {
    Object.assign(this, scene);
    const { pool, points } = scene;
    const n = scene.target.length / scene.outputs;
    this.x = pool.kind === "grid" ? Float64Array.from({ length: n }, (_, i) => pool.start[0] + i * pool.spacing[0]) : points;
    this.order = Array.from(this.x.keys()).sort((a, b) => this.x[a] - this.x[b]);
    this.edges = rangeOf(this.x);
  }

  frame() {
    const sheet = fitted(this.canvas);
    const { context, width, height } = sheet;
    const box = { left: 46 * TEXT.scale, right: width - 12, top: 10, bottom: height - 24 * TEXT.scale };
    const [low, high] = widened(this.limits, 0.08);
    const [first, last] = this.edges;
    const name = this.pool.names?.[0] || "x";
    Object.assign(this, drawAxes(sheet, box, { from: first, to: last, name }, { from: low, to: high, name: this.pool.target || "f" }));
    return { context, width, height, box };
  }

  line(context, values, output = 0) {
    context.beginPath();
    for (const i of this.order) context.lineTo(this.toX(this.x[i]), this.toY(values[i * this.outputs + output]));
  }

  draw({ values, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1, footprint = null, spot = null }) {
    const { context, box } = this.frame();
    if (this.filled) this.fill(context, box, values);
    context.save(); // what leaves the picture is not drawn over the numbers of its axis
    context.beginPath();
    context.rect(box.left, 0, box.right - box.left, box.bottom + 6);
    context.clip();
    if (layer === "error") this.gap(context, values, ink);
    for (let output = 0; output < this.outputs; output++) {
      context.strokeStyle = colour("target");
      context.lineWidth = 1.4;
      context.setLineDash([6, 4]);
      this.line(context, this.target, output);
      context.stroke();
      context.setLineDash([]);
      context.strokeStyle = ink;
      context.lineWidth = 2.2;
      this.line(context, values, output);
      context.stroke();
    }
    if (footprint) {
      context.strokeStyle = ink;
      context.lineWidth = 1.2;
      context.setLineDash([2, 3]);
      this.line(context, values.map((value, i) => value + footprint[Math.floor(i / this.outputs)]));
      context.stroke();
      context.setLineDash([]);
    }
    context.restore();
    const y = (i) => this.toY(this.target[i * this.outputs]);
    for (const i of marks) ring(context, this.toX(this.x[i]), y(i), 4.5, "winner", ink);
    if (runnerUp >= 0) this.arrow(context, runnerUp, values, "runner-up");
    if (winner >= 0) this.arrow(context, winner, values, "winner", ink);
    if (spot) ring(context, this.toX(this.x[spot.point]), this.toY(spot.value), 7, "winner", ink);
  }

  gap(context, values, ink) {
    context.fillStyle = ink;
    context.globalAlpha = 0.18;
    context.beginPath();
    for (const i of this.order) context.lineTo(this.toX(this.x[i]), this.toY(values[i * this.outputs]));
    for (const i of [...this.order].reverse()) context.lineTo(this.toX(this.x[i]), this.toY(this.target[i * this.outputs]));
    context.fill();
    context.globalAlpha = 1;
  }

  arrow(context, i, values, kind, ink = colour("quiet")) {
    const x = this.toX(this.x[i]);
    context.strokeStyle = ink;
    context.lineWidth = kind === "winner" ? 2 : 1.2;
    context.beginPath();
    context.moveTo(x, this.toY(values[i * this.outputs]));
    context.lineTo(x, this.toY(this.target[i * this.outputs]));
    context.stroke();
    ring(context, x, this.toY(this.target[i * this.outputs]), kind === "winner" ? 6 : 4, kind, ink);
  }

  fill(context, box, values) {
    // the boundary x2 = f(x1) parts the plane: what is above it is one class, what is below the other
    for (const [edge, name] of [[box.top, "class-a"], [box.bottom, "class-b"]]) {
      context.fillStyle = colour(name);
      this.line(context, values);
      context.lineTo(this.toX(this.edges[1]), edge);
      context.lineTo(this.toX(this.edges[0]), edge);
      context.fill();
    }
  }

  pointAt(px) {
    const x = this.fromX(px);
    return this.order.reduce((best, i) => (Math.abs(this.x[i] - x) < Math.abs(this.x[best] - x) ? i : best), this.order[0]);
  }
}
