// The form on the left: what a person chose, as a request the server understands, and back.
import { SKETCHES } from "./sketch.js";
import { LISTS } from "./teachers.js";

const by = (id) => document.getElementById(id);

/** What usually goes with a target: from what, with which rules, at which rate. */
export const USUAL = {
  "named:gmm": { start: "named:gmm:start", width: 0.5, loss: "square", steps: 12000, tol: 1e-4, rate: 0.5 },
  "named:boundary": { start: "named:boundary:start", width: 0.5, loss: "hinge", steps: 5000, tol: 1e-3, rate: 0.001 },
  "named:digit:0": { start: "named:digit:8", width: 0.5, loss: "square", steps: 60000, tol: 2.5e-4, rate: 0.5 },
  "named:cat": { start: "zero", width: 0.5, loss: "square", steps: 60000, tol: 0.001, rate: 0.5 },
  "named:face:1": { start: "named:face:2", width: 0.5, loss: "square", steps: 60000, tol: 0.002, rate: 0.5 },
  "named:sine": { start: "zero", width: 0.5, loss: "square", steps: 5000, tol: 1e-3, rate: 0.5 },
  "draw:curve": { start: "zero", width: 0.07, loss: "square", steps: 5000, tol: 1e-3, rate: 0.5 },
  "draw:picture": { start: "zero", width: 0.8, loss: "square", steps: 20000, tol: 1e-3, rate: 0.5 },
  "draw:classes": { start: "zero", width: 0.1, loss: "square", steps: 4000, tol: 0.004, rate: 0.5 },
  formula: { start: "zero", width: 0.5, loss: "square", steps: 10000, tol: 1e-3, rate: 0.5 },
  file: { start: "zero", width: 1, loss: "square", steps: 60000, tol: 1e-3, rate: 0.5 },
};

const isOneExample = ({ request }) => Object.keys(request).every((name) => name === "teacher" || (name === "k" && request.k === 1));

const BY_KEY = 1.1; // how many times as wide an arrow key makes the kernel
const PIXELS = 80; // to drag it e times as wide

/** Let the width be dragged on the picture of the kernel, or changed by the arrow keys there. */
function listenToWidth(picture, field, change) {
  const take = (width, done) => { field.value = Number(Math.max(0.01, width).toPrecision(3)); change(done); };
  let from = null;
  picture.addEventListener("pointerdown", (event) => {
    picture.setPointerCapture(event.pointerId);
    from = { x: event.offsetX, width: Number(field.value), side: event.offsetX < picture.clientWidth / 2 ? -1 : 1 };
  });
  picture.addEventListener("pointermove", (event) => {
    if (from) take(from.width * Math.exp((from.side * (event.offsetX - from.x)) / PIXELS), false);
  });
  picture.addEventListener("pointerup", (event) => {
    if (from && event.offsetX !== from.x) change(true);
    from = null;
  });
  picture.addEventListener("keydown", (event) => {
    const times = { ArrowRight: BY_KEY, ArrowUp: BY_KEY, ArrowLeft: 1 / BY_KEY, ArrowDown: 1 / BY_KEY }[event.key];
    if (!times) return;
    event.preventDefault();
    event.stopPropagation();
    take(Number(field.value) * times, true);
  });
}

