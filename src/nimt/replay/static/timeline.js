// The curve of M as a time line: where we are, where the tolerance was met, and a place to drag.
import { TEXT, clamp, colour, countText, fitted, numberText, ticks } from "./drawing.js";

const ROOM = 55; // pixels from where on there is room for a word below the curves
const DASHES = [[], [7, 3], [2, 3], [9, 3, 2, 3]];

export class TimeLine {
  /** @param {(place: number) => void} onSeek */
  constructor(canvas, onSeek) {
    this.canvas = canvas;
    this.series = []; // of { steps, values, ink, itd, name }
    this.end = 1;
    this.letter = "M";
    this.tol = null;
    this.place = 0;
    this.unit = "steps";
    this.isRace = false; // whether nothing is shown that has not happened yet
    const seek = (event) => {
      const share = (event.offsetX - this.left) / Math.max(1, this.right - this.left);
      onSeek(Math.max(0, Math.min(1, share)) * this.end);
    };
    canvas.addEventListener("pointerdown", (event) => { canvas.setPointerCapture(event.pointerId); seek(event); });
    canvas.addEventListener("pointermove", (event) => { if (event.buttons & 1) seek(event); });
  }

  draw() {
    const { context, width, height } = fitted(this.canvas);
    const [left, right, top, bottom] = [46 * TEXT.scale, width - 12, 16 * TEXT.scale, height - 22 * TEXT.scale];
    Object.assign(this, { left, right });
    const [low, high] = this.heights();
    const toX = (step) => left + (step / Math.max(this.end, 1e-9)) * (right - left);
    const rise = (value) => (this.inPerCent ? value : value > 0 ? Math.log10(value) : low); // shares lie between 0 and 100 %
    const toY = (value) => bottom - ((clamp(rise(value), low, high) - low) / (high - low)) * (bottom - top);
    context.font = TEXT.font;
    context.textBaseline = "middle";
    context.fillStyle = colour("quiet");
    context.strokeStyle = colour("line");
    context.lineWidth = 1;
    context.textAlign = "right";
    const most = Math.max(2, (bottom - top) / 26);
    let written = Infinity; // how high the last number stands: the next one is left out where it would touch it
    for (const value of this.inPerCent ? ticks(low, high, most) : levels(low, high, most)) {
      if (written - toY(value) < 13 * TEXT.scale) continue;
      written = toY(value);
      context.beginPath();
      context.moveTo(left, toY(value));
      context.lineTo(right, toY(value));
      context.stroke();
      context.fillText(this.inPerCent ? `${Number((100 * value).toPrecision(3))}%` : numberText(value), left - 7, toY(value));
    }
    const whole = (step) => this.unit === "seconds" || Number.isInteger(step);
    for (const step of ticks(0, this.end, Math.max(2, width / (130 * TEXT.scale))).filter(whole)) {
      context.textAlign = toX(step) > right - 20 ? "right" : "center";
      const text = this.unit === "seconds" ? numberText(step) : countText(step);
      context.fillText(step === 0 ? `${this.unit.replace(/s$/, "")} 0` : text, toX(step), bottom + 13 * TEXT.scale); // so the axis has a name
    }
    if (this.tol > 0 && rise(this.tol) > low) {
      context.strokeStyle = colour("quiet");
      context.setLineDash([2, 3]);
      context.beginPath();
      context.moveTo(left, toY(this.tol));
      context.lineTo(right, toY(this.tol));
      context.stroke();
      context.setLineDash([]);
    }
    if (this.tol > 0 && rise(this.tol) > low && bottom - top > ROOM * TEXT.scale) {
      context.textAlign = "left";
      const isCovered = toX(this.place) < left + 7 + context.measureText("tolerance").width;
      const start = isCovered ? Math.max(left, toX(this.place)) : left; // the line of the place pushes it along
      context.fillText("tolerance", start + 5, toY(this.tol) - 8 * TEXT.scale); // where curves are far from it
    }
    const isLetter = this.letter.length === 1; // a word stands where no number is
    context.textAlign = isLetter ? "left" : "right";
    context.fillText(this.letter, isLetter ? 2 : right, top - 8 * TEXT.scale);
    const until = this.isRace ? this.place : Infinity;
    context.save();
    context.beginPath();
    context.rect(left, 0, Math.min(right, toX(until)) - left + 1, height);
    context.clip();
    this.series.forEach(({ steps, values, ink, itd }, number) => {
      context.strokeStyle = ink;
      context.lineWidth = 1.8;
      context.lineJoin = "round"; // a mitred joint would reach beyond the values
      context.setLineDash(DASHES[number % DASHES.length]);
      context.beginPath();
      for (let i = 0; i < steps.length; i++) context.lineTo(toX(steps[i]), toY(values[i]));
      context.stroke();
      context.setLineDash([]);
      if (itd !== null && itd !== undefined && itd <= until) this.mark(context, toX(itd), top, bottom, ink, number);
    });
    context.restore();
    const x = toX(this.place);
    context.strokeStyle = colour("ink");
    context.lineWidth = 1.5;
    context.beginPath();
    context.moveTo(x, top - 8);
    context.lineTo(x, bottom + 4);
    context.stroke();
    context.fillStyle = colour("ink");
    context.beginPath();
    context.arc(x, top - 8, 4, 0, 2 * Math.PI);
    context.fill();
  }

  /** A small flag where the tolerance was met. */
  mark(context, x, top, bottom, ink, number) {
    context.strokeStyle = ink;
    context.fillStyle = ink;
    context.lineWidth = 1.2;
    context.beginPath();
    context.moveTo(x, bottom);
    context.lineTo(x, bottom - 14);
    context.stroke();
    context.beginPath();
    context.moveTo(x, bottom - 20);
    context.lineTo(x + (x + 9 > this.right ? -8 : 8), bottom - 17);
    context.lineTo(x, bottom - 14);
    context.fill();
    context.textAlign = "center";
    const room = x + 20 > this.right ? -12 : 12;
    if (this.series.length > 1) context.fillText(String(number + 1), x + room, bottom - 17);
  }

  /** The powers of ten between which everything lies; of shares, the whole from 0 to 1. */
  heights() {
    if (this.inPerCent) return [0, 1];
    let low = Infinity;
    let high = -Infinity;
    for (const { values } of this.series) {
      for (const value of values) {
        if (value > 0 && value < Infinity) {
          const power = Math.log10(value);
          if (power < low) low = power;
          if (power > high) high = power;
        }
      }
    }
    if (this.tol > 0) low = Math.min(low, Math.log10(this.tol) - 0.15);
    if (!(low <= high)) return [-4, 0];
    const room = Math.max(0.1, 0.06 * (high - low));
    return [Math.max(low - room, high - 14), high + room];
  }
}

/** Round heights for the grid between two powers of ten: tens where there are enough of them, else 1, 2 and 5. */
function levels(low, high, most) {
  const between = (factors, every) => {
    const found = [];
    for (let power = Math.floor(low); power <= high; power += every) {
      for (const factor of factors) {
        const place = power + Math.log10(factor);
        if (place >= low && place <= high) found.push(factor * 10 ** power);
      }
    }
    return found;
  };
  if (high - low < 1.5) return between([1, 2, 5], 1);
  const tens = between([1], Math.max(1, Math.ceil((high - low) / most)));
  return tens.length > 1 ? tens : between([1], 1);
}
