// The studio: one page, one clock, some lessons.
import { Clock, SPEEDS, usualSpeed } from "./clock.js";
import { Connection, post } from "./connection.js";
import { addButtons, showPlaying } from "./controls.js";
import { colour, countText, fitted, numberText } from "./drawing.js";
import { Form } from "./form.js";
import { Guide } from "./guide.js";
import { isTyping, keyOfTime, latestShown } from "./player.js";
import { Racer } from "./racers.js";
import { lessonOf } from "./recording.js";
import { Sketch } from "./sketch.js";
import { Stage } from "./stage.js";
import { Takeaway } from "./takeaway.js";
import { TimeLine } from "./timeline.js";
import { viewOf } from "./views.js";
import { explain } from "./why.js";
import { fromHash, toHash } from "./share.js";

const by = (id) => document.getElementById(id);
const MOST_SHARED = 96 * 96 * 3; // values of a picture that a link holds
const PAUSE_BEFORE_DESCRIBING = 120; // milliseconds, so that a drag does not ask at every pixel

class Studio {
  constructor() {
    this.racers = [];
    this.stages = [];
    this.selected = 0;
    this.race = null;
    this.teaching = false;
    this.poking = false;
    this.clock = new Clock(() => this.ask());
    this.clock.moved = (steps) => this.moved(steps);
    this.timeline = new TimeLine(by("timeline"), (place) => this.seek(place));
    this.sketch = new Sketch(by("sketch"), (done) => { this.drawSketch(); if (done) this.changed("target"); });
    this.form = new Form(this.sketch, (what) => this.changed(what));
    this.guide = new Guide(by("guide"), (setup) => this.setUp(setup));
    this.takeaway = new Takeaway(this);
    this.listen();
    this.line = new Connection((message, blocks) => this.hear(message, blocks), (open) => this.connected(open));
  }

  async open() {
    const wish = await fromHash(location.hash);
    if (wish) this.form.fill(wish);
    else this.form.choose("named:gmm");
    this.wanted = wish?.place;
    this.opened = true;
    if (!wish && Guide.wanted) this.guide.open();
    else if (await this.describe() && this.isOpen && !this.race) this.start();
  }

  // -- the line

  connected(open) {
    this.isOpen = open;
    by("connection").textContent = open ? "" : "the studio is not there; trying again";
    if (!open) return;
    if (this.race) {
      const known = this.racers.map((racer) => [racer.taken, racer.lesson.known ? racer.lesson.known.length - 1 : 0]);
      this.line.ask({ type: "resume", race: this.race, known }).catch(() => {
        by("connection").textContent = "the race was forgotten; what is here can still be played";
      });
    } else if (this.described) {
      this.start();
    }
  }

  hear(message, blocks) {
    if (message.type === "compiling") by("connection").textContent = "getting ready: compiling, once per machine";
    if (message.type === "ready") by("connection").textContent = "";
    if (message.race && message.race !== this.race) return;
    const racer = this.racers[message.racer];
    if (message.type === "racer") this.introduce(message, blocks);
    else if (message.type === "steps" && racer) this.taught(racer, message, blocks);
    else if (message.type === "status" && racer) this.ended(racer, message);
    this.ask();
  }

  introduce(header, blocks) {
    const parent = header.parent === null ? null : this.racers[header.parent];
    const racer = new Racer(header.racer, header, blocks, parent);
    this.racers[header.racer] = racer;
    this.addStage(racer);
    for (const note of header.notes) this.alert(note);
    if (header.parent !== null || header.racer === this.selected) this.select(header.racer);
  }

  taught(racer, header, blocks) {
    const atEnd = this.teaching && racer.number === 0;
    racer.append(header, blocks);
    this.measureTime();
    if (atEnd) this.seek(racer.taken, true);
    if (this.wanted !== undefined && this.clock.end >= this.wanted) {
      this.clock.seek(this.wanted);
      this.wanted = undefined;
    }
  }

  ended(racer, { over, said, failed }) {
    Object.assign(racer, { over, said: said || "", failed });
    if (failed) this.alert(said);
    this.measureTime();
    if (this.racers.length > 1 && this.racers.every((one) => one.over) && this.racers.some((one) => one.header.wish?.teacher === "random")) {
      this.guide.note("raced");
    }
  }

