// Time: where we are, how fast we go, and in which direction.

const LONGEST_GAP = 0.1; // seconds: after a pause of the browser the lesson goes on, it does not jump
const STILL = 0.5; // seconds that a picture stands still for those who want less motion

const lessMotion = matchMedia("(prefers-reduced-motion: reduce)");

export class Clock {
  /** @param {() => void} onTick  called whenever the place changed */
  constructor(onTick) {
    this.onTick = onTick;
    this.place = 0;
    this.end = 0;
    this.speed = 100; // steps per second
    this.direction = 1;
    this.playing = false;
    this.loops = false; // whether it begins again at the end
    this.scale = 1; // of one step, on a clock that counts something else
    this.moved = (steps) => this.now + steps;
    this.limit = (place) => place; // how far a page comes until the next picture is due
    this.held = false; // whether it comes less far than the speed asks for
  }

  /** Whether playing shows stills instead of motion: as fast through the lesson, two pictures per second. */
  get inStills() { return lessMotion.matches; }

  get now() { return Math.floor(this.place + 1e-9); }

  seek(place) {
    this.place = Math.max(0, Math.min(place, this.end));
    this.onTick();
  }

  move(steps) {
    this.pause();
    this.seek(this.moved(steps));
  }

  play(direction = 1) {
    this.direction = direction;
    if (direction > 0 && this.place >= this.end && !this.waiting) this.place = 0;
    if (direction < 0 && this.place <= 0) this.place = this.end;
    this.playing = true;
    this.latest = undefined;
    if (!this.asked) this.asked = requestAnimationFrame((time) => this.tick(time));
    this.onTick();
  }

  pause() {
    this.playing = false;
    this.onTick();
  }

  toggle(direction = 1) {
    if (this.playing && this.direction === direction) this.pause();
    else this.play(direction);
  }

  tick(time) {
    this.asked = 0;
    if (!this.playing) return;
    const since = this.latest === undefined ? 0 : (time - this.latest) / 1000;
    if (this.inStills && this.latest !== undefined && since < STILL) {
      this.asked = requestAnimationFrame((next) => this.tick(next));
      return;
    }
    const passed = Math.min(since, this.inStills ? STILL + LONGEST_GAP : LONGEST_GAP);
    this.latest = time;
    const next = Math.max(0, Math.min(this.place + this.direction * this.speed * this.scale * passed, this.end));
    this.place = this.direction > 0 ? this.limit(next) : next;
    this.held = this.place < next && this.direction > 0;
    const over = this.direction > 0 ? this.place >= this.end : this.place <= 0;
    if (over) {
      this.place = this.direction > 0 ? this.end : 0;
      // a lesson still being taught is waited for
      if (this.loops && this.direction > 0) this.place = 0;
      else if (!(this.direction > 0 && this.waiting)) this.playing = false;
    }
    this.onTick();
    if (this.playing && !this.asked) this.asked = requestAnimationFrame((next) => this.tick(next));
  }
}

const FRAME_WORK = 1.2e7; // additions between two pictures, so that there are 30 of them per second

/** Return how far towards a place one comes with the work that fits between two pictures. */
export function affordable(from, to, work, inStills = false) {
  const most = inStills ? 10 * FRAME_WORK : FRAME_WORK;
  return work <= most ? to : from + ((to - from) * most) / work;
}

/** Call a function at once; for those who want less motion, later and once for all calls until then. */
export function calmly(act) {
  let later = null;
  return () => {
    if (!lessMotion.matches) { act(); return; }
    later ??= setTimeout(() => { later = null; act(); }, 1000 * STILL);
  };
}

export const SPEEDS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];

/** Return the speed that plays so many steps in about so many seconds. */
export function usualSpeed(steps, seconds = 12) {
  const far = (speed) => Math.abs(Math.log(speed / (Math.max(1, steps) / seconds)));
  return SPEEDS.reduce((best, speed) => (far(speed) < far(best) ? speed : best));
}

const EARLY = 1 / 8; // of M at the start: most of what can be seen has happened by then

/** Return the first step from a place on at which a curve of M has come to an eighth of its start, null where none has. */
export function findEarlyEnd(values, from = 0) {
  for (let t = from; t < values.length; t++) if (values[t] <= EARLY * values[0]) return t;
  return null;
}

/**
 * Return the speed at a step while the first lesson is played in about twelve seconds, half of them for its early steps, in which
 * most is seen to change, and what others take longer in about six.
 */
export function speedAt(step, { early, end }, longest, isPast) {
  const isQuick = early > 0 && 2 * early < end;
  const later = isQuick ? usualSpeed(end - early, 6) : usualSpeed(end);
  if (isPast) return Math.max(later, usualSpeed(longest - end, 6));
  return isQuick && step < early ? usualSpeed(early, 6) : later;
}

/** Whether a page may begin to play by itself. */
export const playsByItself = () => !lessMotion.matches;
