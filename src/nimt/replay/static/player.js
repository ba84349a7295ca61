// The page of one lesson: its picture, its time line, its buttons and keys.
import { Clock, SPEEDS, affordable, playsByItself, usualSpeed } from "./clock.js";
import { addButtons, showPlaying, speedText } from "./controls.js";
import { colour, countText, describeAs, numberText, onResize, write } from "./drawing.js";
import { discrepancy, lessonOf, unpackText } from "./recording.js";
import { TimeLine } from "./timeline.js";
import { viewOf } from "./views.js";

const LATEST = 12; // examples marked while playing

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

/** The points shown at the latest steps before a step, the newest last. */
export function latestShown(lesson, step, count = LATEST) {
  const found = [];
  for (let t = step - 1; t >= 0 && found.length < count; t--) {
    for (const point of lesson.shownAt(t)) {
      if (found.length < count && !found.includes(point)) found.push(point);
    }
    if (lesson.known) break; // frames know only their own
  }
  return found.reverse();
}

export class Player {
  constructor(recording, root = document) {
    this.header = recording.header;
    this.blocks = recording.blocks;
    this.lesson = lessonOf(recording);
    this.by = (id) => root.getElementById(id);
    const { header, blocks } = this;
    const scene = { view: header.view, pool: header.pool, points: blocks.points, outputs: header.outputs };
    this.view = viewOf(this.by("learner"), scene, blocks.target, blocks.initial);
    const alone = header.view === "curve" || header.view === "agreement" || header.pool.shape?.length === 1;
    this.by("target-figure").parentElement.classList.toggle("one", alone);
    if (!alone) this.targetView = viewOf(this.by("target"), scene, blocks.target, blocks.initial);
    this.clock = new Clock(() => this.draw());
    this.clock.end = header.steps;
    this.clock.speed = usualSpeed(header.steps);
    this.clock.limit = (place) => affordable(this.clock.place, place, this.lesson.work(this.stepOf(Math.floor(place))), this.clock.inStills);
    this.timeline = new TimeLine(this.by("timeline"), (place) => { this.clock.pause(); this.clock.seek(Math.round(place)); });
    this.words();
    this.buttons();
    this.draw();
  }

  /** Do what an address asks for: #play&loop&step=100&speed=20; who wants less motion is not played to. */
  follow(hash) {
    const asked = new URLSearchParams(hash.slice(1));
    const { clock } = this;
    if (Number(asked.get("speed")) > 0) clock.speed = Number(asked.get("speed"));
    clock.loops = asked.has("loop");
    clock.seek(Math.round(Number(asked.get("step"))) || 0);
    if (asked.has("play") && playsByItself()) clock.play(1);
  }

  words() {
    const { header } = this;
    this.letter = header.measure_word === "discrepancy" ? "M" : header.measure_word;
    this.by("title").textContent = header.title;
    const sentence = header.sentence[0].toUpperCase() + header.sentence.slice(1);
    const exact = header.kernel === "frames"
      ? " Only its snapshots are kept: between them the picture stands still."
      : header.every > 1 ? ` Shown at every ${countText(header.every)}th step.` : "";
    this.by("lead").textContent = `${sentence} after ${countText(header.steps)} ${header.steps === 1 ? "step" : "steps"} of teacher ${header.teacher}.${exact}`;
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
    for (const [name, value] of Object.entries(about)) {
      if (value === null || value === undefined) continue;
      const [term, said] = [document.createElement("dt"), document.createElement("dd")];
      [term.textContent, said.textContent] = [name, value];
      this.by("about").append(term, said);
    }
    this.by("foot").textContent = `Made by ${header.made_by}. Keys: space plays, arrows step, with shift by 100, Home and End.`;
  }