  // -- a race

  async start(wish = null, { teaching = false } = {}) {
    const turn = this.turn = (this.turn || 0) + 1;
    try {
      const asked = wish || this.form.wish();
      this.alert("");
      const { race } = await this.line.ask({ type: "race", ...asked });
      if (turn !== this.turn) { this.line.send({ type: "leave", race }); return; } // another one was asked for since
      if (this.race) this.line.send({ type: "leave", race: this.race });
      this.clear();
      Object.assign(this, { race, wish: asked, teaching });
      if (asked.racers.some(({ rate }) => this.form.safe && rate > this.form.safe)) this.guide.note("over-safe");
      history.replaceState(null, "", await toHash(this.shareable()));
    } catch (error) {
      this.alert(error.message);
    }
  }

  clear() {
    this.racers = [];
    this.stages = [];
    this.selected = 0;
    by("stages").replaceChildren();
    this.clock.pause();
    this.clock.place = 0;
    this.clock.end = 0;
    this.targetStage = null;
    this.setPoking(false);
  }

  beTeacher() {
    const wish = this.form.wish();
    const rate = wish.racers[0].rate;
    const steps = Math.min(wish.rules.steps, 2000);
    const racers = [{ teacher: "you", k: 1, rate }, { teacher: "greedy", k: 1, rate }];
    this.start({ ...wish, rules: { ...wish.rules, steps }, racers }, { teaching: true });
  }

  show(point) {
    if (point < 0) return;
    this.line.send({ type: "show", race: this.race, racer: 0, point });
    this.shown = (this.shown || 0) + 1;
    if (this.shown >= 5) this.guide.note("taught");
  }

  async fork(change) {
    const racer = this.racers[this.selected];
    if (!racer || racer.known) { this.alert("a lesson from a file can be played, not forked: race it anew"); return; }
    const step = Math.max(0, this.stepOf(racer) - racer.offset);
    try {
      await this.line.ask({ type: "fork", race: this.race, racer: racer.number, step, change });
    } catch (error) {
      this.alert(error.message);
    }
  }

  /** Change the target under the pointer, and go on from here. */
  poke(racer, stage, event) {
    const point = stage.view.pointAt(event.offsetX, event.offsetY);
    if (point < 0) return;
    const { target, header } = racer;
    const changes = [];
    if (header.pool.kind === "grid" && header.pool.shape.length === 1) {
      const height = stage.view.fromY(event.offsetY);
      const width = Math.max(2, Math.round(target.length / 60));
      for (let i = Math.max(0, point - 3 * width); i <= Math.min(target.length - 1, point + 3 * width); i++) {
        const share = Math.exp(-(((i - point) / width) ** 2));
        changes.push([i, target[i] + share * (height - target[point])]);
      }
    } else if (header.pool.kind === "grid") {
      const [rows, columns] = header.pool.shape;
      const radius = Math.max(1, Math.round(Math.min(rows, columns) / 24));
      const [low, high] = stage.view.limits;
      const value = meanAt(target, point, racer.outputs) > (low + high) / 2 ? low : high;
      const [row, column] = [Math.floor(point / columns), point % columns];
      for (let r = Math.max(0, row - radius); r <= Math.min(rows - 1, row + radius); r++) {
        for (let c = Math.max(0, column - radius); c <= Math.min(columns - 1, column + radius); c++) changes.push([r * columns + c, value]);
      }
    } else {
      const [low, high] = stage.view.limits;
      changes.push([point, meanAt(target, point, racer.outputs) > (low + high) / 2 ? low : high]);
    }
    this.setPoking(false);
    this.fork({ target: changes });
  }

  setPoking(on) {
    this.poking = on;
    by("poke").setAttribute("aria-pressed", String(on));
    by("stages").classList.toggle("poking", on);
    if (on) by("stages").scrollIntoView({ block: "nearest" }); // where the click is to go
  }

  /** Play a lesson from a file. */
  play(recording) {
    this.clear();
    this.race = null;
    this.teaching = false;
    const { header, blocks } = recording;
    const racer = Racer.of(0, header, blocks, lessonOf(recording));
    this.racers = [racer];
    this.addStage(racer);
    this.measureTime();
    this.ask();
  }

