// The picture of one lesson, with its name and how it stands, and a cursor for those who choose points by keys.
import { colour, countText, describeAs, numberText, rangeOf, write } from "./drawing.js";
import { canBeDragged } from "./reshaping.js";
import { inkOf } from "./results.js";
import { viewOf } from "./views.js";

const make = (tag, className, text = "") => Object.assign(document.createElement(tag), { className, textContent: text });

export class Stage {
  /** @param {number | null} number  of the lesson; null for the target */
  constructor(number, racer) {
    this.number = number;
    this.racer = racer;
    this.cursor = null; // of { point, value }
    this.reshaped = null; // of { what, point, values }, while a curve is dragged
    this.figure = make("figure", "stage");
    this.caption = make("figcaption", "");
    this.canvas = document.createElement("canvas");
    this.canvas.setAttribute("role", "img");
    this.foot = make("p", "foot-note");
    this.name = make("span", "name", number === null ? "target f*" : "");
    this.m = make("span", "m");
    this.caption.append(this.name, this.m);
    this.figure.append(this.caption, this.canvas, this.foot);
    if (number !== null) {
      this.caption.prepend(make("span", "key"));
      this.figure.style.setProperty("--mine", `var(--${inkOf(number)})`);
      this.canvas.tabIndex = 0;
    }
    const { header, target, initial } = racer;
    this.isPicture = header.pool.shape?.length === 2;
    this.view = viewOf(this.canvas, { view: header.view, pool: header.pool, points: racer.points, outputs: header.outputs }, target, initial);
    if (number !== null && racer.parent) this.view.limits = limitsWithPast(racer, this.view.limits);
  }

  /** @param {object} how  marks, why (of explain), choosing: "teach", "poke" or "", bump: what a click would add to f,
   *   playing: whether a picture is to show f rather than the gap, for which one stops; isGame: nothing is dragged */
  draw(racer, step, { marks, why, choosing, bump = null, playing = false, isGame = false }) {
    const ink = colour(inkOf(this.number));
    const { what, values: bent } = this.reshaped || {};
    this.view.target = bent && what === "target" ? Float64Array.from(bent) : racer.ownerAt(step).target;
    const values = bent && what === "start" ? Float64Array.from(bent) : why ? why.values : racer.valuesAt(step);
    const layer = why && !(playing && this.isPicture) ? "error" : "values";
    this.view.draw({
      values, marks, ink, small: racer.sheetAt(step), layer, winner: why ? why.winner : -1,
      runnerUp: why ? why.runnerUp : -1, footprint: bump || why?.footprint, spot: choosing ? this.cursor : null,
    });
    const m = racer.discrepancyAt(step);
    write(this.name, `${this.number + 1}. ${racer.name}`);
    describeAs(this.name, racer.name, "title"); // it is cut off where there is no room
    const right = this.view.accuracy ? `${numberText(Math.round(1000 * this.view.accuracy(values)) / 10)} % right, ` : "";
    write(this.m, `${right}M = ${numberText(m)}`);
    const atEnd = step >= racer.end && racer.over;
    const canDrag = step === 0 && canBeDragged(this) && !racer.known && !isGame;
    const hint = this.view.order ? "drag the dashed target, or the start" : "drag a point up or down to change its target";
    const short = `at step ${countText(step)}${canDrag ? `: ${hint}` : ""}`;
    const gap = layer === "error" && !this.view.order ? "; bright: |f − f*|" : "";
    const end = isGame ? endOfGame(racer) : racer.said;
    write(this.foot, HINTS[choosing] || `${short}${atEnd && end ? `: ${end}` : ""}${gap}`);
    this.foot.classList.toggle("bad", (atEnd && racer.said.includes("moving away")) || Boolean(racer.failed));
    const said = atEnd ? `; ${end}` : HINTS[choosing] ? `; ${HINTS[choosing]}` : "";
    describeAs(this.canvas, `${racer.name} at step ${countText(step)}: M = ${numberText(m)}${said}`);
  }

  drawTarget() {
    this.view.draw({ values: this.racer.target });
    describeAs(this.canvas, "The target f*");
  }

  /** Where a pointer is: a point, and for a curve the height. */
  spotAt(event) {
    const point = this.view.pointAt(event.offsetX, event.offsetY);
    return { point, value: this.view.fromY ? this.view.fromY(event.offsetY) : 0 };
  }

  /** Move the cursor by an arrow key; return the chosen spot at Enter, else null. */
  key(event, canRise) {
    const { racer, view } = this;
    const columns = racer.header.pool.shape?.[1] || 0;
    const count = racer.target.length / racer.outputs;
    this.cursor ??= this.put(Math.floor(count / 2 + columns / 2));
    const across = { ArrowLeft: -1, ArrowRight: 1 }[event.key] || 0;
    const down = { ArrowUp: -1, ArrowDown: 1 }[event.key] || 0;
    if (!across && !down && event.key !== "Enter") return null;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Enter") return this.cursor;
    const far = event.shiftKey ? (columns ? 5 : 10) : 1;
    if (down && !columns && canRise) {
      const [low, high] = view.limits;
      this.cursor.value -= (down * far * (high - low)) / 40;
    } else {
      this.cursor = this.put(Math.max(0, Math.min(count - 1, this.cursor.point + far * (across + down * columns))));
    }
    return null;
  }

  put(point) { return { point, value: this.racer.target[point * this.racer.outputs] }; }
}

/** The limits of a branch: its past is drawn on the same scale, and so is the lesson it left. */
function limitsWithPast({ parent }, limits) {
  const [low, high] = rangeOf(parent.target, parent.initial, limits);
  return parent.parent ? limitsWithPast(parent, [low, high]) : [low, high];
}

/** How a lesson of the game came to its end. */
const endOfGame = (racer) => (racer.itd === null ? `the goal was not reached in ${countText(racer.taken)} clicks` : "the goal is reached");

const HINTS = {
  teach: "click an example, or take the arrow keys and Enter",
  poke: "click where the target is to change, or choose a point with the arrow keys and press Enter",
};
