// The studio: the form, the race, the pictures and the clock, put together.
import { post } from "./connection.js";
import { calmly, playsByItself } from "./clock.js";
import { countText, onResize, setFont, write } from "./drawing.js";
import { latestShown, isTyping, keyOfTime } from "./player.js";
import { Form } from "./form.js";
import { Dropping } from "./dropping.js";
import { bumpAt, requestOf, score } from "./game.js";
import { Guide } from "./guide.js";
import { Narrowing } from "./narrowing.js";
import { changesAt } from "./poking.js";
import { Preview } from "./preview.js";
import { Race } from "./race.js";
import { Results, inkOf, standing } from "./results.js";
import { Sketch } from "./sketch.js";
import { Stages } from "./stages.js";
import { Takeaway } from "./takeaway.js";
import { Teachers } from "./teachers.js";
import { RaceTime } from "./time.js";
import { explain } from "./why.js";
import { fromHash, toHash } from "./share.js";

const by = (id) => document.getElementById(id);
const MOST_SHARED = 96 * 96 * 3; // values of a picture that a link holds
const MOST_STARTED = 200 * 200; // values of a learner that another one starts from
const PAUSE_BEFORE_DESCRIBING = 120; // milliseconds, so that a drag does not ask at every pixel

class Studio {
  constructor() {
    this.opening = 0; // links that are being opened
    const drawn = (done) => { this.preview.draw(); if (done) this.changed("target"); };
    this.sketch = new Sketch(by("sketch"), drawn);
    this.startSketch = new Sketch(by("start-sketch"), drawn);
    const teachers = new Teachers(() => this.changed("racers"));
    this.form = new Form(this.sketch, this.startSketch, teachers, {
      change: (what) => this.changed(what), learnerNow: () => this.learnerNow(),
    });
    this.preview = new Preview(this.form, this.sketch, this.startSketch);
    this.guide = new Guide(by("guide"), (setup) => this.setUp(setup));
    this.takeaway = new Takeaway(this);
    this.dropping = new Dropping(this);
    this.narrowing = new Narrowing((width) => { by("width").value = width; this.settle(); this.describe(); this.start(); });
    this.results = new Results(by("results"));
    this.board = new Stages(by("stages"), {
      select: (number) => this.select(number), choose: (...chosen) => this.choose(...chosen), change: () => this.ask(),
      reshape: (what, values) => this.reshape(what, values), pause: () => this.clock.pause(), stepOf: (racer) => this.stepOf(racer),
      isDrawn: () => this.form.kind.startsWith("draw:"),
    });
    this.lessons = new Race({
      opened: () => { if (this.isFilled && !this.form.isBlank) this.start(); },
      cleared: () => this.cleared(),
      racer: (racer) => this.introduced(racer),
      news: (racer) => this.taught(racer),
      over: () => this.ended(),
      said: (sentence) => this.alert(sentence),
      state: (sentence) => { by("connection").textContent = sentence; },
    });
    this.time = new RaceTime(this.lessons, () => this.ask(), () => this.guide.note("scrubbed"));
    this.askForNews = calmly(() => this.ask()); // the time line grows by itself
    this.listen();
  }

  async open() {
    const request = await this.readLink();
    if (request) this.fill(request);
    else this.form.choose("named:gmm");
    this.isFilled = true;
    if (!request && Guide.wanted) { this.guide.open(); return; }
    this.describe();
    if (this.isOpen && !this.race) this.start(); // at the same time: the first picture waits for nothing else
  }

  /** Return the race of the address, null where there is none, or none that can be read. */
  async readLink() {
    try {
      this.trouble = "";
      this.read = location.hash;
      return await fromHash(this.read);
    } catch (error) {
      this.trouble = error.message;
      this.alert("");
      return null;
    }
  }

  // -- what others look at

  get racers() { return this.lessons.racers; }
  get race() { return this.lessons.name; }
  get request() { return this.lessons.request; }
  get line() { return this.lessons.line; }
  get isOpen() { return this.lessons.isOpen; }
  get teaching() { return this.lessons.teaching; }
  get stages() { return this.board.list; }
  get clock() { return this.time.clock; }
  get selected() { return this.time.selected; }
  get described() { return this.preview.described; }
  get rows() { return this.racers.filter(Boolean).map((racer) => ({ racer, step: this.stepOf(racer) })); }

