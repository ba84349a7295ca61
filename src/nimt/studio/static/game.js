// Be the teacher: a few clicks against greedy, a goal, points for every click, and what a click would do before it.
import { countText, gapAt, numberText } from "./drawing.js";
import { furthest } from "./why.js";

/** The points of a click: 100 where the learner is furthest off, fewer where it is nearer to the target. */
export function pointsAt(you, step) {
  const values = you.valuesAt(step);
  const { gap } = furthest(values, you.target, you.outputs);
  return gap > 0 ? Math.round((100 * gapAt(you.target, values, you.shownAt(step)[0], you.outputs)) / gap) : 0;
}

/** What showing a point would add to f: a step of the square loss, which the game is played with. */
export function bumpAt(you, step, point) {
  if (!you.kernel || !you.header.rate) return null;
  const values = you.valuesAt(step);
  const size = you.outputs === 1 ? you.target[point] - values[point] : gapAt(you.target, values, point, you.outputs);
  const bump = new Float64Array(you.target.length / you.outputs);
  you.kernel.add(bump, point, [2 * you.header.rate * size], 0, 1);
  return bump;
}

/** The request of a game on the problem of a form. */
export function requestOf(request, { rate, goal, steps }) {
  const racers = ["you", "greedy"].map((teacher) => ({ teacher, k: 1, rate }));
  return { ...request, rules: { ...request.rules, loss: "square", tol: goal, steps }, racers };
}

const clicks = (count) => (count === 1 ? "1 click" : `${countText(count)} clicks`);

/** How the game stands, in words. */
export function score([you, greedy], { goal, greedy: needed, steps }, isEnd) {
  if (!you.taken) {
    return `Show the learner ${countText(steps)} examples at most, and bring M below ${numberText(goal)}: greedy needs ${countText(needed)}. Where is it furthest off? The dotted line is what a click will do.`;
  }
  const points = Array.from({ length: you.taken }, (_, step) => pointsAt(you, step));
  const total = points.reduce((sum, one) => sum + one, 0);
  const mine = numberText(you.discrepancyAt(you.taken));
  if (!isEnd) {
    const theirs = numberText(greedy.discrepancyAt(Math.min(you.taken, greedy.end)));
    return `Click ${countText(you.taken)} of ${countText(steps)}: ${countText(points.at(-1))} of 100 points. M = ${mine}, greedy ${theirs}, the goal ${numberText(goal)}.`;
  }
  const won = you.itd === null ? `The goal was not reached in ${clicks(you.taken)}: M = ${mine} instead of ${numberText(goal)}.`
    : `You reached the goal in ${clicks(you.itd)}${you.itd < needed ? ", and beat greedy!" : you.itd === needed ? ", as fast as greedy!" : "."}`;
  return `The end. ${won} Greedy needs ${countText(needed)}. On average ${countText(Math.round(total / you.taken))} of 100 points per click.`;
}
