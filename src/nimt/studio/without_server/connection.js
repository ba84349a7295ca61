// The studio without a server: what is asked is answered in this page, for small problems.
import { LocalLesson, kernelAt, windowOf } from "./local_lessons.js";

const by = (id) => document.getElementById(id);
const PROBLEMS = JSON.parse(by("problems").textContent); // of the paper: by name { pool, view, target, starts }
const SLICE = 12; // milliseconds of teaching between two pictures
const MOST_BRANCHES = 12;
const STEPS_OF_GREEDY = 12;
const MOST_CLICKS = 20;
const MOST_HALVINGS = 6; // of a kernel that is too wide
const MOST_TRIED = 2e7; // steps times points of a lesson that is tried while the page waits
const PROFILE_POINTS = 121;
const NEEDS = "this needs nimt on a machine of your own: pip install 'nimt[studio]', then nimt studio";

/** Leave out what only a server can do. */
function leaveOut() {
  for (const option of document.querySelectorAll("#target-kind option, #start-kind option")) {
    const { value } = option;
    const isThere = value.startsWith("named:") ? value.slice(6) in PROBLEMS || Object.values(PROBLEMS).some(({ starts }) => value.slice(6) in starts)
      : value !== "file" && value !== "formula"; // "dragged" is there
    if (!isThere) option.remove();
  }
  for (const id of ["drop", "start-drop", "copy-python", "copy-command", "save-gif", "save-npz", "save-replay"]) by(id).hidden = true;
}

/** The problem of a request: a target of the paper or a drawing, and a start. */
function problemOf({ target, start, classes }) {
  let found = null;
  if (target.kind === "named" && target.name in PROBLEMS) found = PROBLEMS[target.name];
  else if (target.kind === "drawn" && (target.outputs || 1) === 1) {
    const pool = {
      kind: "grid", shape: target.axes.map(([, , count]) => count), start: target.axes.map(([from]) => from),
      spacing: target.axes.map(([from, to, count]) => (to - from) / (count - 1)),
    };
    found = { pool, view: pool.shape.length === 1 ? "curve" : classes ? "boundary" : "picture", target: target.values, starts: {} };
  }
  if (!found) throw new Error(NEEDS);
  const values = classes ? found.target.map((value) => (value > 0 ? 1 : -1)) : found.target;
  const initial = start.kind === "zero" ? values.map(() => 0) : start.kind === "named" ? found.starts[start.name] : start.values;
  if (!initial || initial.length !== values.length) throw new Error("this start does not fit the target: take another");
  return { ...found, target: Float64Array.from(values), initial: Float64Array.from(initial) };
}

function checkRules(rules) {
  if (rules.loss !== "square") throw new Error(`the loss ${rules.loss} ${NEEDS.slice(5)}`);
  if (!(rules.steps >= 1 && rules.steps <= 1e6)) throw new Error(`steps must be a number from 1 to 1,000,000, got ${rules.steps}`);
  return rules;
}

const ANSWERS = {
  describe(asked) {
    const problem = problemOf(asked);
    const { pool, view, target, initial } = problem;
    const rules = checkRules(asked.rules);
    const far = Math.max(...pool.shape.map((count, axis) => (count - 1) * pool.spacing[axis]));
    const reach = Math.min(3 * rules.width, far || 1);
    const profile = Float64Array.from({ length: PROFILE_POINTS }, (_, i) => kernelAt(rules, Math.abs(reach * ((2 * i) / (PROFILE_POINTS - 1) - 1))));
    return { header: { type: "described", points: target.length, outputs: 1, view, pool, safe: 0.5, reach }, blocks: { target, initial, profile } };
  },
  forecast: () => ({ said: null }),
  narrower({ racer, ...asked }) {
    const problem = problemOf(asked);
    const widths = Array.from({ length: MOST_HALVINGS }, (_, times) => Number((asked.rules.width / 2 ** (times + 1)).toPrecision(2)));
    const small = asked.rules.steps * problem.target.length < MOST_TRIED;
    for (const width of small ? widths : []) {
      const lesson = new LocalLesson(problem, { ...asked.rules, width }, racer);
      while (!lesson.over) lesson.show(lesson.choose());
      const { tol } = asked.rules;
      if (lesson.curve.at(-1) < tol) return { width, said: `M < ${tol} after ${lesson.taken.toLocaleString("en")} steps` };
    }
    return { width: widths[0], said: null };
  },
  game(asked) {
    const lesson = new LocalLesson(problemOf(asked), { ...asked.rules, tol: null, steps: STEPS_OF_GREEDY }, { teacher: "greedy", rate: 0.5 });
    while (!lesson.over) lesson.show(lesson.choose());
    const least = Math.min(...lesson.curve);
    if (!(least > 0 && least < lesson.curve[0])) throw new Error("here is nothing to teach: the learner starts at the target");
    const unit = 10 ** (Math.floor(Math.log10(least)) - 2);
    const goal = Number(((Math.floor(least / unit + 1e-9) + 1) * unit).toPrecision(3));
    return { rate: 0.5, goal, greedy: lesson.curve.findIndex((value) => value < goal), steps: MOST_CLICKS };
  },
};