  buttons() {
    const { clock } = this;
    addButtons(this.by("buttons"), clock);
    this.by("error").addEventListener("change", () => this.draw());
    this.by("speed").value = SPEEDS.indexOf(clock.speed);
    this.by("speed").addEventListener("input", (event) => { clock.speed = SPEEDS[event.target.value]; this.draw(); });
    const scrub = this.by("scrub");
    scrub.max = this.header.steps;
    scrub.addEventListener("input", () => { clock.pause(); clock.seek(Number(scrub.value)); });
    document.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
      const act = keyOfTime(event, clock);
      if (act) { event.preventDefault(); act(); }
    });
    onResize(() => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  /** The step of the recording that shows a step of the lesson. */
  stepOf(step) {
    if (this.header.kernel === "frames") return step;
    return step === this.header.steps ? this.lesson.steps : Math.floor(step / this.header.every);
  }

  /** f on the pool after a number of steps. */
  valuesAt(step) { return this.lesson.at(this.stepOf(step)); }

  draw() {
    const { header, blocks, clock } = this;
    const step = clock.now;
    const values = this.valuesAt(step);
    const marks = header.every > 1 ? [] : latestShown(this.lesson, step, header.pack > LATEST ? 0 : LATEST);
    const layer = this.by("error").checked ? "error" : "values";
    this.view.draw({ values, marks, layer });
    this.targetView?.draw({ values: blocks.target });
    const known = header.measure === "paper" || header.measure === "rms";
    const m = known ? discrepancy(values, blocks.target, header.points, header.measure) : this.recorded(step);
    this.m = m;
    write(this.by("step-text"), `step ${countText(step)} of ${countText(header.steps)}`);
    write(this.by("discrepancy-text"), `${this.letter} = ${this.text(m)}`);
    write(this.by("speed-text"), speedText(clock));
    showPlaying(this.by("play"), clock);
    this.by("scrub").value = step;
    describeAs(this.by("scrub"), `step ${step}, ${this.letter} = ${this.text(m)}`, "aria-valuetext");
    this.timeline.end = header.steps;
    this.timeline.tol = header.tol;
    this.timeline.letter = this.letter;
    this.timeline.inPerCent = header.in_per_cent;
    this.timeline.place = clock.place;
    this.timeline.series = [{ steps: blocks.curve_steps, values: blocks.curve, ink: colour("learner"), itd: header.itd }];
    this.timeline.draw();
    if (!clock.playing) this.say(step, m, marks);
  }

  /** A value of the measure as a person reads it. */
  text(value) {
    return this.header.in_per_cent && Number.isFinite(value) ? `${(100 * value).toFixed(1)}%` : numberText(value);
  }

  recorded(step) {
    let place = 0;
    while (place + 1 < this.blocks.curve_steps.length && this.blocks.curve_steps[place + 1] <= step) place++;
    return this.blocks.curve[place];
  }

  /** The picture in words, for those who do not see it. */
  say(step, m, marks) {
    const { header } = this;
    const isDistance = this.letter === "M"; // of any other measure a share of its start says little
    const called = isDistance ? "discrepancy M" : header.measure_word;
    const start = header.discrepancy_at_start;
    const share = isDistance ? `, ${start ? Math.round(100 * (m / start)) : 0} % of what it was at the start` : "";
    const where = marks.length ? ` The latest example was point ${countText(marks[marks.length - 1])} of ${countText(header.points)}.` : "";
    const met = header.itd !== null && step >= header.itd ? " The tolerance is met." : "";
    const text = `At step ${countText(step)} the ${called} is ${this.text(m)}${share}.${where}${met}`;
    write(this.by("said"), text);
    describeAs(this.by("learner"), `The learner. ${text}`);
  }
}

export async function playRecordingOfPage() {
  try {
    window.player = new Player(await unpackText(document.getElementById("recording").textContent));
    window.player.follow(location.hash);
  } catch (error) {
    document.getElementById("said").textContent =
      `This browser cannot play the lesson (${error.message}): a newer one can, from Chrome 80, Firefox 113 or Safari 16.4 on.`;
    throw error;
  }
}
