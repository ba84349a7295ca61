// Beat the greedy teacher: a few examples, shown by a finger, a mouse or the arrow keys; the steps are those of the library.
import { TEXT, clamp, colour, countText, describeAs, fitted, numberText, onResize, rangeOf, ring, write } from "./drawing.js";
import { discrepancy, kernelOf, unpackText } from "./recording.js";
import { viewOf } from "./views.js";

/** A game: where the learner is after what was shown so far. */
export class Game {
  constructor({ header, blocks }) {
    Object.assign(this, { header, target: blocks.target, initial: blocks.initial });
    this.kernel = kernelOf(header, blocks);
    this.begin();
  }

  begin() {
    this.values = Float64Array.from(this.initial);
    this.shown = [];
    this.points = []; // of every example: 100 where the learner was furthest off
    this.curve = [this.discrepancy];
  }

  get discrepancy() { return discrepancy(this.values, this.target, this.header.points); }

  get isOver() { return this.shown.length >= this.header.clicks; }

  /** How far a step moves f where the example is: the square loss, at the largest safe rate. */
  stepAt(point) { return 2 * this.header.rate * (this.target[point] - this.values[point]); }

  bumpAt(point) {
    const bump = new Float64Array(this.target.length);
    this.kernel.add(bump, point, [this.stepAt(point)], 0, 1);
    return bump;
  }

  show(point) {
    let most = 0;
    for (let i = 0; i < this.target.length; i++) most = Math.max(most, Math.abs(this.target[i] - this.values[i]));
    this.points.push(most > 0 ? Math.round((100 * Math.abs(this.target[point] - this.values[point])) / most) : 0);
    this.kernel.add(this.values, point, [this.stepAt(point)], 0, 1);
    this.shown.push(point);
    this.curve.push(this.discrepancy);
  }

  /** The result in letters that can be read out: which game, which examples, and a check. */
  get code() {
    const { letters, check, check_bits: checkBits, game_bits: gameBits, group } = this.header.code;
    const bits = (this.header.points - 1).toString(2).length;
    let number = BigInt(this.header.game);
    for (const point of this.shown) number = (number << BigInt(bits)) | BigInt(point);
    number = (number << BigInt(checkBits)) | (number % BigInt(check));
    let text = "";
    for (let i = Math.ceil((gameBits + this.shown.length * bits + checkBits) / 5); i > 0; i--) {
      text = letters[Number(number % 32n)] + text;
      number /= 32n;
    }
    return text.match(new RegExp(`.{1,${group}}`, "g")).join("-");
  }
}

export class ChallengePage {
  constructor(recording) {
    this.game = new Game(recording);
    const { header, blocks } = recording;
    this.header = header;
    this.by = (id) => document.getElementById(id);
    this.board = this.by("board");
    this.view = viewOf(this.board, { view: header.view, pool: header.pool, outputs: 1 }, blocks.target, blocks.initial);
    this.columns = header.pool.shape[1] || 0;
    this.spot = null;
    const { clicks } = header;
    write(this.by("lead"), `Show the learner ${countText(clicks)} examples. At each it jumps to the target there, and near it. Where is it furthest off?`);
    write(this.by("how"), "Touch the picture, move to see what an example will do, and lift to show it. With the keys: arrows choose, with shift faster, Enter shows. Nothing leaves this page.");
    this.by("clicks").append(...Array.from({ length: clicks }, () => document.createElement("li")));
    this.listen();
    this.draw();
  }

