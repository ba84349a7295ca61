// The page of one lesson, or of several on one clock: their pictures, their time line, its buttons and keys.
import { Clock, SPEEDS, affordable, playsByItself, speedAt } from "./clock.js";
import { addButtons, showPlaying, speedText } from "./controls.js";
import { colour, colourTable, countText, describeAs, numberText, onResize, write } from "./drawing.js";
import { PlayedLesson } from "./played.js";
import { unpackText } from "./recording.js";
import { TimeLine } from "./timeline.js";
import { viewOf } from "./views.js";
import { explain } from "./why.js";

const LATEST = 12; // examples marked while playing
const RACE_INKS = 4; // colours of lessons side by side; dashes tell further ones apart

/** Return a key's meaning in time, or null: the same on every page that plays lessons. */
export function keyOfTime(event, clock) {
  const step = event.shiftKey ? 100 : 1;
  const keys = {
    " ": () => clock.toggle(event.shiftKey ? -1 : 1),
    ArrowRight: () => clock.move(step),
    ArrowLeft: () => clock.move(-step),
    Home: () => { clock.pause(); clock.seek(0); },
    End: () => { clock.pause(); clock.seek(clock.end); },
  };
  return keys[event.key] || null;
}

/** Whether a key belongs to the control that has the focus. */
export function isTyping(event) {
  const { target } = event;
  if (target.matches?.("textarea, select, [contenteditable]")) return true;
  if (target.matches?.("input:not([type=checkbox]):not([type=radio])")) return target.id !== "scrub" || event.key !== " ";
  return event.key === " " && Boolean(target.matches?.("button, summary, a, input"));
}

/** The points shown at the latest steps before a step, the newest last; of frames those of the frame. */
export function latestShown(lesson, step, count = LATEST) {
  if (!lesson.isExact) return Array.from(lesson.shownAt(step)).slice(0, count);
  const found = [];
  for (let t = step - 1; t >= 0 && found.length < count; t--) {
    for (const point of lesson.shownAt(t)) {
      if (found.length < count && !found.includes(point)) found.push(point);
    }
  }
  return found.reverse();
}

const sentenceOf = (text) => text[0].toUpperCase() + text.slice(1);

const addNew = (place, tag, text, more = {}) => {
  const element = Object.assign(document.createElement(tag), { textContent: text, ...more });
  place.append(element);
  return element;
};

/** Say which values the colours of a picture stand for, where they do. */
function addScale(caption, { table, outputs, limits }) {
  if (!table || outputs !== 1) return;
  const scale = addNew(caption, "span", "", { className: "scale" });
  const inks = colourTable(table);
  const stops = Array.from({ length: 9 }, (_, i) => `rgb(${inks.subarray(3 * Math.round((255 * i) / 8)).slice(0, 3).join(",")})`);
  addNew(scale, "span", numberText(limits[0]));
  addNew(scale, "span", "", { className: "bar" }).style.background = `linear-gradient(to right, ${stops.join(", ")})`;
  addNew(scale, "span", numberText(limits[1]));
}

/** The picture of one lesson on a page. */
class Lane {
  constructor(lesson, place, isRace) {
    this.lesson = lesson;
    const { header, blocks } = lesson;
    this.ink = isRace ? `racer-${(lesson.number % RACE_INKS) + 1}` : "learner";
    this.figure = addNew(place, "figure", "", { className: "stage" });
    this.figure.style.setProperty("--mine", `var(--${this.ink})`);
    const caption = addNew(this.figure, "figcaption", "");
    this.canvas = addNew(this.figure, "canvas", "", { id: lesson.number ? `learner-${lesson.number + 1}` : "learner" });
    this.canvas.setAttribute("role", "img");
    this.view = viewOf(this.canvas, sceneOf(lesson), blocks.target, blocks.initial);
    addNew(caption, "span", "", { className: "key" });
    this.name = isRace ? `${lesson.number + 1}. ${lesson.name}` : "learner fᵗ";
    this.gap = isRace ? `${this.name}: |f − f*|` : "|fᵗ − f*|, bright where it is large"; // what a picture shows instead
    this.word = addNew(caption, "span", this.name);
    if (this.view.order && !lesson.number) { // curves, with f* among them
      addNew(caption, "span", "", { className: "key dashed" });
      addNew(caption, "span", "target f*");
    }
    this.note = addNew(caption, "span", "", { className: "m" });
    this.isPicture = header.pool.shape?.length === 2;
  }

