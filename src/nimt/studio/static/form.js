// The form on the left: what a person chose, as a wish the server understands, and back.
import { SKETCHES } from "./sketch.js";

const by = (id) => document.getElementById(id);

/** What usually goes with a target: from what, with which rules, at which rate. */
export const USUAL = {
  "named:gmm": { start: "named:gmm:start", width: 0.5, loss: "square", steps: 12000, tol: 1e-4, rate: 0.01 },
  "named:boundary": { start: "named:boundary:start", width: 0.5, loss: "hinge", steps: 5000, tol: 1e-3, rate: 0.001 },
  "named:digit:0": { start: "named:digit:8", width: 0.5, loss: "square", steps: 60000, tol: 2.5e-4, rate: 0.01 },
  "named:cat": { start: "zero", width: 0.5, loss: "square", steps: 60000, tol: 0.0072, rate: 0.01 },
  "named:face:1": { start: "named:face:2", width: 0.5, loss: "square", steps: 60000, tol: 0.002, rate: 0.02 },
  "named:sine": { start: "zero", width: 0.5, loss: "square", steps: 5000, tol: 1e-3, rate: 0.01 },
  "draw:curve": { start: "zero", width: 0.4, loss: "square", steps: 5000, tol: 1e-3, rate: 0.02 },
  "draw:picture": { start: "zero", width: 0.8, loss: "square", steps: 20000, tol: 1e-3, rate: 0.02 },
  "draw:classes": { start: "zero", width: 0.3, loss: "square", steps: 4000, tol: 0.004, rate: 0.05 },
  formula: { start: "zero", width: 0.5, loss: "square", steps: 10000, tol: 1e-3, rate: 0.02 },
  file: { start: "zero", width: 1, loss: "square", steps: 30000, tol: 1e-3, rate: 0.05 },
};

const TEACHERS = {
  greedy: { says: "greedy", wish: { teacher: "greedy", k: 1 } },
  random: { says: "random", wish: { teacher: "random", k: 1 } },
  soft: { says: "soft (between the two)", wish: { teacher: "soft", k: 1, temperature: 0.1 } },
  synthesis: { says: "synthesis (makes labels)", wish: { teacher: "synthesis", k: 1 } },
  packs: { says: "greedy, packs of 5 %", wish: { teacher: "greedy", k: 0.05 } },
  whole: { says: "the whole pool", wish: { teacher: "greedy", k: "whole" } },
  limited: { says: "greedy from half the pool", wish: { teacher: "greedy", k: 1, share: 0.5 } },
  orthogonal: { says: "greedy, orthogonal learner", wish: { teacher: "greedy", k: 1, learner: "orthogonal" } },
};

const RATES = [-4, 1]; // powers of ten at the ends of the slider

export class Form {
  /** @param {(what: string) => void} onChange */
  constructor(sketch, onChange) {
    this.sketch = sketch;
    this.onChange = onChange;
    this.racers = [{ preset: "greedy", rate: 0.01 }, { preset: "random", rate: 0.01 }];
    this.safe = null;
    this.file = null;
    this.drawnStart = null;
    by("target-kind").addEventListener("change", () => { this.choose(by("target-kind").value); onChange("target"); });
    for (const id of ["formula", "axis-from", "axis-to", "axis-count", "start-kind", "start-formula"]) {
      by(id).addEventListener("change", () => { this.showFields(); onChange("target"); });
    }
    for (const id of ["kernel", "width", "loss", "steps", "tol"]) by(id).addEventListener("change", () => onChange("rules"));
    by("sketch-clear").addEventListener("click", () => {
      sketch.values.fill(sketch.kind === "classes" ? -1 : 0);
      onChange("target");
    });
    by("add-racer").addEventListener("click", () => {
      const free = Object.keys(TEACHERS).find((name) => !this.racers.some((one) => one.preset === name));
      this.racers.push({ preset: free || "random", rate: this.racers[0].rate });
      this.drawRacers();
      onChange("racers");
    });
  }

  /** Take a target, and what usually goes with it. */
  choose(kind, values) {
    const usual = USUAL[kind] || USUAL.file;
    by("target-kind").value = kind;
    by("start-kind").value = usual.start;
    by("width").value = usual.width;
    by("loss").value = usual.loss;
    by("steps").value = usual.steps;
    by("tol").value = usual.tol;
    for (const racer of this.racers) racer.rate = usual.rate;
    if (kind.startsWith("draw:")) this.sketch.begin(kind.slice(5), values);
    else this.sketch.end();
    this.showFields();
    this.drawRacers();
  }

  showFields() {
    const kind = by("target-kind").value;
    by("formula-fields").hidden = kind !== "formula";
    by("sketch-tools").hidden = !kind.startsWith("draw:");
    by("sketch").classList.toggle("drawing", kind.startsWith("draw:"));
    by("sketch-hint").textContent = kind.startsWith("draw:") ? SKETCHES[kind.slice(5)].hint : "";
    by("start-formula-field").hidden = by("start-kind").value !== "formula";
  }

  get classes() { return by("target-kind").value === "draw:classes"; }

