// The teachers of a race: one card each, with the learning rate, its safe bound, and the forecast.
import { numberText } from "./drawing.js";

const by = (id) => document.getElementById(id);
const RATES = [-4, 1]; // powers of ten at the ends of the slider
const MOST = 4;

const USUAL = { teacher: "greedy", k: 1, share: null, learner: "kernel" };

/** What can be chosen, as the server lists it: ways (of { says, title, request }), losses, kernels. */
export const LISTS = JSON.parse(by("lists").textContent);

/** The way of teaching that a request is, one of the list where it is there. */
export function wayOf(request) {
  const same = (way) => Object.keys(USUAL).every((name) => (way.request[name] ?? USUAL[name]) === (request[name] ?? USUAL[name]));
  const { rate, ...own } = request;
  if (!LISTS.ways.some((way) => way.request.teacher === request.teacher)) return LISTS.ways[0]; // a person, of a link
  return LISTS.ways.find(same) || { says: sayWay(request), title: "", request: own };
}

/** A way of teaching in a few words. */
export function sayWay({ teacher, k = 1, share, learner }) {
  const packs = k === "whole" ? ", whole pool" : k > 1 ? `, packs of ${k}` : `, packs of ${100 * k} %`;
  const who = learner && learner !== USUAL.learner ? `${teacher}, ${learner}` : teacher;
  return `${who}${k === 1 ? "" : packs}${share ? `, pool ${Math.round(100 * share)} %` : ""}`;
}

const make = (tag, more = {}) => Object.assign(document.createElement(tag), more);

export class Teachers {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    this.list = [];
    this.take("greedy", "random");
    this.safe = null; // the largest rate at which no step overshoots, null for a loss that has none
    by("add-racer").addEventListener("click", () => {
      const free = LISTS.ways.find((way) => !this.list.some((one) => one.way === way));
      this.list.push({ way: free || LISTS.ways[0], rate: this.list[0].rate });
      this.draw();
      onChange();
    });
  }

  /** Let these race, by their names. */
  take(...names) { this.list = names.map((teacher) => ({ way: wayOf({ teacher }), rate: 0.5 })); }

  requestOf({ way, rate }) { return { ...way.request, rate }; }

  requests() { return this.list.map((one) => this.requestOf(one)); }

  /** Take the teachers of a race. */
  fill(requests) {
    this.list = requests.slice(0, MOST).map((one) => ({ way: wayOf(one), rate: Number(one.rate) || 0.5 }));
  }

  draw() {
    by("racers").replaceChildren(...this.list.map((racer, i) => this.card(racer, i)));
    by("add-racer").disabled = this.list.length >= MOST;
  }

  card(racer, i) {
    const item = make("li");
    item.style.setProperty("--mine", `var(--racer-${i + 1})`);
    const head = make("div", { className: "head" });
    const select = make("select", { title: racer.way.title });
    select.setAttribute("aria-label", `teacher ${i + 1}`);
    const ways = LISTS.ways.includes(racer.way) ? LISTS.ways : [...LISTS.ways, racer.way];
    for (const way of ways) select.add(Object.assign(new Option(way.says, way.says, false, way === racer.way), { title: way.title }));
    select.onchange = () => { Object.assign(racer, { way: ways[select.selectedIndex], forecast: "" }); this.draw(); this.onChange(); };
    const remove = make("button", { textContent: "×", disabled: this.list.length < 2, title: "leave this teacher out" });
    remove.setAttribute("aria-label", `leave teacher ${i + 1} out`);
    remove.onclick = () => { this.list.splice(i, 1); this.draw(); this.onChange(); };
    head.append(make("b", { textContent: i + 1 }), select, remove);
    item.append(head, ...((racer.way.request.learner ?? USUAL.learner) !== USUAL.learner ? [this.note()] : this.rateRow(racer, i)));
    return item;
  }

  note() { return make("p", { className: "rate-foot", textContent: "fits every example it was shown: it has no learning rate" }); }

  rateRow(racer, i) {
    const label = make("label", { textContent: "learning rate" });
    const row = make("div", { className: "rate" });
    const slider = make("input", { type: "range", min: RATES[0], max: RATES[1], step: 0.01, value: Math.log10(racer.rate) });
    const field = make("input", { type: "number", value: racer.rate, min: 0, step: "any" });
    slider.setAttribute("aria-label", `learning rate of teacher ${i + 1}`);
    field.setAttribute("aria-label", `learning rate of teacher ${i + 1}, as a number`);
    const foot = make("p", { className: "rate-foot" });
    const say = () => {
      const over = this.safe && racer.rate > this.safe * (1 + 1e-9);
      foot.textContent = over ? `above the safe bound ${numberText(this.safe)}: steps overshoot`
        : racer.forecast || (this.safe ? `safe up to ${numberText(this.safe)}` : "this loss has no safe bound");
      foot.classList.toggle("over", Boolean(over));
      slider.setAttribute("aria-valuetext", `${racer.rate}, ${foot.textContent}`);
    };
    const take = (rate) => { Object.assign(racer, { rate, forecast: "" }); say(); };
    slider.oninput = () => { take(Number((10 ** slider.value).toPrecision(3))); field.value = racer.rate; };
    slider.onchange = () => this.onChange();
    field.onchange = () => { take(Number(field.value) > 0 ? Number(field.value) : racer.rate); slider.value = Math.log10(racer.rate); this.onChange(); };
    row.append(slider, field);
    if (this.safe) row.append(this.bound());
    racer.note = say; // a forecast that comes later is written here, and nothing else is touched
    say();
    return [label, row, foot];
  }

  /** The mark of the safe bound on the slider, under the middle of a thumb at that rate. */
  bound() {
    const bound = make("span", { className: "bound", title: "the largest safe rate" });
    const share = Math.max(0, Math.min(1, (Math.log10(this.safe) - RATES[0]) / (RATES[1] - RATES[0])));
    bound.style.setProperty("--share", share);
    return bound;
  }
}
