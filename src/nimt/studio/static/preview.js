// What is seen before a race: the target and the start as they are drawn, the kernel, and the forecasts.
import { post } from "./connection.js";
import { colour, countText, fitted, numberText } from "./drawing.js";
import { discrepancy } from "./recording.js";
import { viewOf } from "./views.js";

const by = (id) => document.getElementById(id);
const SHARE = 0.05; // of M at the start, to which a lesson on a file is taught
const MOST_DRAWN = 200 * 200; // points of a start that is drawn

export class Preview {
  /**
   * @param {Form} form
   * @param {Sketch} sketch  of the target
   * @param {Sketch} startSketch
   */
  constructor(form, sketch, startSketch) {
    Object.assign(this, { form, sketch, startSketch });
    this.described = null;
    for (const id of ["sketch", "start-sketch"]) {
      for (const kind of ["focus", "blur"]) by(id).addEventListener(kind, () => this.draw());
    }
  }

  /** Ask for the target, the start and the kernel as the server reads them, and draw them. */
  async describe() {
    if (this.form.drawsStart) await this.layOutStart();
    const { target, start, rules, classes } = this.form.request();
    const { header, blocks } = await post("describe", { target, start, rules, classes });
    this.described = { header, blocks };
    const { safe } = this.form.teachers;
    this.form.teachers.safe = header.safe;
    if (safe !== header.safe) this.form.teachers.draw();
    this.view = this.viewFor("sketch");
    if (this.sketch.kind === "curve") this.view.limits = [-1.25, 1.25];
    if (this.sketch.kind === "picture") this.view.limits = [0, 1];
    this.sketch.view = this.view;
    this.draw();
    this.foretell(this.form.request());
  }

  /** Take a tolerance that fits the numbers of a file, whatever their unit. */
  suggestTolerance() {
    const { header, blocks } = this.described;
    const start = discrepancy(blocks.initial, blocks.target, header.points);
    if (!(start > 0)) return;
    by("tol").value = Number((SHARE * start).toPrecision(1));
    this.foretell(this.form.request());
  }

  viewFor(id) {
    const { header, blocks } = this.described;
    const scene = { view: header.view, pool: header.pool, points: blocks.points, outputs: header.outputs };
    return viewOf(by(id), scene, blocks.target, blocks.initial);
  }

  /** Make the sheet for a drawn start as large as the target. */
  async layOutStart() {
    const { target, rules, classes } = this.form.request({ kind: "zero" });
    const { header, blocks } = await post("describe", { target, start: { kind: "zero" }, rules, classes });
    if (header.pool.kind !== "grid" || header.pool.shape.length > 2 || header.points > MOST_DRAWN) {
      throw new Error("a start can be drawn for a curve, and for a picture of at most 200 × 200 points: take another start");
    }
    this.described = { header, blocks };
    const view = this.viewFor("start-sketch");
    const columns = header.pool.shape.at(-1);
    const [low, high] = view.limits;
    const board = { kind: header.pool.shape.length === 1 ? "curve" : "picture", columns, count: header.points, low, high, step: (high - low) / 20 };
    if (!this.startSketch.fits(board)) this.startSketch.beginOn(board);
    this.startSketch.view = Object.assign(view, { outputs: header.pool.shape.length === 1 ? view.outputs : 1 });
  }

  async foretell(request) {
    const asked = this.form.teachers.list;
    for (const racer of [...asked]) {
      const { said } = await post("forecast", { ...request, racers: undefined, racer: this.form.teachers.requestOf(racer) }).catch(() => ({}));
      const text = said ? `forecast: ${said}` : "";
      if (text !== racer.forecast && asked.includes(racer)) { racer.forecast = text; racer.note?.(); }
    }
  }

  draw() {
    if (!this.described) return;
    this.drawTarget();
    this.drawStart();
    this.drawKernel();
  }

  drawTarget() {
    if (!this.view) return;
    const { header, blocks } = this.described;
    const drawn = this.sketch.kind ? Float64Array.from(this.sketch.values) : blocks.target;
    const curve = Boolean(this.view.order);
    this.view.target = drawn;
    by("sketch-key").textContent = curve ? "dashed: the target f*; solid: where the learner starts" : "the target f*";
    this.view.draw({ values: curve ? blocks.initial : drawn, marks: penOf(this.sketch) });
    const keys = this.sketch.kind ? "Arrows move the pen, with shift they draw." : "";
    by("sketch").setAttribute("aria-label", `The target, ${countText(header.points)} points${header.outputs === 3 ? " in colour" : ""}. ${keys}`);
  }

  drawStart() {
    const { view, values } = this.startSketch;
    if (!this.form.drawsStart || !view) return;
    const drawn = Float64Array.from(values);
    if (view.order) view.target = this.view.target;
    else view.target = drawn;
    view.draw({ values: drawn, marks: penOf(this.startSketch) });
  }

  drawKernel() {
    const { header: { reach }, blocks: { profile } } = this.described;
    const { context, width, height } = fitted(by("kernel-picture"));
    const [low, high] = [Math.min(0, ...profile), Math.max(...profile)];
    const across = (i) => 12 + (i / (profile.length - 1)) * (width - 24);
    const up = (value) => height - 10 - ((value - low) / (high - low)) * (height - 20);
    context.strokeStyle = colour("learner");
    context.fillStyle = colour("error-fill");
    context.lineWidth = 2;
    context.beginPath();
    profile.forEach((value, i) => context.lineTo(across(i), up(value)));
    context.stroke();
    context.lineTo(width - 12, height - 10);
    context.lineTo(12, height - 10);
    context.fill();
    context.fillStyle = colour("quiet");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(numberText(-reach), 12, 13);
    context.textAlign = "right";
    context.fillText(numberText(reach), width - 12, 13);
    by("kernel-picture").setAttribute("aria-valuenow", by("width").value);
    by("kernel-picture").setAttribute("aria-valuetext", `width ${by("width").value}, drawn from minus ${numberText(reach)} to ${numberText(reach)}`);
  }
}

/** The point under the pen, while the arrow keys move it. */
function penOf(sketch) { return sketch.pen?.isSeen && document.activeElement === sketch.canvas ? [sketch.pen.point] : []; }