  addStage(racer) {
    const { header } = racer;
    const flat = header.pool.kind === "grid" && header.pool.shape.length === 2;
    if (!this.targetStage && (flat || header.view === "points")) {
      this.targetStage = new Stage(null, racer);
      by("stages").append(this.targetStage.figure);
    }
    const stage = new Stage(racer.number, racer);
    this.stages[racer.number] = stage;
    by("stages").append(stage.figure);
    stage.figure.addEventListener("click", () => this.select(racer.number));
    stage.canvas.addEventListener("click", (event) => {
      if (this.poking) this.poke(racer, stage, event);
      else if (this.teaching && racer.number === 0) this.show(stage.view.pointAt(event.offsetX, event.offsetY));
    });
    stage.canvas.addEventListener("keydown", (event) => this.cursor(event, racer, stage));
    if (this.teaching && racer.number === 0) stage.canvas.focus();
    const count = by("stages").children.length;
    by("stages").style.setProperty("--columns", count <= 3 ? count : count === 4 ? 2 : 3);
    by("stages").style.setProperty("--stage", count > 3 ? "13.5rem" : "18rem");
    this.measureTime();
    if (!this.sped) { this.clock.speed = usualSpeed(header.steps); by("speed").value = SPEEDS.indexOf(this.clock.speed); }
  }

  /** Choose a point by the arrow keys and show it by Enter. */
  cursor(event, racer, stage) {
    if (!this.teaching || racer.number !== 0) return;
    const columns = racer.header.pool.shape?.[1] || 0;
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
    if (!(event.key in moves) && event.key !== "Enter") return;
    event.preventDefault();
    event.stopPropagation();
    const count = racer.target.length / racer.outputs;
    const from = stage.cursor ?? Math.floor(count / 2 + columns / 2);
    if (event.key === "Enter") { this.show(from); return; }
    const by100 = event.shiftKey && columns === 0 ? 10 : 1;
    stage.cursor = Math.max(0, Math.min(count - 1, from + by100 * moves[event.key]));
    stage.said = "";
    this.ask();
  }

  select(number) {
    if (!this.racers[number]) return;
    this.selected = number;
    const { rate } = this.racers[number].header;
    if (rate) by("fork-rate").value = Number((2 * rate).toPrecision(3));
    this.ask();
  }

  // -- time

  get clockKind() { return by("clock").value; }

  measureTime() {
    const kind = this.clockKind;
    const alone = this.teaching ? this.racers.slice(0, 1) : this.racers;
    const ends = alone.filter(Boolean).map((racer) => racer.toPlace(racer.end, kind));
    const before = this.clock.end;
    this.clock.end = Math.max(0, ...ends);
    const steps = Math.max(1, ...this.racers.filter(Boolean).map((racer) => racer.end));
    this.clock.scale = kind === "steps" ? 1 : this.clock.end / steps || 1;
    this.clock.waiting = !this.teaching && this.racers.some((racer) => !racer.over);
    if (this.clock.place > this.clock.end && before > 0) this.clock.place = this.clock.end;
  }

  stepOf(racer) { return racer.fromPlace(this.clock.place, this.clockKind); }

  moved(steps) {
    const racer = this.racers[this.selected];
    if (!racer) return 0;
    return racer.toPlace(Math.max(0, this.stepOf(racer) + steps), this.clockKind);
  }

  seek(place, quietly = false) {
    this.clock.pause();
    this.clock.seek(this.clockKind === "seconds" ? place : Math.round(place));
    if (!quietly) this.guide.note("scrubbed");
  }

  /** Draw at the next frame, once, however often it is asked for. */
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  draw() {
    const { clock } = this;
    const why = by("why").checked;
    let reason = null;
    this.frames = (this.frames || 0) + 1;
    this.drawnAt = performance.now();
    for (const racer of this.racers) {
      if (!racer || !this.stages[racer.number]) continue;
      const step = this.stepOf(racer);
      const stage = this.stages[racer.number];
      stage.figure.classList.toggle("selected", racer.number === this.selected && this.racers.length > 1);
      const asked = why && racer.number === this.selected;
      const marks = racer.pack > 12 || asked ? [] : latestShown(racer, step);
      if (asked) reason = explain(racer, step);
      stage.draw(racer, step, { marks, why: asked ? reason : null, teaching: this.teaching && racer.number === 0 });
    }
    this.targetStage?.drawTarget();
    by("why-text").textContent = reason ? reason.text
      : "Shows |f − f*|, the example that comes next, the runner-up, and what the step will move.";
    this.drawTime();
    this.drawResults();
    if (clock.playing && clock.now > 50) this.guide.note("played");
    if (!clock.playing) this.say();
  }

