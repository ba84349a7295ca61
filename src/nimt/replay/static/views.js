// A pool as a picture: curves, pixels, classes on a plane, dots, or prediction against truth.
import { FONT, colour, colourTable, fitted, numberText, rangeOf, ring, ticks } from "./drawing.js";

/** Return the view that fits a pool: it draws f on a canvas, and says which point lies under the pointer. */
export function viewOf(canvas, { view, pool, points, outputs = 1 }, target, initial) {
  const scene = { canvas, pool, points, outputs, target, limits: rangeOf(target, initial) };
  const [low, high] = scene.limits;
  if (outputs === 3 && low >= 0 && high <= 1) scene.limits = [0, 1]; // a colour picture looks as it is
  if (pool.kind === "grid" && pool.shape.length === 1) return new CurveView({ ...scene, filled: view === "boundary" });
  if (view === "curve") return new CurveView(scene);
  if (view === "picture" || view === "map") return new PictureView({ ...scene, table: view === "map" ? "map" : "grey" });
  if (view === "boundary") return new BoundaryView(scene);
  if (view === "classes" && pool.kind === "grid") return new ClassesView(scene);
  if (view === "points" || view === "classes") return new PointsView({ ...scene, classes: view === "classes" });
  return new AgreementView(scene);
}

const clamp = (value, low, high) => (value < low ? low : value > high ? high : value === value ? value : high);

/** f and f* as curves over one coordinate. */
class CurveView {
  constructor(scene) {
    Object.assign(this, scene);
    const { pool, points } = scene;
    const n = scene.target.length / scene.outputs;
    this.x = pool.kind === "grid" ? Float64Array.from({ length: n }, (_, i) => pool.start[0] + i * pool.spacing[0]) : points;
    this.order = Array.from(this.x.keys()).sort((a, b) => this.x[a] - this.x[b]);
    this.edges = rangeOf(this.x);
  }

  frame() {
    const { context, width, height } = fitted(this.canvas);
    const box = { left: 46, right: width - 12, top: 10, bottom: height - 24 };
    const room = 0.08 * (this.limits[1] - this.limits[0]);
    const [low, high] = [this.limits[0] - room, this.limits[1] + room];
    const [first, last] = this.edges;
    this.toX = (x) => box.left + ((x - first) / (last - first)) * (box.right - box.left);
    this.toY = (y) => clamp(box.bottom - ((y - low) / (high - low)) * (box.bottom - box.top), -50, height + 50);
    this.fromX = (px) => first + ((px - box.left) / (box.right - box.left)) * (last - first);
    this.fromY = (py) => low + ((box.bottom - py) / (box.bottom - box.top)) * (high - low);
    context.font = FONT;
    context.lineWidth = 1;
    context.strokeStyle = colour("line");
    context.fillStyle = colour("quiet");
    context.textBaseline = "middle";
    context.textAlign = "right";
    for (const y of ticks(low, high, Math.max(2, height / 60))) {
      context.beginPath();
      context.moveTo(box.left, this.toY(y));
      context.lineTo(box.right, this.toY(y));
      context.stroke();
      context.fillText(numberText(y), box.left - 7, this.toY(y));
    }
    context.textAlign = "center";
    for (const x of ticks(first, last, Math.max(2, width / 90))) context.fillText(numberText(x), this.toX(x), box.bottom + 14);
    return { context, width, height, box };
  }

  line(context, values, output = 0) {
    context.beginPath();
    for (const i of this.order) context.lineTo(this.toX(this.x[i]), this.toY(values[i * this.outputs + output]));
  }

  draw({ values, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1, footprint = null }) {
    const { context, box } = this.frame();
    if (this.filled) this.fill(context, box, values);
    if (layer === "error") this.gap(context, values);
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
    const y = (i) => this.toY(this.target[i * this.outputs]);
    for (const i of marks) ring(context, this.toX(this.x[i]), y(i), 4.5, "winner", ink);
    if (runnerUp >= 0) this.arrow(context, runnerUp, values, "runner-up");
    if (winner >= 0) this.arrow(context, winner, values, "winner", ink);
  }