  /** Draw f at a step; return why the next example comes, where that is asked for. */
  draw(step, { showsGap, showsWhy, playing }) {
    const { lesson, view } = this;
    const reason = showsWhy ? explain(lesson, step) : null;
    const values = reason ? reason.values : lesson.valuesAt(step);
    const marks = reason || lesson.pack > LATEST ? [] : latestShown(lesson, step);
    const isGap = showsGap || (reason && !(playing && this.isPicture));
    view.draw({ values, marks, ink: colour(this.ink), layer: isGap ? "error" : "values", winner: reason ? reason.winner : -1, runnerUp: reason ? reason.runnerUp : -1, footprint: reason?.footprint });
    write(this.word, isGap && this.isPicture ? this.gap : this.name);
    this.marks = marks;
    return reason;
  }
}

const sceneOf = ({ header, blocks }) => ({ view: header.view, pool: header.pool, points: blocks.points, outputs: header.outputs });

export class Player {
  /** @param {object[]} recordings  of lessons of one problem, one or more */
  constructor(recordings, root = document) {
    this.by = (id) => root.getElementById(id);
    this.lessons = recordings.map((recording, number) => new PlayedLesson(number, recording));
    const [{ header, blocks }] = this.lessons;
    Object.assign(this, { header, blocks, isRace: this.lessons.length > 1, selected: 0 });
    this.lanes = this.lessons.map((lesson) => new Lane(lesson, this.by("stages"), this.isRace));
    const alone = header.view === "curve" || header.view === "agreement" || header.pool.shape?.length === 1;
    this.by("stages").classList.toggle("one", alone);
    const count = this.lanes.length + Number(!alone);
    this.by("stages").style.setProperty("--columns", count <= 3 ? count : Math.ceil(count / 2));
    if (!alone) {
      this.targetView = viewOf(this.by("target"), sceneOf(this.lessons[0]), blocks.target, blocks.initial);
      addScale(this.by("target-figure").querySelector("figcaption"), this.targetView);
    }
    this.clock = new Clock(() => this.draw());
    this.clock.end = Math.max(...this.lessons.map(({ end }) => end));
    this.clock.limit = (place) => affordable(this.clock.place, place, this.workTo(Math.floor(place)), this.clock.inStills);
    this.timeline = new TimeLine(this.by("timeline"), (place) => { this.clock.pause(); this.clock.seek(Math.round(place)); });
    this.timeline.isRace = this.isRace;
    this.words();
    this.buttons();
    this.draw();
  }

  get lesson() { return this.lessons[0].lesson; }

  workTo(step) { return this.lessons.reduce((sum, lesson) => sum + lesson.work(step), 0); }

  /** Do what an address asks for: #play&loop&why&step=100&speed=20; who wants less motion is not played to. */
  follow(hash) {
    const asked = new URLSearchParams(hash.slice(1));
    const { clock } = this;
    if (Number(asked.get("speed")) > 0) this.takeSpeed(Number(asked.get("speed")));
    clock.loops = asked.has("loop");
    this.by("why").checked = asked.has("why");
    clock.seek(Math.round(Number(asked.get("step"))) || 0);
    if (asked.has("play") && playsByItself()) clock.play(1);
  }

  takeSpeed(speed) {
    this.chosen = true;
    this.clock.speed = speed;
  }

  /** Take the speed that shows most, unless one was chosen. */
  takeUsualSpeed() {
    if (this.chosen) return;
    const { clock, lessons: [first] } = this;
    clock.speed = speedAt(clock.place, first, clock.end, clock.place >= first.end && first.end < clock.end);
  }

