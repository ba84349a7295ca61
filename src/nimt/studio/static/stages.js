// All pictures of a race: the target where it is one, and one for each lesson.
import { sizeOf } from "./drawing.js";
import { makeReshapable } from "./reshaping.js";
import { Stage } from "./stage.js";

const FEW = 3; // stages that stand in one row

export class Stages {
  /**
   * @param {HTMLElement} root
   * @param {object} on  select(number), choose(racer, stage, spot), reshape(what, values), pause(), stepOf(racer), change(), isDrawn(): whether the target is seen in its drawing
   */
  constructor(root, on) {
    this.root = root;
    this.on = on;
    this.isDrawn = on.isDrawn;
    this.target = null;
    this.list = [];
    this.poking = false;
  }

  clear() {
    this.list = [];
    this.target = null;
    this.root.replaceChildren();
  }

  /** What a click or Enter on a lesson means now. */
  choosing(racer, teaching) { return this.poking ? "poke" : teaching && racer.number === 0 ? "teach" : ""; }

  add(racer, isTeaching) {
    const { header } = racer;
    const flat = header.pool.kind === "grid" && header.pool.shape.length === 2;
    if (!this.target && !this.isDrawn() && (flat || header.view === "points")) {
      this.target = new Stage(null, racer);
      this.root.append(this.target.figure);
      this.targetKey = "";
    }
    const stage = new Stage(racer.number, racer);
    this.list[racer.number] = stage;
    this.root.append(stage.figure);
    stage.figure.addEventListener("click", () => this.on.select(racer.number));
    stage.canvas.addEventListener("click", (event) => {
      const spot = stage.spotAt(event);
      if (spot.point >= 0 && this.choosing(racer, isTeaching())) this.on.choose(racer, stage, spot);
    });
    makeReshapable(stage, {
      isFree: () => !this.choosing(racer, isTeaching()) && !racer.known && !isTeaching(),
      step: () => this.on.stepOf(racer), begin: () => this.on.pause(), change: () => this.on.change(), done: (...bent) => this.on.reshape(...bent),
    });
    const hover = (cursor) => {
      if (this.choosing(racer, isTeaching()) !== "teach") return;
      stage.cursor = cursor;
      this.on.change();
    };
    stage.canvas.addEventListener("pointermove", (event) => {
      const { point } = stage.spotAt(event);
      if (point >= 0 && point !== stage.cursor?.point) hover(stage.put(point));
    });
    stage.canvas.addEventListener("pointerleave", () => hover(null));
    stage.canvas.addEventListener("keydown", (event) => {
      const choosing = this.choosing(racer, isTeaching());
      if (!choosing) return;
      const spot = stage.key(event, choosing === "poke");
      if (spot) this.on.choose(racer, stage, spot);
      this.on.change();
    });
    if (isTeaching() && racer.number === 0) stage.canvas.focus();
    const count = this.root.children.length;
    this.root.style.setProperty("--count", count);
    this.root.style.setProperty("--columns", count <= FEW ? count : count === 4 ? 2 : 3);
    this.root.style.setProperty("--stage", count > FEW ? "max(7.5rem, 27vh - 4.6rem)" : "21rem");
  }

  /** Draw the target, only where it would look different from what is there. */
  drawTarget() {
    if (!this.target) return;
    const key = [...sizeOf(this.target.canvas), devicePixelRatio, matchMedia("(prefers-color-scheme: dark)").matches].join();
    if (key === this.targetKey) return;
    this.targetKey = key;
    this.target.drawTarget();
  }

  setPoking(on) {
    this.poking = on;
    this.root.classList.toggle("poking", on);
  }
}