  stepOf(racer) { return this.time.stepOf(racer); }
  seek(place, quietly) { this.time.seek(place, quietly); }

  // -- a race

  async start(request = null, options = {}) {
    const { wanted } = this;
    try {
      if (!request && this.form.isBlank) { this.lessons.clear(); return; }
      const asked = request || this.form.request();
      this.alert("");
      if (!await this.lessons.start(asked, { forks: wanted?.forks, ...options })) return;
      if (wanted) { delete wanted.forks; wanted.race = this.race; }
      this.showTeaching();
      if (!await this.describing) return;
      const { safe } = this.form.teachers;
      if (asked.racers.some(({ rate }) => safe && rate > safe)) this.guide.note("over-safe");
      await this.keepAddress();
    } catch (error) {
      if (this.wanted === wanted) this.wanted = null;
      this.alert(error.message);
    }
  }

  /** Write the race, as it is now, into the address; never over a link that is being opened, or is still to be read. */
  async keepAddress() {
    const { race } = this;
    if (this.opening) return;
    const hash = await toHash(this.shareable());
    if (this.race !== race || this.opening || location.hash !== this.read) return;
    history.replaceState(null, "", hash);
    this.read = location.hash;
  }

  cleared() {
    this.board.clear();
    this.time.reset();
    this.setPoking(false);
    this.endedTeaching = false;
    this.showTeaching();
    this.narrowing.hide();
    this.ask();
  }

  introduced(racer) {
    this.board.add(racer, () => this.time.alone);
    this.time.measure();
    if (racer.number === 0 && !racer.known && !this.teaching && this.wanted?.place === undefined && playsByItself()) this.clock.play(1);
    if (racer.header.parent != null || racer.number === this.selected) this.select(racer.number);
    this.ask();
  }

  taught(racer) {
    this.time.measure();
    if (this.time.alone && racer.number === 0) this.seek(racer.taken, true);
    if (this.time.alone && this.racers[0].itd !== null) this.endTeaching(); // the goal is reached
    const { place, race } = this.wanted || {};
    if (place !== undefined && race === this.race && this.clock.end >= place) { // not in the race before that of the link
      this.clock.seek(place);
      delete this.wanted.place;
    }
    this.askForNews();
  }

  ended() {
    this.time.measure();
    const random = this.racers.some((one) => one.header.request?.teacher === "random");
    if (this.racers.length > 1 && this.lessons.isOver && random) this.guide.note("raced");
    if (this.teaching && this.racers[0].over && this.racers[0].taken) this.endTeaching();
    if (!this.teaching && this.lessons.isOver) this.narrowing.offer(this.lessons, this.form.teachers.safe);
    this.ask();
  }

  // -- be the teacher

  async beTeacher() {
    if (this.time.alone) { this.endTeaching(); return; }
    try {
      const { racers, ...request } = this.form.request();
      const game = await post("game", request);
      this.settle();
      Object.assign(this, { game, shown: 0 });
      this.time.clicks = game.steps;
      await this.start(requestOf(request, game), { teaching: true });
      by("stages").scrollIntoView({ block: "nearest" });
    } catch (error) {
      this.alert(error.message);
    }
  }

  endTeaching() {
    this.endedTeaching = true;
    this.showTeaching();
    this.time.measure();
    this.ask();
  }

  showTeaching() {
    this.time.alone = this.teaching && !this.endedTeaching;
    by("be-teacher").textContent = this.time.alone ? "End my lesson" : this.teaching ? "Again" : "Be the teacher";
  }

  /** A point was chosen on a lesson: to be shown, or to be poked. */
  choose(racer, stage, spot) {
    if (this.board.poking) {
      this.setPoking(false);
      this.time.selected = racer.number;
      this.fork({ target: changesAt(racer.ownerAt(this.stepOf(racer)), stage.view, spot) });
      return;
    }
    this.lessons.show(spot.point);
    this.shown += 1;
    if (this.shown >= 5) this.guide.note("taught");
  }

  // -- what if

  async fork(change) {
    const racer = this.racers[this.selected];
    try {
      this.settle();
      await this.lessons.fork(racer, racer ? this.stepOf(racer) : 0, change);
      await this.keepAddress();
    } catch (error) {
      this.alert(error.message);
    }
  }