  words() {
    const { header } = this;
    this.letter = header.measure_word === "discrepancy" ? "M" : header.measure_word;
    this.by("title").textContent = header.title;
    const frames = this.lessons.some((lesson) => lesson.header.kernel === "frames") ? " Only snapshots are kept: between them the picture stands still." : "";
    const every = Math.max(...this.lessons.map((lesson) => lesson.header.every));
    const exact = frames || (every > 1 ? ` Shown at every ${countText(every)}th step.` : "");
    const goal = header.tol === null ? "" : ` Who comes first to ${this.letter} below ${this.text(header.tol)}?`; // who, is seen when it happens
    this.by("lead").textContent = this.isRace
      ? `${countText(this.lessons.length)} teachers, one problem, one clock.${goal}${exact}`
      : `${sentenceOf(header.sentence)} after ${countText(header.steps)} ${header.steps === 1 ? "step" : "steps"} of teacher ${header.teacher}.${exact}`;
    for (const lesson of this.lessons) this.describe(lesson);
    this.by("foot").textContent = `Made by ${header.made_by}. Keys: space plays, arrows step, with shift by 100, Home and End, w for why${this.isRace ? ", numbers choose a lesson" : ""}.`;
  }

  /** Say what kind of lesson it was. */
  describe({ header, name }) {
    const about = {
      teacher: header.teacher, learner: header.learner, kernel: header.kernel_text, "kernel width": header.kernel_width,
      loss: header.loss, "learning rate": header.learning_rate, points: countText(header.points),
      columns: header.columns?.join("; ") || null, target: header.target_name || null,
      "examples shown": countText(header.examples), "distinct points shown": countText(header.distinct_points),
      tolerance: header.in_per_cent && header.tol !== null ? this.text(header.tol) : header.tol, "steps to tolerance (ITD)": header.itd === null ? "not reached" : countText(header.itd),
      [`${this.letter} at the start`]: this.text(header.discrepancy_at_start),
      [`${this.letter} at the end`]: this.text(header.discrepancy_at_end),
      seed: header.seed, engine: header.engine,
    };
    if (this.isRace) addNew(this.by("about"), "h2", name);
    const list = addNew(this.by("about"), "dl", "");
    for (const [term, value] of Object.entries(about)) {
      if (value === null || value === undefined) continue;
      addNew(list, "dt", term);
      addNew(list, "dd", value);
    }
  }