  drawTime() {
    const { clock, timeline } = this;
    const kind = this.clockKind;
    const unit = kind === "seconds" ? numberText(clock.place) : countText(clock.place);
    const end = kind === "seconds" ? numberText(clock.end) : countText(clock.end);
    by("place-text").textContent = `${kind === "steps" ? "step" : kind} ${unit} of ${end}`;
    by("speed-text").textContent = `${countText(clock.speed)} steps per second`;
    showPlaying(by("play"), clock);
    const scrub = by("scrub");
    scrub.step = kind === "seconds" ? "any" : 1;
    scrub.max = clock.end;
    scrub.value = clock.place;
    scrub.setAttribute("aria-valuetext", `${kind} ${unit} of ${end}`);
    timeline.end = clock.end || 1;
    timeline.unit = kind;
    timeline.tol = this.racers[0]?.tol;
    timeline.place = clock.place;
    timeline.series = this.racers.filter(Boolean).map((racer) => racer.series(kind, colour(inkOf(racer.number))));
    timeline.draw();
  }

  drawResults() {
    const rows = this.racers.filter(Boolean).map((racer) => {
      const step = this.stepOf(racer);
      return { racer, step, m: racer.discrepancyAt(step) };
    });
    const key = rows.map(({ racer, step }) => `${step}/${racer.taken}/${racer.itd}`).join();
    if (key === this.resultsKey) return;
    this.resultsKey = key;
    rows.sort((a, b) => a.m - b.m);
    const line = (cells, tag, number) => {
      const row = document.createElement("tr");
      cells.forEach((text, i) => {
        const cell = document.createElement(i === 0 && tag === "td" ? "th" : tag);
        cell.textContent = text;
        if (i === 0 && tag === "td") {
          const swatch = document.createElement("span");
          swatch.className = "swatch";
          swatch.style.setProperty("--mine", `var(--${inkOf(number)})`);
          cell.prepend(swatch);
        }
        row.append(cell);
      });
      return row;
    };
    const head = document.createElement("thead");
    head.append(line(["", "M now", "examples", "ITD"], "th"));
    const body = document.createElement("tbody");
    for (const { racer, step, m } of rows) {
      const itd = racer.itd === null ? (racer.over ? "not reached" : "…") : countText(racer.offset + racer.itd);
      body.append(line([`${racer.number + 1} ${racer.name}`, numberText(m), countText(racer.toPlace(step, "examples")), itd], "td", racer.number));
    }
    by("results").replaceChildren(head, body);
  }

  /** The page in words, for those who do not see it. */
  say() {
    const sentences = this.racers.filter(Boolean).map((racer) => {
      const step = this.stepOf(racer);
      return `${racer.name}: M = ${numberText(racer.discrepancyAt(step))} at step ${countText(step)}`;
    });
    let text = sentences.length ? `${sentences.join("; ")}.` : "";
    if (this.teaching && this.racers.length > 1) text = this.compared();
    by("said").classList.toggle("strong", this.teaching);
    if (text !== this.lastSaid) { this.lastSaid = text; by("said").textContent = text; }
  }

  /** You against greedy, on the same problem. */
  compared() {
    const [you, greedy] = this.racers;
    const steps = you.taken;
    if (!steps) return "Click an example on your learner: where is it furthest off? Greedy plays beside you.";
    const mine = you.discrepancyAt(steps);
    let same = 0;
    while (same < greedy.taken && !(greedy.discrepancyAt(same) <= mine)) same++;
    const theirs = numberText(greedy.discrepancyAt(Math.min(steps, greedy.end)));
    const times = steps === 1 ? "1 step" : `${countText(steps)} steps`;
    const verdict = same >= steps ? "You keep up with it." : `It was where you are now after ${countText(same)}.`;
    return `You: ${times}, M = ${numberText(mine)}. Greedy after as many: M = ${theirs}. ${verdict}`;
  }