export class Form {
  /**
   * @param {Sketch} sketch  of the target
   * @param {Sketch} startSketch
   * @param {Teachers} teachers
   * @param {object} on  change(what); learnerNow(), which returns { values, outputs, said } or null
   */
  constructor(sketch, startSketch, teachers, on) {
    Object.assign(this, { sketch, startSketch, teachers, on });
    for (const [id, names] of [["kernel", LISTS.kernels], ["loss", LISTS.losses], ["fork-teacher", LISTS.ways.filter(isOneExample).map(({ request }) => request.teacher)]]) {
      by(id).append(...names.map((name) => new Option(name)));
    }
    by("fork-teacher").value = "random";
    this.file = null;
    this.hasRows = false; // of a table, which can be modelled
    this.startFile = null;
    this.drawnStart = null;
    this.dragged = null; // a target that is none of the others
    by("target-kind").addEventListener("change", () => { this.choose(by("target-kind").value); on.change("target"); });
    by("start-kind").addEventListener("change", () => this.chooseStart());
    for (const id of ["formula", "axis-from", "axis-to", "axis-count", "start-formula"]) {
      by(id).addEventListener("change", () => on.change("target"));
    }
    listenToWidth(by("kernel-picture"), by("width"), (done) => on.change(done ? "target" : "rules"));
    for (const id of ["kernel", "width", "loss", "steps", "tol"]) by(id).addEventListener("change", () => on.change("rules"));
    by("sketch-clear").addEventListener("click", () => { sketch.clear(); on.change("target"); });
    by("start-clear").addEventListener("click", () => { startSketch.clear(); on.change("target"); });
  }

  get kind() { return by("target-kind").value; }

  get classes() { return this.kind === "draw:classes"; }

  get drawsStart() { return by("start-kind").value === "draw"; }

  /** Whether the target is still to be drawn, or dropped. */
  get isBlank() {
    if (this.kind === "file") return !this.file;
    return this.kind.startsWith("draw:") && this.sketch.values.every((value) => value === this.sketch.values[0]);
  }

  /** Take a target, and what usually goes with it. */
  choose(kind, values) {
    const usual = USUAL[kind] || USUAL.file;
    by("target-kind").value = kind;
    by("start-kind").value = usual.start;
    for (const name of ["width", "loss", "steps", "tol"]) by(name).value = usual[name];
    for (const racer of this.teachers.list) Object.assign(racer, { rate: usual.rate, forecast: "" });
    if (kind.startsWith("draw:")) this.sketch.begin(kind.slice(5), values);
    else this.sketch.end();
    this.showFields();
    this.teachers.draw();
  }

  /** Take a dropped file; of a table it is known which width suits its rows, and whether the rows themselves are taught. */
  takeFile(file, { size, notes, width, table }) {
    this.file = file;
    this.hasRows = table;
    this.choose("file");
    if (width) by("width").value = width;
    by("file-name").textContent = `${file.name}: ${size}`;
    by("file-notes").textContent = notes.join("; ");
  }

  /** Take a target that was dragged, and leave everything else as it is. */
  takeTarget(target) {
    if (this.kind === "draw:curve") this.sketch.values = target.values;
    else {
      this.dragged = target;
      by("target-kind").value = "dragged";
    }
    this.showFields();
  }

  /** Take a start that is known by its values. */
  takeStart(start, said) {
    this.drawnStart = start;
    by("start-kind").value = "drawn";
    by("start-note").textContent = said;
    this.showFields();
  }

  chooseStart() {
    const kind = by("start-kind").value;
    if (kind === "drawn") {
      const now = this.on.learnerNow();
      this.drawnStart = now && { kind: "drawn", values: Array.from(now.values), outputs: now.outputs };
      by("start-note").textContent = now ? now.said : "there is no learner yet to start from: race first";
    }
    this.showFields();
    if (kind === "file" && !this.startFile) return; // until there is one
    this.on.change("target");
  }

  showFields() {
    const { kind } = this;
    const start = by("start-kind").value;
    by("formula-fields").hidden = kind !== "formula";
    by("sketch-tools").hidden = !kind.startsWith("draw:");
    by("sketch").classList.toggle("drawing", kind.startsWith("draw:"));
    const place = by(kind.startsWith("draw:") ? "boards" : "sketch-home"); // what is drawn needs the room of the stage
    if (by("sketch-box").parentElement !== place) place.prepend(by("sketch-box"));
    by("field").classList.toggle("draws", kind.startsWith("draw:") !== (start === "draw")); // two boards need the whole width
    by("file-notes").hidden = kind !== "file";
    by("model-rows").hidden = kind !== "file" || !this.hasRows;
    by("boards").hidden = !kind.startsWith("draw:") && start !== "draw";
    by("sketch").hidden = kind === "file" && !this.file;
    by("sketch-key").hidden = by("sketch").hidden;
    by("sketch-hint").textContent = kind.startsWith("draw:") ? SKETCHES[kind.slice(5)].hint : "";
    by("start-formula-field").hidden = start !== "formula";
    by("start-drawing").hidden = start !== "draw";
    by("start-drop").hidden = start !== "file";
    by("start-note").hidden = start !== "drawn";
  }

