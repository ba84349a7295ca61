// A target drawn by hand: a curve, a picture, or two classes on a plane; with the mouse, a finger, or the arrow keys.

export const SKETCHES = {
  curve: { axes: [[-3, 3, 121]], values: () => new Array(121).fill(0), low: -1.25, high: 1.25, step: 0.1,
    hint: "drag to draw" },
  picture: { axes: [[0, 27, 28], [0, 27, 28]], values: () => new Array(784).fill(0), low: 0, high: 1, step: 1,
    hint: "drag to draw, with shift to erase" },
  classes: { axes: [[-1, 1, 24], [-1, 1, 24]], low: -1, high: 1, step: 2, hint: "drag to paint one class, with shift the other",
    values: () => Array.from({ length: 576 }, (_, i) => ((i % 24) - 11.5 > 4 * Math.sin(Math.floor(i / 24) / 3.6) ? 1 : -1)) },
};

const rounded = (value) => Math.round(1000 * value) / 1000;

export class Sketch {
  /** @param {(done: boolean) => void} onChange  called while drawing, and with true at the end of a stroke */
  constructor(canvas, onChange) {
    this.canvas = canvas;
    this.onChange = onChange;
    this.kind = null;
    this.values = [];
    this.pen = null;
    canvas.addEventListener("pointerdown", (event) => {
      if (!this.kind) return;
      canvas.setPointerCapture(event.pointerId);
      this.last = null;
      this.stroke(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (this.kind && event.buttons) this.stroke(event); });
    canvas.addEventListener("pointerup", () => { if (this.kind) this.onChange(true); });
    canvas.addEventListener("keydown", (event) => this.key(event));
  }

  begin(kind, values) {
    this.kind = kind;
    this.values = values || SKETCHES[kind].values();
    this.pen = kind === "curve" ? { point: 60, value: this.values[60] } : { point: this.middle(), value: 1 };
  }

  end() {
    this.kind = null;
    this.pen = null;
  }

  get columns() { return SKETCHES[this.kind].axes.at(-1)[2]; }

  middle() { return Math.floor(this.values.length / 2 + this.columns / 2); }

  stroke(event) {
    const point = this.view.pointAt(event.offsetX, event.offsetY);
    if (point < 0) return;
    if (this.kind === "curve") this.bend(point, this.view.fromY(event.offsetY));
    else this.paint(point, event.shiftKey || event.buttons === 2);
    this.onChange(false);
  }

  /** Draw the curve from the last place to this one. */
  bend(point, value) {
    const { low, high } = SKETCHES.curve;
    const height = Math.max(low, Math.min(high, value));
    const from = this.last || { point, value: height };
    const [a, b] = [Math.min(from.point, point), Math.max(from.point, point)];
    for (let i = a; i <= b; i++) {
      const share = point === from.point ? 1 : (i - from.point) / (point - from.point);
      this.values[i] = rounded(from.value + share * (height - from.value));
    }
    this.last = { point, value: height };
  }

  paint(point, erase) {
    const { columns } = this;
    const rows = this.values.length / columns;
    const { low, high } = SKETCHES[this.kind];
    const radius = this.kind === "picture" ? 1.6 : 2.2;
    const [row, column] = [Math.floor(point / columns), point % columns];
    for (let r = Math.max(0, row - 3); r <= Math.min(rows - 1, row + 3); r++) {
      for (let c = Math.max(0, column - 3); c <= Math.min(columns - 1, column + 3); c++) {
        const ink = Math.max(0, Math.min(1, radius - Math.hypot(r - row, c - column)));
        if (ink === 0) continue;
        const i = r * columns + c;
        if (this.kind === "classes") this.values[i] = erase ? low : high;
        else this.values[i] = rounded(erase ? Math.min(this.values[i], high - ink) : Math.max(this.values[i], ink));
      }
    }
  }

  key(event) {
    const moves = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    if (!this.kind || !(event.key in moves || event.key === "Enter" || event.key === "Delete")) return;
    event.preventDefault();
    event.stopPropagation();
    const [across, down] = moves[event.key] || [0, 0];
    const { pen } = this;
    if (this.kind === "curve") {
      pen.point = Math.max(0, Math.min(this.values.length - 1, pen.point + across));
      if (across && !event.shiftKey) pen.value = this.values[pen.point];
      pen.value = Math.max(-1.25, Math.min(1.25, pen.value - down * SKETCHES.curve.step));
      if (event.shiftKey || down || event.key === "Enter") this.values[pen.point] = rounded(pen.value);
    } else {
      const rows = this.values.length / this.columns;
      const row = Math.max(0, Math.min(rows - 1, Math.floor(pen.point / this.columns) + down));
      const column = Math.max(0, Math.min(this.columns - 1, (pen.point % this.columns) + across));
      pen.point = row * this.columns + column;
      if (event.shiftKey || event.key === "Enter") this.paint(pen.point, false);
      if (event.key === "Delete") this.paint(pen.point, true);
    }
    this.onChange(true);
  }
}
