// A kernel that is too wide for what was drawn: the page says so, and offers one that the forecast says will do.
import { post } from "./connection.js";
import { countText } from "./drawing.js";

const by = (id) => document.getElementById(id);

export class Narrowing {
  /** @param {(width: number) => void} onTake */
  constructor(onTake) {
    this.onTake = onTake;
    this.race = null; // which an offer is for
  }

  hide() {
    this.race = null;
    by("narrow").hidden = true;
  }

  /** Offer a narrower kernel where the first lesson did not come to its end: a wide one cannot follow a target that bends much. */
  async offer({ name, request, racers: [first] }, safe) {
    const { tol, itd, known, failed, taken, header } = first;
    const isSlow = !known && !failed && tol > 0 && itd === null;
    if (!isSlow || !safe || !header.rate || header.rate > safe * (1 + 1e-9) || this.race === name) return;
    this.race = name;
    const { racers: [racer], ...asked } = request;
    const { width, said } = await post("narrower", { ...asked, racer }).catch(() => ({}));
    if (this.race !== name || !width) return; // another race since
    by("narrow-text").textContent = `Lesson 1 did not reach the tolerance in ${countText(taken)} steps: the kernel may be too wide for this target.${said ? ` At width ${width} the forecast is ${said}.` : ""}`;
    by("do-narrow").textContent = `Take width ${width}`;
    by("do-narrow").onclick = () => this.onTake(width);
    by("narrow").hidden = false;
  }
}
