// The race under way: what is asked of the server, what is heard of it, and the lessons that come of it.
import { Connection } from "./connection.js";
import { countText } from "./drawing.js";
import { PlayedLesson } from "./played.js";
import { Racer } from "./racers.js";

export class Race {
  /**
   * @param {object} on  what to do: cleared(), racer(racer), news(racer, took), over(racer), said(sentence),
   *   state(sentence), opened()
   */
  constructor(on) {
    this.on = on;
    this.racers = [];
    this.name = null;
    this.request = null;
    this.forks = []; // what was forked, in order: { racer, step, change }, the step counted from the start of the race
    this.waiting = []; // for a lesson to come as far as a branch begins
    this.teaching = false; // whether a person teaches the first lesson
    this.line = new Connection((message, blocks) => this.hear(message, blocks), (open) => this.connected(open));
  }

  // -- the line

  connected(open) {
    this.isOpen = open;
    this.on.state(open ? "" : "the studio is not there; trying again");
    if (!open) return;
    if (!this.name) { this.on.opened(); return; }
    const known = this.racers.map((racer) => [racer.taken, racer.lesson.known ? racer.lesson.steps : 0]);
    this.line.ask({ type: "resume", race: this.name, known }).catch(() => {
      this.on.state("the race was forgotten; what is here can still be played");
    });
  }

  hear(message, blocks) {
    if (message.type === "compiling") this.on.state("getting ready: compiling, once per machine");
    if (message.type === "ready") this.on.state("");
    if (message.race && message.race !== this.name) return;
    const racer = this.racers[message.racer];
    if (message.type === "racer") this.introduce(message, blocks);
    else if (message.type === "steps" && racer) {
      racer.append(message, blocks);
      for (const note of message.notes || []) this.on.said(note);
      this.on.news(racer);
    }
    else if (message.type === "status" && racer) this.ended(racer, message);
    for (const look of this.waiting) look();
  }

  introduce(header, blocks) {
    const parent = header.parent === null ? null : this.racers[header.parent];
    const racer = new Racer(header.racer, header, blocks, parent);
    this.racers[header.racer] = racer;
    this.on.racer(racer);
  }

  ended(racer, { over, said, failed }) {
    Object.assign(racer, { over, said: said || "", failed });
    if (failed) this.on.said(said);
    this.on.over(racer);
  }

  // -- what is asked

  /** Begin a race; return whether it is the one that counts. */
  async start(request, { teaching = false, forks = [] } = {}) {
    const turn = this.turn = (this.turn || 0) + 1;
    const { race } = await this.line.ask({ type: "race", ...request });
    if (turn !== this.turn) { this.line.send({ type: "leave", race }); return false; } // another one was asked for since
    this.clear();
    Object.assign(this, { name: race, request, teaching, forks });
    this.forking = this.forkAgain(forks).catch((error) => this.on.said(error.message));
    return true;
  }

  clear() {
    if (this.name) this.line.send({ type: "leave", race: this.name });
    this.turn = (this.turn || 0) + 1;
    Object.assign(this, { racers: [], forks: [], waiting: [], name: null, teaching: false });
    this.on.cleared();
  }

  /** Show an example, as the teacher. */
  show(point) { this.line.send({ type: "show", race: this.name, racer: 0, point }); }

  /** Go on from a step of a lesson with one thing changed; a step before a branch began is one of the lesson it left. */
  async fork(branch, step, change) {
    if (!branch || branch.known) throw new Error("a lesson from a file can be played, not forked: race it anew");
    await this.forking; // those of a link have their numbers first
    const { number } = branch.ownerAt(step);
    const fork = { racer: number, step, change };
    await this.askForFork(fork);
    this.forks.push(fork);
  }

  askForFork({ racer, step, change }) {
    const own = step - this.racers[racer].offset;
    return this.line.ask({ type: "fork", race: this.name, racer, step: own, change });
  }

  /** Fork again what a link holds, one after the other, so that each has the number it had. */
  async forkAgain(forks) {
    const { name } = this;
    for (const [place, fork] of forks.entries()) {
      try {
        await this.reached(fork, this.request.racers.length + place);
        await this.askForFork(fork);
      } catch (error) {
        if (this.name === name) this.forks = forks.slice(0, place);
        throw error;
      }
    }
  }

  /** Wait until a lesson has come to the step at which a branch begins. */
  reached({ racer, step }, count) {
    const at = `step ${countText(step)} of lesson ${countText(racer + 1)}`;
    if (racer >= count) return Promise.reject(new Error(`this link holds a branch of lesson ${countText(racer + 1)}, which there is not`));
    return new Promise((resolve, reject) => {
      const look = () => {
        const parent = this.racers[racer];
        if (!parent || (parent.end < step && !parent.over)) return;
        this.waiting = this.waiting.filter((one) => one !== look);
        if (parent.end < step) reject(new Error(`this link holds a branch at ${at}, which ends at step ${countText(parent.end)}`));
        else if (step < parent.offset) reject(new Error(`this link holds a branch at ${at}, which begins at step ${countText(parent.offset)}`));
        else resolve();
      };
      this.waiting.push(look);
      look();
    });
  }

  /** Take a lesson from a file instead of a race. */
  take(recording) {
    this.clear();
    const racer = new PlayedLesson(0, recording);
    this.racers = [racer];
    this.on.racer(racer);
  }

  get isOver() { return this.racers.length > 0 && this.racers.every((racer) => racer.over); }
}
