// Time: one clock for all lessons of a race, its buttons, and the curve of M as a time line.
import { Clock, SPEEDS, affordable, speedAt } from "./clock.js";
import { addButtons, showPlaying, speedText } from "./controls.js";
import { colour, countText, describeAs, numberText, write } from "./drawing.js";
import { TimeLine } from "./timeline.js";

const by = (id) => document.getElementById(id);

export class RaceTime {
  /**
   * @param {Race} race
   * @param {() => void} onChange  called whenever something is to be drawn
   * @param {() => void} onSeek  called when a person goes to a place
   */
  constructor(race, onChange, onSeek) {
    this.race = race;
    this.onSeek = onSeek;
    this.selected = 0;
    this.alone = false; // whether the clock is that of the first lesson, which a person teaches
    this.clicks = 0; // that this person has, so that the time line has its length from the first one on
    this.clock = new Clock(onChange);
    this.clock.moved = (steps) => this.moved(steps);
    this.clock.limit = (place) => affordable(this.clock.place, place, this.workTo(place), this.clock.inStills);
    this.timeline = new TimeLine(by("timeline"), (place) => this.seek(place));
    this.timeline.isRace = true;
    addButtons(by("buttons"), this.clock);
    by("speed").addEventListener("input", (event) => { this.chosen = true; this.clock.speed = SPEEDS[event.target.value]; onChange(); });
    by("scrub").addEventListener("input", (event) => this.seek(Number(event.target.value)));
    by("clock").addEventListener("change", () => this.changeClock());
  }

  /** What the clock counts: steps, examples or seconds. */
  get kind() { return by("clock").value; }

  get racers() { return this.race.racers.filter(Boolean); }

  get current() { return this.race.racers[this.selected]; }

  /** Look how long the lessons are by now. */
  measure() {
    const alone = this.alone ? this.racers.slice(0, 1) : this.racers; // greedy waits for the person
    const { clock } = this;
    const before = clock.end;
    clock.end = Math.max(0, ...alone.map((racer) => racer.toPlace(racer.end, this.kind)));
    const steps = Math.max(1, ...this.racers.map((racer) => racer.end));
    clock.scale = this.kind === "steps" ? 1 : clock.end / steps || 1;
    clock.waiting = !this.alone && this.racers.some((racer) => !racer.over);
    if (clock.place > clock.end && before > 0) clock.place = clock.end;
  }

  reset() {
    this.selected = 0;
    this.clock.pause();
    Object.assign(this.clock, { place: 0, end: 0 });
  }

  /** Take the speed that shows most, unless a person chose one. */
  takeUsualSpeed() {
    const [first] = this.racers;
    if (this.chosen || !first) return;
    const isPast = first.over && this.clock.place >= first.toPlace(first.end, this.kind);
    this.clock.speed = speedAt(this.stepOf(first), first, Math.max(...this.racers.map((racer) => racer.end)), isPast);
    by("speed").value = SPEEDS.indexOf(this.clock.speed);
  }

  stepOf(racer, place = this.clock.place) { return racer.fromPlace(place, this.kind); }

  workTo(place) {
    return this.racers.reduce((sum, racer) => sum + racer.work(this.stepOf(racer, place)), 0);
  }

  /** The place so many steps of the selected lesson from here. */
  moved(steps) {
    const racer = this.current;
    return racer ? racer.toPlace(Math.max(0, this.stepOf(racer) + steps), this.kind) : 0;
  }

  seek(place, quietly = false) {
    this.clock.pause();
    this.clock.seek(this.kind === "seconds" ? place : Math.round(place));
    if (!quietly) this.onSeek();
  }

  /** Stay at the same step of the selected lesson on another clock. */
  changeClock() {
    const racer = this.current;
    const step = racer ? racer.fromPlace(this.clock.place, this.lastKind || "steps") : 0;
    this.lastKind = this.kind;
    this.measure();
    this.clock.seek(racer ? racer.toPlace(step, this.kind) : 0);
  }

  draw(inkOf) {
    const { clock, timeline, kind } = this;
    this.takeUsualSpeed();
    const text = kind === "seconds" ? numberText : countText;
    const longest = this.alone && kind !== "seconds" ? Math.max(clock.end, this.clicks) : clock.end;
    const [unit, end] = [text(kind === "seconds" ? clock.place : clock.now), text(longest)]; // a step is there when it is drawn
    write(by("place-text"), `${kind === "steps" ? "step" : kind} ${unit} of ${end}`);
    write(by("speed-text"), speedText(clock));
    showPlaying(by("play"), clock);
    const scrub = by("scrub");
    describeAs(scrub, kind === "seconds" ? "any" : "1", "step");
    describeAs(scrub, String(longest), "max");
    scrub.value = clock.place;
    describeAs(scrub, `${kind} ${unit} of ${end}`, "aria-valuetext");
    Object.assign(timeline, { end: longest || 1, unit: kind, tol: this.race.racers[0]?.tol, place: clock.place });
    timeline.series = this.racers.map((racer) => racer.series(kind, colour(inkOf(racer.number))));
    timeline.draw();
  }
}
