// f on a grid of rows and columns: as pixels, as two classes with the line between them, as several classes.
import { CLASSES, TEXT, clamp, classAt, colour, drawAxes, fitted, gapAt, paletteOf, ring, wordOf } from "./drawing.js";

/** f as the pixels of a grid of rows and columns: a picture as it hangs, a map with x1 across and x2 up, as in nimt's figures. */
export class PictureView {
  constructor(scene) {
    Object.assign(this, scene);
    [this.rows, this.columns] = scene.pool.shape;
    this.isMap = scene.view !== "picture";
    this.sheets = new Map();
  }

  /** What pixels are painted on: as many as the picture has, or fewer for frames that were shrunk. */
  sheet(small) {
    const { rows, columns } = small || this;
    if (!this.sheets.has(rows)) {
      const canvas = Object.assign(document.createElement("canvas"), { width: columns, height: rows });
      const pixels = new ImageData(columns, rows);
      this.sheets.set(rows, { rows, columns, canvas, pixels, words: new Uint32Array(pixels.data.buffer) });
    }
    return Object.assign(this.sheets.get(rows), { target: small ? small.target : this.target });
  }

  /** Fit the picture into the canvas, whole and undistorted. */
  place(width, height) {
    const [left, top, below] = this.isMap ? [46, 16, 24].map((room) => room * TEXT.scale) : [0, 0, 0]; // for its axes
    const [across, up] = this.isMap ? [this.rows, this.columns] : [this.columns, this.rows];
    const side = Math.max(1e-9, Math.min((width - left) / across, (height - top - below) / up));
    const [wide, high] = [across * side, up * side];
    this.box = { left: left + (width - left - wide) / 2, top: top + (height - top - below - high) / 2, wide, high, side };
  }

  /** Draw where the first row and column are at 0, columns across and rows down, whatever way the picture lies. */
  within(context, act) {
    const { left, top, high } = this.box;
    context.save();
    if (this.isMap) context.transform(0, -1, 1, 0, left, top + high);
    else context.translate(left, top);
    act();
    context.restore();
  }

  /** The axes of a map, around it. */
  frame(sheet) {
    const { left, top, wide, high } = this.box;
    const { shape, start, spacing, names = ["x1", "x2"] } = this.pool;
    const [x, y] = [0, 1].map((axis) => {
      const half = (spacing[axis] || 1) / 2;
      return { from: start[axis] - half, to: start[axis] + (2 * shape[axis] - 1) * half, name: names[axis], isAbove: true };
    });
    drawAxes(sheet, { left, right: left + wide, top, bottom: top + high }, x, y);
  }

  paint({ words, target, pixels }, values, layer) {
    const { outputs } = this;
    if (layer === "error" || (outputs !== 1 && outputs !== 3)) { // several outputs that are no colours
      paintGaps(words, target, values, outputs);
      return;
    }
    const [low, high] = this.limits;
    const scale = 255 / (high - low);
    if (outputs === 3) {
      const { data } = pixels; // clamped by the browser
      for (let i = 0; i < words.length; i++) {
        for (let c = 0; c < 3; c++) data[4 * i + c] = (values[3 * i + c] - low) * scale;
        data[4 * i + 3] = 255;
      }
      return;
    }
    const palette = paletteOf(this.table);
    for (let i = 0; i < words.length; i++) words[i] = palette[clamp((values[i] - low) * scale + 0.5, 0, 255) | 0];
  }

  draw({ values, small = null, marks = [], ink = colour("learner"), layer = "values", winner = -1, runnerUp = -1, footprint = null, spot = null }) {
    const page = fitted(this.canvas);
    const { context, width, height } = page;
    const sheet = this.sheet(small);
    this.pixels = sheet.pixels;
    this.place(width, height);
    if (this.isMap) this.frame(page);
    this.paint(sheet, values, layer);
    sheet.canvas.getContext("2d").putImageData(sheet.pixels, 0, 0);
    const { side } = this.box;
    context.imageSmoothingEnabled = side * this.columns < sheet.columns;
    this.within(context, () => context.drawImage(sheet.canvas, 0, 0, this.columns * side, this.rows * side));
    this.over(context, sheet, values, ink);
    const radius = Math.max(4, Math.min(7, 0.9 * side));
    if (footprint) this.within(context, () => this.outline(context, footprint, ink));
    for (const i of marks) ring(context, ...this.middle(i), radius, "winner", ink);
    if (runnerUp >= 0) ring(context, ...this.middle(runnerUp), radius, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, ...this.middle(winner), radius + 2, "winner", ink);
    if (spot) ring(context, ...this.middle(spot.point), radius + 2, "winner", ink);
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
    const { side } = this.box;
    for (let i = 0; i < this.rows * this.columns; i++) {
      if (!felt(i)) continue;
      const [x, y] = [(i % this.columns) * side, Math.floor(i / this.columns) * side];
      if (i % this.columns === 0 || !felt(i - 1)) { context.moveTo(x, y); context.lineTo(x, y + side); }
      if (i % this.columns === this.columns - 1 || !felt(i + 1)) { context.moveTo(x + side, y); context.lineTo(x + side, y + side); }
      if (i < this.columns || !felt(i - this.columns)) { context.moveTo(x, y); context.lineTo(x + side, y); }
      if (i + this.columns >= this.rows * this.columns || !felt(i + this.columns)) { context.moveTo(x, y + side); context.lineTo(x + side, y + side); }
    }
    context.stroke();
    context.setLineDash([]);
  }

