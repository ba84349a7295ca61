// Six steps through the paper; at each the reader does something, and the page notices.

const STEPS = [
  { title: "Watch greedy teaching", done: "played",
    text: "The learner (solid) believes in one bump; the target f* (dashed) has two. At each step the greedy teacher shows the one example where the learner is furthest off (circle). It plays by itself; space stops it, and plays it on.",
    setup: "first", at: "stages" },
  { title: "Go back in time", done: "scrubbed",
    text: "The curve below is the discrepancy M, how far the learner still is. It is a time line: drag it, or use the arrow keys. The flag marks the ITD, the first step at which the tolerance is met.", at: "timeline" },
  { title: "Ask why", done: "why",
    text: "“Why this one?” is ticked: take the tick away and set it again. The filled gap is |f − f*|. The circle is what the teacher shows next, the square is the runner-up, and the dotted line is what the step will do: one kernel, added to f.", at: "why-panel", setup: "rewind" },
  { title: "Race it against chance", done: "raced",
    text: "Random teaching is stochastic gradient descent: it draws its examples blindly. Race both on one clock and compare their flags. Press Race.", setup: "race", at: "race" },
  { title: "Find the edge of the learning rate", done: "over-safe",
    text: "Move a rate slider past the red mark, the largest rate that is safe for this loss and kernel, and race again. Steps begin to overshoot; far beyond it the lesson diverges, and the page says so.", at: "racers" },
  { title: "Be the teacher", done: "taught",
    text: "Press “Be the teacher” and click five examples on your learner. Greedy plays beside you on the same problem, step for step.", at: "be-teacher" },
];

export class Guide {
  constructor(root, onSetup) {
    this.root = root;
    this.onSetup = onSetup;
    this.at = 0;
    this.happened = new Set();
  }

  open(at = 0) {
    this.at = at;
    this.root.hidden = false;
    if (STEPS[at].setup) this.onSetup(STEPS[at].setup);
    this.happened.delete(STEPS[at].done);
    this.draw();
    this.look(STEPS[at].at);
  }

  /** Bring what a step speaks of into view, and mark it; null marks nothing. */
  look(id) {
    document.querySelector(".looked-at")?.classList.remove("looked-at");
    const place = document.getElementById(id);
    place?.classList.add("looked-at");
    place?.scrollIntoView({ block: "nearest" });
    this.root.scrollIntoView({ block: "nearest" }); // what is said, rather than what it is said of, where both do not fit
  }

  close() {
    this.look(null);
    this.root.hidden = true;
    try { localStorage.setItem("nimt-guided", "yes"); } catch { /* a browser may keep nothing */ }
  }

  /** Note that the reader did something. */
  note(what) {
    if (this.root.hidden || this.happened.has(what)) return;
    this.happened.add(what);
    if (STEPS[this.at].done === what) this.draw();
  }

  draw() {
    const step = STEPS[this.at];
    const done = this.happened.has(step.done);
    const last = this.at === STEPS.length - 1;
    const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text, ...more });
    const row = make("div", "", { className: "row" });
    const dots = make("span", STEPS.map((_, i) => (i <= this.at ? "●" : "○")).join(""), { className: "dots" });
    dots.setAttribute("aria-label", `step ${this.at + 1} of ${STEPS.length}`);
    row.append(dots);
    if (done) row.append(make("span", "done ✓", { className: "done", role: "status" }));
    if (this.at > 0) row.append(make("button", "Back", { onclick: () => this.open(this.at - 1) }));
    row.append(make("button", last ? "Finish" : "Next", {
      className: done ? "main" : "", onclick: () => (last ? this.close() : this.open(this.at + 1)),
    }));
    row.append(make("button", "Close", { onclick: () => this.close() }));
    this.root.replaceChildren(make("h2", `${this.at + 1}. ${step.title}`), make("p", step.text), row);
  }

  static get wanted() {
    try { return localStorage.getItem("nimt-guided") !== "yes"; } catch { return true; }
  }
}
