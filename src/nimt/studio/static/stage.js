// The picture of one lesson, with its name and how it stands.
import { colour, numberText } from "./drawing.js";
import { viewOf } from "./views.js";

const make = (tag, className, text = "") => Object.assign(document.createElement(tag), { className, textContent: text });

export class Stage {
  /** @param {number | null} number  of the lesson; null for the target */
  constructor(number, racer) {
    this.number = number;
    this.racer = racer;
    this.figure = make("figure", "stage");
    this.caption = make("figcaption", "");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.foot = make("p", "foot-note");
    this.key = make("span", number === null ? "key dashed" : "key");
    this.name = make("span", "name", number === null ? "target f*" : "");
    this.m = make("span", "m");
    this.caption.append(this.key, this.name, this.m);
    this.figure.append(this.caption, this.canvas, this.foot);
    if (number !== null) {
      this.figure.style.setProperty("--mine", `var(--racer-${(number % 4) + 1})`);
      this.canvas.tabIndex = 0;
    }
    const { header, target, initial } = racer;
    this.view = viewOf(this.canvas, { view: header.view, pool: header.pool, points: racer.points, outputs: header.outputs }, target, initial);
  }

  draw(racer, step, { marks, why, teaching }) {
    const ink = colour(`racer-${(this.number % 4) + 1}`);
    this.view.target = step < racer.offset && racer.parent ? racer.parent.target : racer.target;
    const values = why ? why.values : racer.valuesAt(step);
    const winner = why ? why.winner : teaching && this.cursor !== undefined ? this.cursor : -1;
    this.view.draw({
      values, marks, ink, layer: why ? "error" : "values", winner, runnerUp: why ? why.runnerUp : -1, footprint: why?.footprint,
    });
    const m = racer.discrepancyAt(step);
    this.name.textContent = `${this.number + 1}. ${racer.name}`;
    this.m.textContent = `M = ${numberText(m)}`;
    const diverged = racer.over && racer.said.includes("moving away");
    const atEnd = step >= racer.end;
    const short = `at step ${step.toLocaleString("en-US")}`;
    this.foot.textContent = atEnd && racer.over && racer.said ? `${short}: ${racer.said}`
      : teaching ? "click an example, or choose one with the arrow keys and press Enter" : short;
    this.foot.classList.toggle("bad", (diverged && atEnd) || Boolean(racer.failed));
    this.canvas.setAttribute("aria-label", `${racer.name} at step ${step}: M = ${numberText(m)}${racer.over && atEnd ? `; ${racer.said}` : ""}`);
  }

  drawTarget() {
    this.view.draw({ values: this.racer.target });
    this.canvas.setAttribute("aria-label", "The target f*");
  }
}