  middle(i, columns = this.columns) {
    const { left, top, high } = this.box;
    const side = (this.box.side * this.columns) / columns;
    const [across, down] = [((i % columns) + 0.5) * side, (Math.floor(i / columns) + 0.5) * side];
    return this.isMap ? [left + down, top + high - across] : [left + across, top + down];
  }

  pointAt(px, py) {
    if (!this.box) this.place(this.canvas.clientWidth, this.canvas.clientHeight);
    const { left, top, high, side } = this.box;
    const [across, down] = [px - left, py - top];
    const [column, row] = (this.isMap ? [high - down, across] : [across, down]).map((length) => Math.floor(length / side));
    if (column < 0 || row < 0 || column >= this.columns || row >= this.rows) return -1;
    return row * this.columns + column;
  }
}

/** Paint |f - f*|; the brightest is the worst now. */
function paintGaps(words, target, values, outputs) {
  const palette = paletteOf("error");
  let most = 1e-300;
  for (let i = 0; i < words.length; i++) {
    const gap = gapAt(target, values, i, outputs);
    if (gap > most && gap < Infinity) most = gap;
  }
  for (let i = 0; i < words.length; i++) words[i] = palette[clamp((255 * gapAt(target, values, i, outputs)) / most + 0.5, 0, 255) | 0];
}

/** f on a plane as two classes: where it is below and above 0, with the line between. */
export class BoundaryView extends PictureView {
  paint(sheet, values, layer) {
    if (layer === "error") { super.paint(sheet, values, layer); return; }
    const { words } = sheet;
    const [below, above] = ["class-b", "class-a"].map(shadesOf);
    for (let i = 0; i < words.length; i++) {
      const value = values[i * this.outputs];
      words[i] = (value > 0 ? above : below)[clamp(255 * Math.abs(value), 0, 255) | 0];
    }
  }

  over(context, sheet, values, ink) {
    context.lineWidth = 1.6;
    context.strokeStyle = colour("target");
    context.setLineDash([6, 4]);
    this.contour(context, sheet, sheet.target);
    context.setLineDash([]);
    if (values === sheet.target) return;
    context.lineWidth = 2.4;
    context.strokeStyle = ink;
    this.contour(context, sheet, values);
  }

  /** Draw the line f = 0, cell by cell. */
  contour(context, { rows, columns }, values) {
    const { outputs } = this;
    const at = (i) => values[i * outputs];
    context.beginPath();
    for (let row = 0; row < rows - 1; row++) {
      for (let column = 0; column < columns - 1; column++) {
        const a = row * columns + column;
        const [one, two, three, four] = [at(a) > 0, at(a + 1) > 0, at(a + columns + 1) > 0, at(a + columns) > 0];
        if (one === two && two === three && three === four) continue;
        const cuts = [];
        for (const [from, to] of [[a, a + 1], [a + 1, a + columns + 1], [a + columns, a + columns + 1], [a, a + columns]]) {
          if (at(from) > 0 === at(to) > 0) continue;
          const share = at(from) / (at(from) - at(to));
          const [x, y] = this.middle(from, columns);
          const [x2, y2] = this.middle(to, columns);
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
export class ClassesView extends PictureView {
  paint(sheet, values, layer) {
    if (layer === "error") { super.paint(sheet, values, layer); return; }
    const inks = CLASSES.map(wordOf);
    for (let i = 0; i < sheet.words.length; i++) sheet.words[i] = inks[classAt(values, i, this.outputs) % inks.length];
  }
}

/** A colour of the style sheet in 256 shades, paler where the learner is less sure. */
function shadesOf(name) {
  const [paper, side] = ["paper", name].map(colourNumbers);
  const shade = (sure) => wordOf([0, 1, 2].map((c) => Math.round(side[c] * sure + paper[c] * (1 - sure))));
  return Uint32Array.from({ length: 256 }, (_, i) => shade(0.35 + 0.65 * (i / 255)));
}

const NUMBERS = new Map();

/** Return a colour of the style sheet as red, green and blue. */
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