/** Answer what a page posts. */
export async function post(path, body) {
  if (!(path in ANSWERS)) throw new Error(NEEDS);
  return ANSWERS[path](body);
}

export class Connection {
  constructor(onMessage, onChange) {
    this.onMessage = onMessage;
    this.race = null;
    this.count = 0;
    leaveOut();
    setTimeout(() => onChange(true), 0);
  }

  send(message) {
    if (message.type === "leave" && this.race?.name === message.race) this.race = null;
    if (message.type === "show" && this.race?.name === message.race) this.race.racers[0].lesson.show(message.point);
  }

  async ask({ type, ...message }) {
    if (type === "race") return this.start(message);
    if (type === "fork") return this.fork(message);
    return {};
  }

  start({ target, start, classes, rules, racers }) {
    const problem = problemOf({ target, start, classes });
    checkRules(rules);
    const race = { name: `race ${++this.count}`, racers: [], problem };
    for (const request of racers) race.racers.push(this.makeRacer(problem, rules, request, { parent: null, offset: 0, said: "" }, race.racers.length));
    this.race = race;
    this.teach(race);
    return { race: race.name };
  }

  makeRacer(problem, rules, request, origin, seed) {
    if (!["greedy", "random", "you"].includes(request.teacher) || (request.k ?? 1) !== 1 || request.share || (request.learner ?? "kernel") !== "kernel") {
      throw new Error(`this teacher ${NEEDS.slice(5)}`);
    }
    return { lesson: new LocalLesson(problem, rules, request, seed), request, origin, sent: 0, seconds: 0, introduced: false, ended: false };
  }

  fork({ racer, step, change }) {
    const { race } = this;
    const parent = race?.racers[racer];
    if (!parent) throw new Error("this race is over and forgotten: start it again");
    if (parent.request.teacher === "you") throw new Error("a lesson of your own cannot be forked: fork the one beside it");
    if (race.racers.length >= MOST_BRANCHES) throw new Error(`a race has ${MOST_BRANCHES} branches at most: start a new one`);
    const [[what, value]] = Object.entries(change);
    const target = Float64Array.from(parent.lesson.target);
    if (what === "target") for (const [point, changed] of value) target[point] = changed;
    const request = what === "target" ? parent.request : { ...parent.request, [what]: value };
    const rules = { ...parent.lesson.rules, steps: Math.max(1, parent.lesson.steps - step) };
    const problem = { ...race.problem, target, initial: parent.lesson.valuesAt(step) };
    const said = what === "target" ? "changed target" : what === "rate" ? `rate ${value}` : "";
    race.racers.push(this.makeRacer(problem, rules, request, { parent: racer, offset: parent.origin.offset + step, said }, race.racers.length));
    this.teach(race);
    return { race: race.name, racer: race.racers.length - 1 };
  }

  /** Teach all lessons of a race, a slice of time each, until nobody looks. */
  teach(race) {
    if (race.isTaught) return;
    race.isTaught = true;
    const turn = () => {
      if (this.race !== race) { race.isTaught = false; return; }
      race.racers.forEach((racer, number) => this.slice(race, racer, number));
      setTimeout(turn, race.racers.every(({ ended }) => ended) ? 100 : 0);
    };
    setTimeout(turn, 0); // after the page knows the name of the race
  }

  slice(race, racer, number) {
    const about = { race: race.name, racer: number };
    const { lesson } = racer;
    if (!racer.introduced) { racer.introduced = true; this.introduce(racer, about); }
    const began = performance.now();
    while (!lesson.over && racer.request.teacher !== "you" && performance.now() - began < SLICE) lesson.show(lesson.choose());
    racer.seconds += (performance.now() - began) / 1000;
    if (lesson.taken > racer.sent) {
      const header = { ...about, type: "steps", from: racer.sent, until: lesson.taken, pack: 1, seconds: racer.seconds };
      const blocks = {
        curve: Float64Array.from(lesson.curve.slice(racer.sent + 1)), indices: Uint32Array.from(lesson.indices.slice(racer.sent)),
        coefficients: Float64Array.from(lesson.coefficients.slice(racer.sent)),
      };
      racer.sent = lesson.taken;
      this.onMessage(header, blocks);
    }
    if (lesson.over && !racer.ended) {
      racer.ended = true;
      this.onMessage({ ...about, type: "status", over: true, said: lesson.said, failed: false }, {});
    }
  }

  introduce({ lesson, request, origin }, about) {
    const { pool, target, initial, rules } = lesson;
    const header = {
      ...about, ...origin, type: "racer", points: target.length, outputs: 1, view: this.race.problem.view, pack: 1, steps: rules.steps, tol: rules.tol,
      rate: request.rate, measure: "paper", request, pool, kernel: "window",
    };
    this.onMessage(header, { target, initial, ...windowOf(rules, pool) });
  }
}