  // -- the form

  changed(what) {
    clearTimeout(this.later);
    this.later = setTimeout(async () => {
      if (await this.describe() && what === "target") await this.start();
    }, PAUSE_BEFORE_DESCRIBING);
  }

  async describe() {
    try {
      const wish = this.form.wish();
      const { header, blocks } = await post("describe", { target: wish.target, start: wish.start, rules: wish.rules, classes: wish.classes });
      this.described = { header, blocks };
      const safe = this.form.safe;
      this.form.safe = header.safe;
      if (safe !== header.safe) this.form.drawRacers();
      this.sketchView = viewOf(by("sketch"), { view: header.view, pool: header.pool, points: blocks.points, outputs: header.outputs }, blocks.target, blocks.initial);
      if (this.sketch.kind === "curve") this.sketchView.limits = [-1.25, 1.25];
      if (this.sketch.kind === "picture") this.sketchView.limits = [0, 1];
      this.sketch.view = this.sketchView;
      this.drawSketch();
      this.drawKernel(header.reach, blocks.profile);
      this.foretell(wish);
      this.alert("");
      return true;
    } catch (error) {
      this.alert(error.message);
      return false;
    }
  }

  async foretell(wish) {
    const asked = this.form.racers;
    for (const racer of [...asked]) {
      const { said } = await post("forecast", { ...wish, racers: undefined, racer: this.form.racerRequest(racer) }).catch(() => ({}));
      if (said && said !== racer.forecast && asked.includes(racer)) { racer.forecast = `forecast: ${said}`; racer.note?.(); }
    }
  }

  drawSketch() {
    if (!this.sketchView || !this.described) return;
    const { blocks } = this.described;
    const drawn = this.sketch.kind ? Float64Array.from(this.sketch.values) : blocks.target;
    this.sketchView.target = drawn;
    const curve = Boolean(this.sketchView.order);
    const marks = this.sketch.pen && document.activeElement === by("sketch") ? [this.sketch.pen.point] : [];
    by("sketch-key").textContent = curve ? "dashed: the target f*; solid: where the learner starts" : "the target f*";
    this.sketchView.draw({ values: curve ? blocks.initial : drawn, marks });
    by("sketch").setAttribute("aria-label", `The target, ${countText(this.described.header.points)} points${this.described.header.outputs === 3 ? " in colour" : ""}. ${this.sketch.kind ? "Arrows move the pen, with shift they draw." : ""}`);
  }

  drawKernel(reach, profile) {
    const { context, width, height } = fitted(by("kernel-picture"));
    const [low, high] = [Math.min(0, ...profile), Math.max(...profile)];
    context.strokeStyle = colour("learner");
    context.fillStyle = colour("error-fill");
    context.lineWidth = 2;
    context.beginPath();
    profile.forEach((value, i) => context.lineTo(12 + (i / (profile.length - 1)) * (width - 24), height - 10 - ((value - low) / (high - low)) * (height - 20)));
    context.stroke();
    context.lineTo(width - 12, height - 10);
    context.lineTo(12, height - 10);
    context.fill();
    context.fillStyle = colour("quiet");
    context.font = "11px system-ui, sans-serif";
    context.textAlign = "left";
    context.fillText(`−${numberText(reach)}`, 12, 13);
    context.textAlign = "right";
    context.fillText(numberText(reach), width - 12, 13);
    by("kernel-picture").setAttribute("aria-label", `The kernel: highest in the middle, drawn from minus ${numberText(reach)} to ${numberText(reach)}.`);
  }

  async drop(file) {
    try {
      const body = new FormData();
      body.append("file", file);
      const answer = await post("file", body);
      if (answer.header) { this.play(answer); return; }
      this.form.file = { kind: "file", id: answer.id };
      this.form.choose("file");
      for (const note of answer.notes) by("said").textContent = note;
      if (await this.describe()) await this.start();
    } catch (error) {
      this.alert(error.message);
    }
  }