  gap(context, values) {
    context.fillStyle = colour("error-fill");
    context.beginPath();
    for (const i of this.order) context.lineTo(this.toX(this.x[i]), this.toY(values[i * this.outputs]));
    for (const i of [...this.order].reverse()) context.lineTo(this.toX(this.x[i]), this.toY(this.target[i * this.outputs]));
    context.fill();
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

/** f as the pixels of a grid of rows and columns. */
class PictureView {
  constructor(scene) {
    Object.assign(this, scene);
    [this.rows, this.columns] = scene.pool.shape;
    this.pixels = new ImageData(this.columns, this.rows);
    this.pixels.data.fill(255);
    this.sheet = document.createElement("canvas");
    this.sheet.width = this.columns;
    this.sheet.height = this.rows;
  }

  /** Fit the picture into the canvas, whole and undistorted; a map that is no picture fills it. */
  place(width, height) {
    const scale = Math.min(width / this.columns, height / this.rows);
    const [wide, high] = [this.columns * scale, this.rows * scale];
    this.box = { left: (width - wide) / 2, top: (height - high) / 2, wide, high };
  }

  paint(values, layer) {
    const { data } = this.pixels;
    const { outputs } = this;
    const n = this.rows * this.columns;
    if (layer === "error" || (outputs !== 1 && outputs !== 3)) { // several outputs that are no colours
      const table = colourTable("error");
      const most = Math.max(1e-300, largestGap(this.target, values, outputs)); // the brightest is the worst now
      for (let i = 0; i < n; i++) shade(data, i, table, gapAt(this.target, values, i, outputs) / most);
      return;
    }
    const [low, high] = this.limits;
    const scale = 1 / (high - low);
    if (outputs === 3) {
      for (let i = 0; i < n; i++) {
        for (let c = 0; c < 3; c++) data[4 * i + c] = 255 * clamp((values[3 * i + c] - low) * scale, 0, 1);
      }
      return;
    }
    const table = colourTable(this.table);
    for (let i = 0; i < n; i++) shade(data, i, table, (values[i * outputs] - low) * scale);
  }

  draw({ values, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1, footprint = null }) {
    const { context, width, height } = fitted(this.canvas);
    this.place(width, height);
    this.paint(values, layer);
    this.sheet.getContext("2d").putImageData(this.pixels, 0, 0);
    context.imageSmoothingEnabled = this.box.wide < this.columns;
    context.drawImage(this.sheet, this.box.left, this.box.top, this.box.wide, this.box.high);
    this.over(context, values, ink);
    const radius = Math.max(4, Math.min(7, (0.9 * this.box.wide) / this.columns));
    if (footprint) this.outline(context, footprint, ink);
    for (const i of marks) ring(context, ...this.middle(i), radius, "winner", ink);
    if (runnerUp >= 0) ring(context, ...this.middle(runnerUp), radius, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, ...this.middle(winner), radius + 2, "winner", ink);
  }

  over() {}

  /** Frame the points that a step moves by more than a hundredth of its largest move. */
  outline(context, footprint, ink) {
    const most = footprint.reduce((a, b) => Math.max(a, Math.abs(b)), 0) / 100;
    const felt = (i) => Math.abs(footprint[i]) > most; // one number per point, whatever the outputs
    context.strokeStyle = ink;
    context.lineWidth = 1;
    context.setLineDash([3, 2]);
    context.beginPath();
    const side = this.box.wide / this.columns;
    for (let i = 0; i < this.rows * this.columns; i++) {
      if (!felt(i)) continue;
      const [x, y] = [this.box.left + (i % this.columns) * side, this.box.top + Math.floor(i / this.columns) * side];
      if (i % this.columns === 0 || !felt(i - 1)) { context.moveTo(x, y); context.lineTo(x, y + side); }
      if (i % this.columns === this.columns - 1 || !felt(i + 1)) { context.moveTo(x + side, y); context.lineTo(x + side, y + side); }
      if (i < this.columns || !felt(i - this.columns)) { context.moveTo(x, y); context.lineTo(x + side, y); }
      if (i + this.columns >= this.rows * this.columns || !felt(i + this.columns)) { context.moveTo(x, y + side); context.lineTo(x + side, y + side); }
    }
    context.stroke();
    context.setLineDash([]);
  }

  middle(i) {
    const side = this.box.wide / this.columns;
    return [this.box.left + ((i % this.columns) + 0.5) * side, this.box.top + (Math.floor(i / this.columns) + 0.5) * side];
  }

  pointAt(px, py) {
    if (!this.box) this.place(this.canvas.clientWidth, this.canvas.clientHeight);
    const column = Math.floor(((px - this.box.left) / this.box.wide) * this.columns);
    const row = Math.floor(((py - this.box.top) / this.box.high) * this.rows);
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) return -1;
    return row * this.columns + column;
  }
}

function shade(data, i, table, share) {
  const entry = 3 * Math.round(255 * clamp(share, 0, 1));
  data[4 * i] = table[entry];
  data[4 * i + 1] = table[entry + 1];
  data[4 * i + 2] = table[entry + 2];
}

/** |f - f*| at a point, the norm over outputs. */
export function gapAt(target, values, i, outputs) {
  if (outputs === 1) return Math.abs(values[i] - target[i]);
  let total = 0;
  for (let o = i * outputs; o < (i + 1) * outputs; o++) total += (values[o] - target[o]) ** 2;
  return Math.sqrt(total);
}

function largestGap(target, values, outputs) {
  let most = 0;
  for (let i = 0; i < target.length / outputs; i++) most = Math.max(most, gapAt(target, values, i, outputs));
  return most;
}

/** f on a plane as two classes: where it is below and above 0, with the line between. */
class BoundaryView extends PictureView {
  paint(values, layer) {
    if (layer === "error") { super.paint(values, layer); return; }
    const { data } = this.pixels;
    const [paper, ...sides] = ["paper", "class-b", "class-a"].map(colourNumbers);
    for (let i = 0; i < this.rows * this.columns; i++) {
      const value = values[i * this.outputs];
      const side = sides[value > 0 ? 1 : 0];
      // paler where the learner is less sure
      const sure = Math.min(1, 0.35 + 0.65 * Math.min(1, Math.abs(value)));
      for (let c = 0; c < 3; c++) data[4 * i + c] = side[c] * sure + paper[c] * (1 - sure);
    }
  }