  buttons() {
    const { clock } = this;
    addButtons(this.by("buttons"), clock);
    for (const id of ["error", "why"]) this.by(id).addEventListener("change", () => this.draw());
    this.by("speed").addEventListener("input", (event) => { this.takeSpeed(SPEEDS[event.target.value]); this.draw(); });
    const scrub = this.by("scrub");
    scrub.max = clock.end;
    scrub.addEventListener("input", () => { clock.pause(); clock.seek(Number(scrub.value)); });
    this.chooseAxis();
    this.lanes.forEach(({ figure }, number) => figure.addEventListener("click", () => this.select(number)));
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const number = Number(event.key) - 1;
      const others = { w: () => this.by("why").click() };
      const act = keyOfTime(event, clock) || others[event.key] || (number >= 0 && number < this.lanes.length ? () => this.select(number) : null);
      if (act) { event.preventDefault(); act(); }
    });
    onResize(() => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  select(number) {
    this.selected = number;
    this.draw();
  }

  /** Let points of many coordinates be drawn along any of them. */
  chooseAxis() {
    const { axes } = this.lanes[0].view;
    this.by("against-field").hidden = !axes || axes.length < 2;
    if (this.by("against-field").hidden) return;
    this.by("against").append(...axes.map((name) => new Option(name)));
    this.by("against").addEventListener("change", (event) => {
      for (const { view } of this.lanes) view.along = event.target.selectedIndex - 1;
      this.draw();
    });
  }

  /** f of the first lesson after a number of steps. */
  valuesAt(step) { return this.lessons[0].valuesAt(step); }

  draw() {
    const { clock, lanes } = this;
    this.takeUsualSpeed();
    const step = clock.now;
    const how = { showsGap: this.by("error").checked, showsWhy: this.by("why").checked, playing: clock.playing };
    const stepOf = ({ lesson }) => Math.min(step, lesson.end);
    const reasons = lanes.map((lane) => lane.draw(stepOf(lane), how));
    this.targetView?.draw({ values: this.blocks.target });
    const now = lanes.map((lane) => lane.lesson.discrepancyAt(stepOf(lane)));
    [this.m] = now;
    if (this.isRace) lanes.forEach((lane, number) => write(lane.note, this.standing(lane.lesson, now[number], step)));
    write(this.by("step-text"), `step ${countText(step)} of ${countText(clock.end)}`);
    write(this.by("discrepancy-text"), this.isRace ? "" : `${this.letter} = ${this.text(this.m)}`);
    this.by("speed").value = SPEEDS.indexOf(clock.speed);
    write(this.by("speed-text"), speedText(clock));
    showPlaying(this.by("play"), clock);
    this.by("scrub").value = step;
    describeAs(this.by("scrub"), `step ${countText(step)}, ${this.letter} = ${now.map((m) => this.text(m)).join(", ")}`, "aria-valuetext");
    this.drawTime();
    const reason = reasons[this.selected];
    describeAs(this.by("said"), clock.playing ? "off" : "polite", "aria-live"); // read out where it stands still
    if (reason) write(this.by("said"), `${this.isRace ? `${lanes[this.selected].lesson.name}: ` : ""}${reason.text}`);
    if (!clock.playing) lanes.forEach((lane, number) => this.say(lane, stepOf(lane), now[number]));
    const standing = () => (lanes.length > 1 ? this.order(now, step) : lanes[0].said);
    if (!reason) write(this.by("said"), clock.playing ? "" : standing()); // what is past would contradict the picture
  }

  drawTime() {
    const { clock, header, lanes } = this;
    Object.assign(this.timeline, { end: clock.end, tol: header.tol, letter: this.letter, inPerCent: header.in_per_cent, place: clock.place });
    this.timeline.series = lanes.map(({ lesson, ink }) => lesson.series("steps", colour(ink)));
    this.timeline.draw();
  }

  /** How one lesson of a race stands. */
  standing(lesson, m, step) {
    const reached = lesson.itd !== null && lesson.itd <= step;
    return `${this.letter} = ${this.text(m)}${reached ? `, ITD ${countText(lesson.itd)}` : step >= lesson.end ? ", not reached" : ""}`;
  }

  /** Who is ahead, in words: first those that reached the tolerance, in that order. */
  order(now, step) {
    const key = ({ itd }, m) => (itd !== null && itd <= step ? [itd, 0] : [Infinity, this.header.higher_is_better ? -m : m]);
    const rows = this.lessons.map((lesson, number) => ({ lesson, m: now[number], key: key(lesson, now[number]) }));
    const compare = (one, other) => (one === other ? 0 : one < other ? -1 : 1);
    rows.sort((a, b) => compare(a.key[0], b.key[0]) || compare(a.key[1], b.key[1]));
    return `At step ${countText(step)}: ${rows.map(({ lesson, m }, place) => `${place + 1}. ${lesson.name} (${this.standing(lesson, m, step)})`).join("; ")}.`;
  }

  /** A value of the measure as a person reads it. */
  text(value) {
    return this.header.in_per_cent && Number.isFinite(value) ? `${(100 * value).toFixed(1)}%` : numberText(value);
  }

  /** The picture in words, for those who do not see it. */
  say(lane, step, m) {
    const { header, name } = lane.lesson;
    const isDistance = this.letter === "M"; // of any other measure a share of its start says little
    const called = isDistance ? "discrepancy M" : header.measure_word;
    const start = header.discrepancy_at_start;
    const share = isDistance ? `, ${start ? Math.round(100 * (m / start)) : 0} % of what it was at the start` : "";
    const { marks } = lane;
    const where = marks.length ? ` The latest example was point ${countText(marks[marks.length - 1])} of ${countText(header.points)}.` : "";
    const met = header.itd !== null && step >= header.itd ? " The tolerance is met." : "";
    lane.said = `At step ${countText(step)} the ${called} is ${this.text(m)}${share}.${where}${met}`;
    describeAs(lane.canvas, `${this.isRace ? name : "The learner"}. ${lane.said}`);
  }
}

export async function playRecordingOfPage() {
  try {
    const texts = Array.from(document.querySelectorAll(".recording"), ({ textContent }) => textContent);
    window.player = new Player(await Promise.all(texts.map(unpackText)));
    window.player.follow(location.hash);
  } catch (error) {
    document.getElementById("said").textContent =
      `This browser cannot play the lesson (${error.message}): a newer one can, from Chrome 80, Firefox 113 or Safari 16.4 on.`;
    throw error;
  }
}
