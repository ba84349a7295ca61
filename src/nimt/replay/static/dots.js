// f at scattered points: as dots on a plane, or against f*.
import { CLASSES, TEXT, clamp, classAt, colour, colourTable, fitted, gapAt, rangeOf, ring } from "./drawing.js";

/** f as coloured dots on a plane. */
export class PointsView {
  constructor(scene) {
    Object.assign(this, scene);
    this.n = scene.target.length / scene.outputs;
    const [x, y] = [0, 1].map((axis) => Float64Array.from({ length: this.n }, (_, i) => scene.points[2 * i + axis]));
    this.xs = x;
    this.ys = y;
    this.edges = [rangeOf(x), rangeOf(y)];
  }

  draw({ values, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1, spot = null }) {
    const { context, width, height } = fitted(this.canvas);
    const room = 14;
    const across = (value, [low, high], from, to) => from + ((value - low) / (high - low)) * (to - from);
    this.toX = (i) => across(this.xs[i], this.edges[0], room, width - room);
    this.toY = (i) => across(this.ys[i], this.edges[1], height - room, room);
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
    const [name, other] = this.pool.names || ["x1", "x2"];
    context.font = TEXT.font;
    context.fillStyle = colour("quiet");
    context.textAlign = "right";
    context.fillText(`${name} →`, width - 4, height - 3);
    context.textAlign = "left";
    context.fillText(`↑ ${other}`, 4, 12);
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

/** f against f*, where points have three dimensions or more: a taught learner lies on the diagonal. */
export class AgreementView {
  constructor(scene) {
    Object.assign(this, scene);
    this.n = scene.target.length / scene.outputs;
  }

  draw({ values, marks = [], ink = colour("learner"), winner = -1, runnerUp = -1 }) {
    const { context, width, height } = fitted(this.canvas);
    const side = Math.min(width, height) - 20;
    const [low, high] = this.limits;
    const left = (width - side) / 2;
    this.toX = (i, o = 0) => left + ((this.target[i * this.outputs + o] - low) / (high - low)) * side;
    this.toY = (i, o = 0) => height - 10 - clamp((values[i * this.outputs + o] - low) / (high - low), -0.05, 1.05) * side;
    context.strokeStyle = colour("line");
    context.beginPath();
    context.moveTo(left, height - 10);
    context.lineTo(left + side, height - 10 - side);
    context.stroke();
    context.fillStyle = ink;
    for (let i = 0; i < this.n * this.outputs; i++) {
      const [point, output] = [Math.floor(i / this.outputs), i % this.outputs];
      context.beginPath();
      context.arc(this.toX(point, output), this.toY(point, output), 2.5, 0, 2 * Math.PI);
      context.fill();
    }
    context.font = TEXT.font;
    context.fillStyle = colour("quiet");
    context.textAlign = "right";
    context.fillText(`${this.pool.target || "the target f*"} →`, left + side, height - 16);
    context.textAlign = "left";
    context.fillText("↑ the learner f", left, 18);
    for (const i of marks) ring(context, this.toX(i), this.toY(i), 5, "winner", ink);
    if (runnerUp >= 0) ring(context, this.toX(runnerUp), this.toY(runnerUp), 5, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, this.toX(winner), this.toY(winner), 6, "winner", ink);
  }

  pointAt() { return -1; }
}
