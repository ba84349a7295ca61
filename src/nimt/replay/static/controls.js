// The buttons of time, the same on every page that plays lessons.
import { describeAs, write } from "./drawing.js";

const BUTTONS = [
  ["to-start", "|◀", "To the start", "Home", (clock) => { clock.pause(); clock.seek(0); }],
  ["play-back", "◀", "Play backwards", "shift + space", (clock) => clock.toggle(-1)],
  ["step-back", "−1", "One step back", "left arrow; with shift 100", (clock) => clock.move(-1)],
  ["play", "▶", "Play", "space", (clock) => clock.toggle(1)],
  ["step", "+1", "One step on", "right arrow; with shift 100", (clock) => clock.move(1)],
  ["to-end", "▶|", "To the end", "End", (clock) => { clock.pause(); clock.seek(clock.end); }],
];

/** Fill a place with the buttons that move a clock. */
export function addButtons(place, clock) {
  for (const [id, textContent, name, key, act] of BUTTONS) {
    const button = Object.assign(document.createElement("button"), { id, textContent, title: `${name} (${key})` });
    button.setAttribute("aria-label", name);
    button.classList.toggle("main", id === "play");
    button.addEventListener("click", () => act(clock));
    place.append(button);
  }
}

/** Let the main button say what it will do. */
export function showPlaying(button, clock) {
  write(button, clock.playing && clock.direction > 0 ? "❚❚" : "▶");
  describeAs(button, clock.playing ? "Pause" : "Play");
}

/** Say how fast it goes, and when a page cannot go that fast. */
export function speedText(clock) {
  const held = clock.playing && clock.held ? ", as fast as this page can" : "";
  const speed = Math.round(clock.speed);
  return `${speed.toLocaleString("en-US")} ${speed === 1 ? "step" : "steps"}/s${clock.inStills ? " in stills" : ""}${held}`;
}
