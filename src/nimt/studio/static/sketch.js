// A function drawn by hand: a curve, a picture, or two classes on a plane; with the mouse, a finger, or the arrow keys.

export const SKETCHES = {
  curve: { axes: [[-3, 3, 121]], low: -1.25, high: 1.25, step: 0.1, hint: "drag to draw" },
  picture: { axes: [[0, 27, 28], [0, 27, 28]], low: 0, high: 1, step: 1, hint: "drag to draw, with shift to erase" },
  classes: { axes: [[-1, 1, 24], [-1, 1, 24]], low: -1, high: 1, step: 2, hint: "drag to paint one class, with shift the other",
    values: () => Array.from({ length: 576 }, (_, i) => ((i % 24) - 11.5 > 4 * Math.sin(Math.floor(i / 24) / 3.6) ? 1 : -1)) },
};

const rounded = (value) => Number(value.toPrecision(4)) || 0;

export class Sketch {
  /** @param {(done: boolean) => void} onChange  called while drawing, and with true at the end of a stroke */
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.onChange = onChange;
    this.board = null; // of kind, columns, count, low, high, step
    this.values = [];
    this.pen = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.board) return;
      canvas.setPointerCapture(event.pointerId);
      this.last = null;
      this.pen.isSeen = false;
      this.stroke(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (this.board && event.buttons) this.stroke(event); });
    canvas.addEventListener("pointerup", () => { if (this.board) this.onChange(true); });
    canvas.addEventListener("contextmenu", (event) => { if (this.board) event.preventDefault(); }); // the right button erases
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  get kind() { return this.board?.kind ?? null; }

  /** Begin one of the sketches above. */
  begin(kind, values) {
    const { axes, low, high, step, values: first } = SKETCHES[kind];
    const count = axes.reduce((product, [, , length]) => product * length, 1);
    this.beginOn({ kind, columns: axes.at(-1)[2], count, low, high, step }, values || first?.());
  }

  beginOn(board, values) {
    this.board = board;
    this.values = values || new Array(board.count).fill(this.empty);
    const point = Math.floor(board.count / 2) + (board.kind === "curve" ? 0 : Math.floor(board.columns / 2));
    this.pen = { point, value: board.kind === "curve" ? this.values[point] : 1 };
  }

  /** Whether what is drawn here lies on such a board. */
  fits({ kind, columns, count }) { return this.kind === kind && this.board.columns === columns && this.board.count === count; }

  end() {
    this.board = null;
    this.pen = null;
  }

  /** What an empty sheet holds: zero, or the lower end where zero is not on it. */
  get empty() {
    const { kind, low, high } = this.board;
    return kind === "classes" ? -1 : Math.max(low, Math.min(high, 0));
  }

  clear() { this.values.fill(this.empty); }

  stroke(event) {
    const point = this.view.pointAt(event.offsetX, event.offsetY);
    if (point < 0) return;
    if (this.kind === "curve") this.bend(point, this.view.fromY(event.offsetY));
    else this.paint(point, event.shiftKey || event.buttons === 2);
    this.onChange(false);
  }

  within(value) { return Math.max(this.board.low, Math.min(this.board.high, value)); }

  /** Draw the curve from the last place to this one. */
  bend(point, value) {
    const height = this.within(value);
    const from = this.last || { point, value: height };
    const [a, b] = [Math.min(from.point, point), Math.max(from.point, point)];
    for (let i = a; i <= b; i++) {
      const share = point === from.point ? 1 : (i - from.point) / (point - from.point);
      this.values[i] = rounded(from.value + share * (height - from.value));
    }
    this.last = { point, value: height };
  }

  paint(point, erase) {
    const { columns, low, high } = this.board;
    const rows = this.values.length / columns;
    const radius = this.kind === "classes" ? 2.2 : Math.max(1.6, columns / 18);
    const far = Math.ceil(radius);
    const [row, column] = [Math.floor(point / columns), point % columns];
    for (let r = Math.max(0, row - far); r <= Math.min(rows - 1, row + far); r++) {
      for (let c = Math.max(0, column - far); c <= Math.min(columns - 1, column + far); c++) {
        const ink = Math.max(0, Math.min(1, radius - Math.hypot(r - row, c - column)));
        if (ink === 0) continue;
        const i = r * columns + c;
        if (this.kind === "classes") this.values[i] = erase ? low : high;
        else if (erase) this.values[i] = rounded(Math.min(this.values[i], high - ink * (high - low)));
        else this.values[i] = rounded(Math.max(this.values[i], low + ink * (high - low)));
      }
    }
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!this.board || !(event.key in moves || event.key === "Enter" || event.key === "Delete")) return;
    event.preventDefault();
    event.stopPropagation();
    const [across, down] = moves[event.key] || [0, 0];
    const { pen } = this;
    pen.isSeen = true;
    let draws = false;
    if (this.kind === "curve") {
      pen.point = Math.max(0, Math.min(this.values.length - 1, pen.point + across));
      if (across && !event.shiftKey) pen.value = this.values[pen.point];
      pen.value = this.within(pen.value - down * this.board.step);
      draws = event.shiftKey || down !== 0 || event.key === "Enter";
      if (draws) this.values[pen.point] = rounded(pen.value);
    } else {
      const { columns } = this.board;
      const rows = this.values.length / columns;
      const row = Math.max(0, Math.min(rows - 1, Math.floor(pen.point / columns) + down));
      const column = Math.max(0, Math.min(columns - 1, (pen.point % columns) + across));
      pen.point = row * columns + column;
      draws = event.shiftKey || event.key === "Enter" || event.key === "Delete";
      if (draws) this.paint(pen.point, event.key === "Delete");
    }
    this.onChange(draws);
  }
}