  /** A curve or a point was dragged: race for it, or from it. */
  reshape(what, values) {
    const { kind, shape, start, spacing } = this.racers[0].header.pool;
    if (what === "target" && kind === "points") this.form.file = { ...this.form.file, values };
    else if (what === "target") this.form.takeTarget({ kind: "drawn", axes: [[start[0], start[0] + spacing[0] * (shape[0] - 1), shape[0]]], values });
    else this.form.takeStart({ kind: "drawn", values }, "as you dragged it");
    this.changed("target");
  }

  setPoking(on) {
    this.board.setPoking(on);
    by("poke").setAttribute("aria-pressed", String(on));
    if (on) {
      by("stages").scrollIntoView({ block: "nearest" }); // where the click is to go
      this.stages[this.selected]?.canvas.focus({ preventScroll: true });
    }
    this.ask();
  }

  select(number) {
    if (!this.racers[number]) return;
    this.time.selected = number;
    const { rate } = this.racers[number].header;
    const { safe } = this.form.teachers;
    if (rate) by("fork-rate").value = Number(((safe && 2 * rate > safe ? 0.5 : 2) * rate).toPrecision(3));
    this.ask();
  }

  // -- drawing

  /** Draw at the next frame, once, however often it is asked for. */
  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }

  draw() {
    const why = by("why").checked && !this.time.alone; // who plays is not told where the learner is furthest off
    let reason = null;
    this.frames = (this.frames || 0) + 1;
    this.drawnAt ??= this.racers.length ? performance.now() : undefined; // when the first lesson was seen
    const { rows } = this;
    for (const { racer, step } of rows) {
      const stage = this.stages[racer.number];
      stage.figure.classList.toggle("selected", racer.number === this.selected && this.racers.length > 1);
      const asked = why && racer.number === this.selected;
      const marks = racer.pack > 12 || asked ? [] : latestShown(racer, step);
      if (asked) reason = explain(racer, step);
      const choosing = this.board.choosing(racer, this.time.alone);
      const bump = choosing === "teach" && stage.cursor ? bumpAt(racer, step, stage.cursor.point) : null;
      stage.draw(racer, step, { marks, why: asked ? reason : null, choosing, bump, playing: this.clock.playing, isGame: this.teaching });
    }
    this.board.drawTarget();
    const isEmpty = this.racers.length === 0 && this.form.isBlank;
    by("empty").hidden = !isEmpty;
    document.querySelector("main").classList.toggle("nothing", isEmpty);
    if (this.form.isBlank || this.racers.length) by("field").classList.toggle("blank", this.form.isBlank); // not while the pen is down
    write(by("why-text"), reason ? reason.text
      : "Shows |f − f*|, the example that comes next, the runner-up, and what the step will move.");
    this.time.draw(inkOf);
    this.results.draw(rows);
    if (this.clock.playing && this.clock.now > 10) this.guide.note("played");
    if (!this.clock.playing) this.say();
  }

  /** The page in words, for those who do not see it. */
  say() {
    const isCompared = this.teaching && this.racers.length > 1;
    const text = isCompared ? score(this.racers, this.game, this.endedTeaching) : standing(this.rows);
    by("said").classList.toggle("strong", isCompared);
    by("again").hidden = !(isCompared && this.endedTeaching);
    if (text !== this.lastSaid) { this.lastSaid = text; by("said").textContent = text; }
  }

  redraw() {
    this.preview.draw();
    this.ask();
  }

  alert(text) {
    const said = text || this.trouble || "";
    by("alert").textContent = said;
    by("alert").hidden = !said;
  }

  /** A person does something else than what the link asked for: neither its trouble nor its race matters any more. */
  settle() {
    this.trouble = "";
    this.wanted = null;
  }

  // -- the form

  changed(what) {
    this.settle();
    clearTimeout(this.later);
    this.narrowing.hide(); // it spoke of another width
    if (what === "target" && this.form.isBlank) this.lessons.clear();
    const later = this.later = setTimeout(async () => {
      if (await this.describe() && what === "target") await this.start();
      if (this.later === later) this.later = null;
    }, PAUSE_BEFORE_DESCRIBING);
  }

  /** Describe what the form holds; return whether that went well. */
  describe() {
    this.describing = this.askForDescription();
    return this.describing;
  }

  async askForDescription() {
    if (this.form.kind === "file" && !this.form.file) { this.ask(); return false; }
    try {
      await this.preview.describe();
      this.alert("");
      return true;
    } catch (error) {
      this.alert(error.message);
      return false;
    }
  }

  /** The selected learner as it is now, for another one to start from. */
  learnerNow() {
    const racer = this.racers[this.selected];
    if (!racer) return null;
    const step = this.stepOf(racer);
    if (racer.sheetAt(step) || racer.initial.length > MOST_STARTED) {
      this.alert("this learner has too many points to start another one from");
      return null;
    }
    return { values: racer.valuesAt(step), outputs: racer.outputs, said: `as lesson ${racer.number + 1}, ${racer.name}, was at step ${countText(step)}` };
  }

  fill(request) {
    try {
      this.form.fill(request);
      this.wanted = { place: request.place, forks: request.forks };
    } catch {
      this.trouble = "this link holds no race that can be read";
      this.form.choose("named:gmm");
    }
  }

  /** The race as it can be shared: dropped grids become their values. */
  shareable() {
    const request = structuredClone(this.request);
    const { header, blocks } = this.described;
    const drawn = (values) => ({ kind: "drawn", values: Array.from(values, (value) => Number(value.toFixed(3))), outputs: header.outputs });
    if (header.pool.kind === "grid" && blocks.target.length <= MOST_SHARED) {
      const { shape, start, spacing } = header.pool;
      const axes = shape.map((count, i) => [start[i], start[i] + spacing[i] * (count - 1), count]);
      if (request.target.kind === "file") request.target = { ...drawn(blocks.target), axes };
      if (request.start.kind === "file") request.start = drawn(blocks.initial);
    }
    if (this.lessons.forks.length) request.forks = this.lessons.forks;
    request.place = this.wanted?.place ?? this.clock.place;
    return request;
  }

  setUp(what) {
    if (what === "rewind") { this.seek(0, true); return; }
    const { teachers } = this.form;
    if (what === "first") teachers.take("greedy");
    if (what === "race") teachers.take("greedy", "random");
    this.form.choose("named:gmm");
    this.describe();
    if (this.isOpen && what === "first") this.start();
  }

  // -- what a person does

  listen() {
    const on = (id, act, kind = "click") => by(id).addEventListener(kind, act);
    on("race", () => { this.settle(); this.start(); });
    for (const id of ["be-teacher", "again"]) on(id, () => this.beTeacher());
    on("why", () => { if (by("why").checked) this.guide.note("why"); this.ask(); }, "change");
    on("poke", () => this.setPoking(!this.board.poking));
    on("do-fork-rate", () => this.fork({ rate: Number(by("fork-rate").value) }));
    on("do-fork-teacher", () => this.fork({ teacher: by("fork-teacher").value }));
    on("open-guide", () => this.guide.open());
    on("present", () => this.present());
    document.addEventListener("fullscreenchange", () => { if (!document.fullscreenElement) this.present(false); });
    on("open-keys", () => by("keys").showModal());
    on("open-take", () => this.takeaway.open());
    document.addEventListener("keydown", (event) => this.key(event));
    onResize(() => this.redraw());
    addEventListener("hashchange", async () => {
      this.opening += 1;
      const request = await this.readLink();
      if (request) this.fill(request);
      if (request && await this.describe()) await this.start();
      this.opening -= 1;
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.redraw());
  }

  /** Show the lessons alone, in letters that are read from the last row; where the browser lets us, on the whole screen. */
  present(on = !document.documentElement.classList.contains("presenting")) {
    document.documentElement.classList.toggle("presenting", on);
    by("present").setAttribute("aria-pressed", String(on));
    if (on) document.documentElement.requestFullscreen?.().catch(() => {}); // not where it is forbidden: the letters are large all the same
    else if (document.fullscreenElement) document.exitFullscreen();
    setFont(on ? 1.6 : 1);
    this.redraw();
  }

  key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event) || document.querySelector("dialog[open]")) return;
    const others = {
      "?": () => by("keys").showModal(),
      w: () => by("why").click(),
      f: () => this.present(),
      r: () => { this.settle(); this.start(); },
      p: () => this.setPoking(!this.board.poking),
      Escape: () => { this.setPoking(false); this.present(false); },
    };
    const number = Number(event.key) - 1;
    const act = keyOfTime(event, this.clock) || others[event.key] || (number >= 0 && number < 9 && this.racers[number] ? () => this.select(number) : null);
    if (act) { event.preventDefault(); act(); }
  }
}

window.studio = new Studio();
window.studio.open();
