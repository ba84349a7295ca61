// Classes of points that have too many coordinates to be drawn: how many of each class the learner takes for which.
import { TEXT, classAt, colour, countText, fitted, gapAt, ring } from "./drawing.js";

/** The class of a point: the largest output, or the sign of the only one. */
export function classOf(values, i, outputs) {
  return outputs === 1 ? Number(values[i] > 0) : classAt(values, i, outputs);
}

/** A table of true classes (rows) and what the learner says (columns). */
export class ConfusionView {
  constructor(scene) {
    Object.assign(this, scene);
    this.names = scene.pool.classes;
    this.n = scene.target.length / scene.outputs;
    this.truth = Array.from({ length: this.n }, (_, i) => classOf(scene.target, i, scene.outputs));
  }

  /** Count the points of each class that the learner takes for each. */
  count(values) {
    const k = this.names.length;
    const counts = Array.from({ length: k }, () => new Array(k).fill(0));
    this.said = this.truth.map((truth, i) => {
      const said = classOf(values, i, this.outputs);
      counts[truth][said] += 1;
      return said;
    });
    return counts;
  }

  /** The share of points that the learner puts into the right class. */
  accuracy(values) {
    let right = 0;
    for (let i = 0; i < this.n; i++) right += Number(classOf(values, i, this.outputs) === this.truth[i]);
    return right / this.n;
  }

  draw({ values, ink = colour("learner"), winner = -1, runnerUp = -1, spot = null }) {
    const { context, width, height } = fitted(this.canvas);
    const k = this.names.length;
    const counts = this.count(values);
    this.latest = values;
    context.font = TEXT.font;
    context.textBaseline = "middle";
    const label = Math.min(width / 3, 12 + Math.max(...this.names.map((name) => context.measureText(name).width)));
    const [left, top] = [label, 42 * TEXT.scale];
    const [wide, high] = [(width - left - 8) / k, (height - top - 8) / k];
    Object.assign(this, { left, top, wide, high });
    const fit = (text, room) => {
      let shown = text;
      while (shown.length > 1 && context.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
      return shown;
    };
    context.fillStyle = colour("quiet");
    context.textAlign = "center";
    context.fillText("what the learner says →", left + (k * wide) / 2, 10 * TEXT.scale);
    context.textAlign = "right";
    context.fillText("true ↓", left - 7, 30 * TEXT.scale);
    this.names.forEach((name, i) => {
      context.textAlign = "center";
      context.fillText(fit(name, wide - 4), left + (i + 0.5) * wide, 30 * TEXT.scale);
      context.textAlign = "right";
      context.fillText(fit(name, label - 10), left - 7, top + (i + 0.5) * high);
    });
    context.textAlign = "center";
    counts.forEach((row, truth) => {
      const total = row.reduce((sum, one) => sum + one, 0) || 1;
      row.forEach((count, said) => {
        const [x, y] = [left + said * wide, top + truth * high];
        context.fillStyle = ink;
        context.globalAlpha = 0.08 + 0.5 * (count / total);
        context.fillRect(x + 1, y + 1, wide - 2, high - 2);
        context.globalAlpha = 1;
        context.fillStyle = colour(count ? "ink" : "quiet");
        context.fillText(countText(count), x + wide / 2, y + high / 2);
      });
    });
    if (runnerUp >= 0) ring(context, ...this.middle(runnerUp), 9, "runner-up", colour("quiet"));
    if (winner >= 0) ring(context, ...this.middle(winner), 11, "winner", ink);
    if (spot) ring(context, ...this.middle(spot.point), 11, "winner", ink);
  }

  /** Where the cell of a point is, below its number. */
  middle(i) { return [this.left + (this.said[i] + 0.5) * this.wide, this.top + (this.truth[i] + 0.5) * this.high + Math.min(24, this.high / 3)]; }

  /** The point of a cell at which the learner is furthest off. */
  pointAt(px, py) {
    const [said, truth] = [Math.floor((px - this.left) / this.wide), Math.floor((py - this.top) / this.high)];
    let best = -1;
    let most = -1;
    for (let i = 0; i < this.n; i++) {
      const gap = this.truth[i] === truth && this.said[i] === said ? gapAt(this.target, this.latest, i, this.outputs) : -1;
      if (gap > most) { most = gap; best = i; }
    }
    return best;
  }
}