  listen() {
    const { board } = this;
    const move = (event) => {
      const point = this.view.pointAt(event.offsetX, event.offsetY);
      if (point >= 0 && point !== this.spot) { this.spot = point; this.draw(); }
    };
    board.addEventListener("pointerdown", (event) => { board.setPointerCapture(event.pointerId); move(event); });
    board.addEventListener("pointermove", move);
    board.addEventListener("pointerup", (event) => { move(event); this.show(); });
    board.addEventListener("pointerleave", () => { this.spot = null; this.draw(); });
    board.addEventListener("keydown", (event) => this.key(event));
    this.by("again").addEventListener("click", () => this.again());
    this.by("copy").addEventListener("click", () => this.copy());
    onResize(() => this.draw());
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.draw());
  }

  key(event) {
    const moves = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -(this.columns || -1), ArrowDown: this.columns || -1 };
    if (!(event.key in moves) && event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    if (this.game.isOver) return;
    if (event.key in moves) {
      const far = event.shiftKey ? 10 : 1;
      this.spot = clamp((this.spot ?? Math.floor((this.header.points + this.columns) / 2)) + far * moves[event.key], 0, this.header.points - 1);
      this.draw();
    } else this.show();
  }

  show() {
    if (this.spot === null || this.game.isOver) return;
    this.game.show(this.spot);
    if (this.game.isOver) this.spot = null;
    this.draw();
    if (this.game.isOver) this.by("end").scrollIntoView({ block: "nearest" });
  }

  again() {
    this.game.begin();
    this.draw();
    this.board.focus();
    this.board.scrollIntoView({ block: "center" });
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(this.game.code);
      write(this.by("copied"), "The code is copied.");
    } catch { // a page from a file may not write there
      this.by("code").select();
      write(this.by("copied"), "Copy it from the field: it is selected.");
    }
  }

  draw() {
    const { game, spot, by } = this;
    this.view.limits = rangeOf(game.target, game.initial, game.values);
    const footprint = spot === null || game.isOver ? null : game.bumpAt(spot);
    const chosen = spot === null ? null : { point: spot, value: game.target[spot] };
    this.view.draw({ values: game.values, marks: game.shown.slice(-3), footprint, spot: game.isOver ? null : chosen });
    Array.from(by("clicks").children).forEach((item, i) => {
      write(item, i < game.points.length ? String(game.points[i]) : "");
      item.style.setProperty("--share", `${game.points[i] || 0}%`);
      item.classList.toggle("next", i === game.points.length);
    });
    write(by("said"), this.sentence());
    const where = spot === null ? "" : `, at point ${countText(spot + 1)} of ${countText(game.target.length)}, where it is off by ${numberText(Math.abs(game.target[spot] - game.values[spot]))}`;
    describeAs(this.board, `The learner after ${countText(game.shown.length)} of ${countText(this.header.clicks)} examples${where}. Arrows choose, Enter shows.`);
    by("end").hidden = !game.isOver;
    if (game.isOver) this.drawEnd();
  }

  sentence() {
    const { shown, points, curve } = this.game;
    const { clicks, greedy } = this.header;
    const count = shown.length;
    if (!count) return `M, the distance to the target, is ${numberText(curve[0])}. Greedy brings it to ${numberText(greedy.at(-1))}.`;
    const mine = numberText(curve[count]);
    if (!this.game.isOver) {
      return `${countText(points.at(-1))} of 100 points. M = ${mine}; greedy after as many: ${numberText(greedy[count])}. ${countText(clicks - count)} left.`;
    }
    const worse = this.header.chances.filter((one) => one > curve[count]).length;
    const share = curve[count] / greedy[count]; // the same examples may differ in the last digits
    const verdict = share < 1 - 1e-9 ? "You beat greedy!" : share < 1 + 1e-9 ? "You are as good as greedy!" : "Greedy was nearer.";
    return `${verdict} You: M = ${mine}, greedy: ${numberText(greedy[count])}. You are nearer than ${countText((100 * worse) / this.header.chances.length)} of 100 who choose blindly.`;
  }

  drawEnd() {
    const { game, header, by } = this;
    const end = game.curve.at(-1);
    by("code").value = game.code;
    const { context, width, height } = fitted(by("swarm"));
    const all = [...header.chances, header.greedy.at(-1), end];
    const [low, high] = [Math.log10(Math.min(...all)) - 0.1, Math.log10(Math.max(...all)) + 0.1];
    const toX = (value) => 20 + ((Math.log10(value) - low) / (high - low)) * (width - 40);
    const middle = height / 2;
    context.font = TEXT.font;
    context.fillStyle = colour("quiet");
    const taken = [];
    for (const value of header.chances) {
      const x = toX(value);
      let row = 0;
      while (taken.some(([other, at]) => at === row && Math.abs(other - x) < 6)) row++;
      taken.push([x, row]);
      context.beginPath();
      context.arc(x, middle + (row % 2 ? -1 : 1) * Math.ceil(row / 2) * 6, 2.5, 0, 2 * Math.PI);
      context.fill();
    }
    const put = (value, text, ink, up) => {
      const x = toX(value);
      ring(context, x, middle, 7, "winner", ink);
      context.fillStyle = ink;
      context.textAlign = x < width / 4 ? "left" : x > (3 * width) / 4 ? "right" : "center";
      context.fillText(text, x, up ? 16 : height - 10);
      context.fillRect(x - 0.5, up ? 22 : middle + 9, 1, middle - 31);
    };
    put(header.greedy.at(-1), "greedy", colour("racer-2"), true);
    put(end, "you", colour("learner"), false);
    const isRight = toX(end) > width / 2; // on the side that "you" leaves free
    context.textAlign = isRight ? "left" : "right";
    context.fillStyle = colour("quiet");
    context.fillText("nearer ← M → further", isRight ? 4 : width - 4, height - 10);
    describeAs(by("swarm"), `Your M ${numberText(end)} among ${countText(header.chances.length)} random lessons and greedy's ${numberText(header.greedy.at(-1))}.`);
  }
}

export async function playChallengeOfPage() {
  try {
    window.challenge = new ChallengePage(await unpackText(document.querySelector(".recording").textContent));
  } catch (error) {
    document.getElementById("said").textContent =
      `This browser cannot play the challenge (${error.message}): a newer one can, from Chrome 80, Firefox 113 or Safari 16.4 on.`;
    throw error;
  }
}