  /** The race as it can be shared: a dropped grid becomes its values. */
  shareable() {
    const wish = structuredClone(this.wish);
    const { header, blocks } = this.described;
    if (wish.target.kind === "file" && header.pool.kind === "grid" && blocks.target.length <= MOST_SHARED) {
      const { shape, start, spacing } = header.pool;
      wish.target = {
        kind: "drawn", axes: shape.map((count, i) => [start[i], start[i] + spacing[i] * (count - 1), count]),
        values: Array.from(blocks.target, (value) => Number(value.toFixed(3))), outputs: header.outputs,
      };
    }
    wish.place = this.clock.place;
    return wish;
  }

  // -- the rest

  alert(text) {
    by("alert").textContent = text;
    by("alert").hidden = !text;
  }

  setUp(what) {
    if (what === "first") this.form.racers = [{ preset: "greedy", rate: 0.01 }];
    if (what === "race") this.form.racers = [{ preset: "greedy", rate: 0.01 }, { preset: "random", rate: 0.01 }];
    this.form.choose("named:gmm");
    this.describe().then((well) => { if (well && this.isOpen && what === "first") this.start(); });
  }

  listen() {
    const { clock } = this;
    const on = (id, act, kind = "click") => by(id).addEventListener(kind, act);
    on("race", () => this.start());
    on("be-teacher", () => { this.shown = 0; this.beTeacher(); });
    addButtons(by("buttons"), clock);
    on("speed", (event) => { this.sped = true; clock.speed = SPEEDS[event.target.value]; this.ask(); }, "input");
    on("scrub", (event) => this.seek(Number(event.target.value)), "input");
    on("clock", () => {
      const racer = this.racers[this.selected];
      const step = racer ? racer.fromPlace(clock.place, this.lastKind || "steps") : 0;
      this.lastKind = this.clockKind;
      this.measureTime();
      clock.seek(racer ? racer.toPlace(step, this.clockKind) : 0);
    }, "change");
    on("why", () => { if (by("why").checked) this.guide.note("why"); this.ask(); }, "change");
    on("poke", () => this.setPoking(!this.poking));
    on("do-fork-rate", () => this.fork({ rate: Number(by("fork-rate").value) }));
    on("do-fork-teacher", () => this.fork({ teacher: by("fork-teacher").value }));
    on("open-guide", () => this.guide.open());
    on("open-keys", () => by("keys").showModal());
    on("open-take", () => this.takeaway.open());
    on("file", (event) => { if (event.target.files[0]) this.drop(event.target.files[0]); event.target.value = ""; }, "change");
    on("sketch", () => this.drawSketch(), "focus");
    on("sketch", () => this.drawSketch(), "blur");
    this.listenToDrops();
    document.addEventListener("keydown", (event) => this.key(event));
    addEventListener("resize", () => this.redraw());
    addEventListener("hashchange", async () => {
      const wish = await fromHash(location.hash);
      if (wish) { this.form.fill(wish); this.wanted = wish.place; if (await this.describe()) this.start(); }
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  redraw() {
    this.drawSketch();
    if (this.described) this.drawKernel(this.described.header.reach, this.described.blocks.profile);
    this.ask();
  }

  listenToDrops() {
    const over = (on) => by("drop").classList.toggle("over", on);
    document.addEventListener("dragover", (event) => { event.preventDefault(); over(true); });
    document.addEventListener("dragleave", () => over(false));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      over(false);
      if (event.dataTransfer.files[0]) this.drop(event.dataTransfer.files[0]);
    });
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector("dialog[open]")) return;
    const others = {
      "?": () => by("keys").showModal(),
      w: () => { by("why").click(); },
      r: () => this.start(),
    };
    const number = Number(event.key) - 1;
    const act = keyOfTime(event, this.clock) || others[event.key] || (number >= 0 && number < 9 && this.racers[number] ? () => this.select(number) : null);
    if (act) { event.preventDefault(); act(); }
  }
}

/** The mean over outputs at a point. */
function meanAt(values, point, outputs) {
  let total = 0;
  for (let o = 0; o < outputs; o++) total += values[point * outputs + o];
  return total / outputs;
}

/** The colour of a lesson; a branch has the colour of its number, and its own dashes. */
export function inkOf(number) { return `racer-${(number % 4) + 1}`; }

window.studio = new Studio();
window.studio.open();