  over(context, values, ink) {
    context.lineWidth = 1.6;
    context.strokeStyle = colour("target");
    context.setLineDash([6, 4]);
    this.contour(context, this.target);
    context.setLineDash([]);
    if (values === this.target) return;
    context.lineWidth = 2.4;
    context.strokeStyle = ink;
    this.contour(context, values);
  }

  /** Draw the line f = 0, cell by cell. */
  contour(context, values) {
    const { rows, columns, outputs } = this;
    const at = (i) => values[i * outputs];
    context.beginPath();
    for (let row = 0; row < rows - 1; row++) {
      for (let column = 0; column < columns - 1; column++) {
        const a = row * columns + column;
        const edges = [[a, a + 1], [a + 1, a + columns + 1], [a + columns, a + columns + 1], [a, a + columns]];
        const cuts = [];
        for (const [one, other] of edges) {
          if (at(one) > 0 === at(other) > 0) continue;
          const share = at(one) / (at(one) - at(other));
          const [x, y] = this.middle(one);
          const [x2, y2] = this.middle(other);
          cuts.push([x + share * (x2 - x), y + share * (y2 - y)]);
        }
        for (let cut = 0; cut + 1 < cuts.length; cut += 2) {
          context.moveTo(...cuts[cut]);
          context.lineTo(...cuts[cut + 1]);
        }
      }
    }
    context.stroke();
  }
}

/** f on a plane as the class with the largest output. */
class ClassesView extends PictureView {
  paint(values, layer) {
    if (layer === "error") { super.paint(values, layer); return; }
    const { data } = this.pixels;
    for (let i = 0; i < this.rows * this.columns; i++) {
      const ink = CLASSES[classAt(values, i, this.outputs) % CLASSES.length];
      for (let c = 0; c < 3; c++) data[4 * i + c] = ink[c];
    }
  }
}

// those of nimt's figures
const CLASSES = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66],
  [51, 34, 136], [153, 153, 153], [136, 34, 85],
];

/** The output that is largest at a point, the first of equals. */
export function classAt(values, i, outputs) {
  let best = 0;
  for (let o = 1; o < outputs; o++) if (values[i * outputs + o] > values[i * outputs + best]) best = o;
  return best;
}

const NUMBERS = new Map();
function colourNumbers(name) {
  const text = colour(name);
  if (!NUMBERS.has(text)) {
    const sheet = document.createElement("canvas").getContext("2d");
    sheet.fillStyle = text;
    sheet.fillRect(0, 0, 1, 1);
    NUMBERS.set(text, Array.from(sheet.getImageData(0, 0, 1, 1).data.slice(0, 3)));
  }
  return NUMBERS.get(text);
}

/** f as coloured dots on a plane. */
class PointsView {
  constructor(scene) {
    Object.assign(this, scene);
    this.n = scene.target.length / scene.outputs;
    const [x, y] = [0, 1].map((axis) => Float64Array.from({ length: this.n }, (_, i) => scene.points[2 * i + axis]));
    this.xs = x;
    this.ys = y;
    this.edges = [rangeOf(x), rangeOf(y)];
  }

  draw({ values, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1 }) {
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
    for (const i of marks) ring(context, this.toX(i), this.toY(i), radius + 2, "winner", ink);
    if (runnerUp >= 0) ring(context, this.toX(runnerUp), this.toY(runnerUp), radius + 2, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, this.toX(winner), this.toY(winner), radius + 3, "winner", ink);
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
class AgreementView {
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
    for (const i of marks) ring(context, this.toX(i), this.toY(i), 5, "winner", ink);
    if (runnerUp >= 0) ring(context, this.toX(runnerUp), this.toY(runnerUp), 5, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, this.toX(winner), this.toY(winner), 6, "winner", ink);
  }

  pointAt() { return -1; }
}