  target() {
    const kind = by("target-kind").value;
    if (kind.startsWith("named:")) return { kind: "named", name: kind.slice(6) };
    if (kind.startsWith("draw:")) return { kind: "drawn", axes: SKETCHES[kind.slice(5)].axes, values: this.sketch.values };
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
    if (kind === "drawn") {
      if (!this.drawnStart) throw new Error("there is no learner yet to start from: race first");
      return this.drawnStart;
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

  racerRequest({ preset, rate }) {
    return { ...TEACHERS[preset].wish, rate };
  }

  wish() {
    return {
      target: this.target(), start: this.start(), classes: this.classes, rules: this.rules(),
      racers: this.racers.map((one) => this.racerRequest(one)),
    };
  }

  /** Fill the form with a race of an address. */
  fill(wish) {
    const { target, start, rules } = wish;
    let kind = "formula";
    if (target.kind === "named") kind = `named:${target.name}`;
    if (target.kind === "drawn") {
      const one = target.axes.length === 1;
      const size = target.values.length;
      kind = wish.classes ? "draw:classes" : one && size === 121 ? "draw:curve" : !one && size === 784 ? "draw:picture" : "file";
    }
    this.racers = wish.racers.slice(0, 4).map((one) => ({ preset: presetOf(one), rate: Number(one.rate) || 0.01 }));
    const rates = this.racers.map(({ rate }) => rate);
    this.choose(kind, target.kind === "drawn" ? target.values : undefined);
    this.racers.forEach((racer, i) => { racer.rate = rates[i]; });
    if (kind === "file") this.file = target;
    if (target.kind === "formula") {
      by("formula").value = target.text;
      ["axis-from", "axis-to", "axis-count"].forEach((id, i) => { by(id).value = target.axes[0][i]; });
    }
    by("start-kind").value = start.kind === "named" ? `named:${start.name}` : start.kind;
    if (start.kind === "formula") by("start-formula").value = start.text;
    if (start.kind === "drawn") this.drawnStart = start;
    for (const name of ["kernel", "width", "loss", "steps"]) by(name).value = rules[name];
    by("tol").value = rules.tol ?? 0;
    this.showFields();
    this.drawRacers();
  }

  // -- teachers

  drawRacers() {
    by("racers").replaceChildren(...this.racers.map((racer, i) => this.card(racer, i)));
    by("add-racer").disabled = this.racers.length >= 4;
  }

  card(racer, i) {
    const make = (tag, more = {}) => Object.assign(document.createElement(tag), more);
    const item = make("li");
    item.style.setProperty("--mine", `var(--racer-${i + 1})`);
    const head = make("div", { className: "head" });
    const select = make("select", { title: "teacher" });
    select.setAttribute("aria-label", `teacher ${i + 1}`);
    for (const [name, { says }] of Object.entries(TEACHERS)) select.add(new Option(says, name, false, name === racer.preset));
    select.onchange = () => { racer.preset = select.value; this.onChange("racers"); };
    const remove = make("button", { textContent: "×", disabled: this.racers.length < 2, title: "leave this teacher out" });
    remove.setAttribute("aria-label", `leave teacher ${i + 1} out`);
    remove.onclick = () => { this.racers.splice(i, 1); this.drawRacers(); this.onChange("racers"); };
    head.append(make("b", { textContent: i + 1 }), select, remove);
    item.append(head, ...this.rateRow(racer, i, make));
    return item;
  }

  rateRow(racer, i, make) {
    const label = make("label", { textContent: "learning rate" });
    const row = make("div", { className: "rate" });
    const slider = make("input", { type: "range", min: RATES[0], max: RATES[1], step: 0.01, value: Math.log10(racer.rate) });
    const field = make("input", { type: "number", value: racer.rate, min: 0, step: "any" });
    slider.setAttribute("aria-label", `learning rate of teacher ${i + 1}`);
    field.setAttribute("aria-label", `learning rate of teacher ${i + 1}, as a number`);
    const foot = make("p", { className: "rate-foot" });
    const note = () => {
      const over = this.safe && racer.rate > this.safe * (1 + 1e-9);
      foot.textContent = over ? `above the safe bound ${Number(this.safe.toPrecision(3))}: steps overshoot`
        : racer.forecast || (this.safe ? `safe up to ${Number(this.safe.toPrecision(3))}` : "this loss has no safe bound");
      foot.classList.toggle("over", Boolean(over));
    };
    slider.oninput = () => { racer.rate = Number((10 ** slider.value).toPrecision(3)); field.value = racer.rate; racer.forecast = ""; note(); };
    slider.onchange = () => this.onChange("racers");
    field.onchange = () => { racer.rate = Number(field.value) || racer.rate; slider.value = Math.log10(racer.rate); racer.forecast = ""; note(); this.onChange("racers"); };
    row.append(slider, field);
    if (this.safe) {
      const bound = make("span", { className: "bound", title: "the largest safe rate" });
      const share = (Math.log10(this.safe) - RATES[0]) / (RATES[1] - RATES[0]);
      bound.style.left = `calc((100% - 5rem) * ${share})`;
      row.append(bound);
    }
    racer.note = note; // a forecast that comes later is written here, and nothing else is touched
    note();
    return [label, row, foot];
  }
}

function presetOf(wish) {
  if (wish.learner === "orthogonal") return "orthogonal";
  if (wish.teacher !== "greedy") return wish.teacher in TEACHERS ? wish.teacher : "greedy";
  if (wish.share) return "limited";
  if (wish.k === "whole") return "whole";
  return wish.k === 1 ? "greedy" : "packs";
}