  target() {
    const { kind } = this;
    if (kind.startsWith("named:")) return { kind: "named", name: kind.slice(6) };
    if (kind.startsWith("draw:")) return { kind: "drawn", axes: SKETCHES[kind.slice(5)].axes, values: this.sketch.values };
    if (kind === "dragged") return this.dragged;
    if (kind === "file") {
      if (!this.file) throw new Error("drop a file first, or choose another target");
      return this.file;
    }
    const text = by("formula").value;
    const axis = [Number(by("axis-from").value), Number(by("axis-to").value), Math.round(Number(by("axis-count").value))];
    return { kind: "formula", text, axes: /\by\b/.test(text) ? [axis, axis] : [axis] };
  }

  start() {
    const kind = by("start-kind").value;
    if (kind === "zero") return { kind };
    if (kind === "formula") return { kind, text: by("start-formula").value };
    if (kind === "draw") return { kind: "drawn", values: this.startSketch.values };
    if (kind === "drawn" || kind === "file") {
      const given = kind === "drawn" ? this.drawnStart : this.startFile;
      if (!given) throw new Error(kind === "drawn" ? "there is no learner yet to start from: race first" : "drop a file for the start first");
      return given;
    }
    return { kind: "named", name: kind.slice(6) };
  }

  rules() {
    const tol = Number(by("tol").value);
    return {
      kernel: by("kernel").value, width: Number(by("width").value), loss: by("loss").value,
      steps: Math.round(Number(by("steps").value)), tol: tol > 0 ? tol : null, seed: 0,
    };
  }

  request(start = null) {
    return {
      target: this.target(), start: start || this.start(), classes: this.classes, rules: this.rules(),
      racers: this.teachers.requests(),
    };
  }

  /** Fill the form with a race of an address. */
  fill({ target, start, rules, racers, classes }) {
    let kind = "formula";
    if (target.kind === "named") kind = `named:${target.name}`;
    if (target.kind === "drawn") {
      const fits = (name) => JSON.stringify(SKETCHES[name].axes) === JSON.stringify(target.axes) && (target.outputs || 1) === 1;
      kind = classes ? "draw:classes" : fits("curve") ? "draw:curve" : fits("picture") ? "draw:picture" : "dragged";
    }
    if (kind === "dragged") this.dragged = target;
    if (target.kind === "file") [kind, this.file, this.hasRows] = ["file", target, false];
    this.teachers.fill(racers);
    const rates = this.teachers.list.map(({ rate }) => rate);
    this.choose(kind, target.kind === "drawn" ? target.values : undefined);
    this.teachers.list.forEach((racer, i) => { racer.rate = rates[i]; });
    if (target.kind === "formula") {
      by("formula").value = target.text;
      ["axis-from", "axis-to", "axis-count"].forEach((id, i) => { by(id).value = target.axes[0][i]; });
    }
    by("start-kind").value = start.kind === "named" ? `named:${start.name}` : start.kind;
    if (start.kind === "formula") by("start-formula").value = start.text;
    if (start.kind === "file") this.startFile = start;
    if (start.kind === "drawn") {
      this.drawnStart = start;
      by("start-note").textContent = "as it was drawn, or as a learner was, in the race of this link";
    }
    for (const name of ["kernel", "width", "loss", "steps"]) by(name).value = rules[name];
    by("tol").value = rules.tol ?? 0;
    this.showFields();
    this.teachers.draw();
  }
}
