// The teachers of a race: one card each, with the learning rate, its safe bound, and the forecast.

const by = (id) => document.getElementById(id);
const RATES = [-4, 1]; // powers of ten at the ends of the slider
const MOST = 4;

const PRESETS = {
  greedy: { says: "greedy", request: { teacher: "greedy", k: 1 } },
  random: { says: "random", request: { teacher: "random", k: 1 } },
  soft: { says: "soft (between the two)", request: { teacher: "soft", k: 1, temperature: 0.1 } },
  synthesis: { says: "synthesis (makes labels)", request: { teacher: "synthesis", k: 1 } },
  packs: { says: "greedy, packs of 5 %", request: { teacher: "greedy", k: 0.05 } },
  whole: { says: "the whole pool", request: { teacher: "greedy", k: "whole" } },
  limited: { says: "greedy from half the pool", request: { teacher: "greedy", k: 1, share: 0.5 } },
  orthogonal: { says: "greedy, orthogonal learner", request: { teacher: "greedy", k: 1, learner: "orthogonal" } },
};

const make = (tag, more = {}) => Object.assign(document.createElement(tag), more);

export class Teachers {
  /** @param {() => void} onChange */
  constructor(onChange) {
    this.onChange = onChange;
    this.list = [{ preset: "greedy", rate: 0.01 }, { preset: "random", rate: 0.01 }];
    this.safe = null; // the largest rate at which no step overshoots, null for a loss that has none
    by("add-racer").addEventListener("click", () => {
      const free = Object.keys(PRESETS).find((name) => !this.list.some((one) => one.preset === name));
      this.list.push({ preset: free || "random", rate: this.list[0].rate });
      this.draw();
      onChange();
    });
  }

  requestOf({ preset, rate }) { return { ...PRESETS[preset].request, rate }; }

  requests() { return this.list.map((one) => this.requestOf(one)); }

  /** Take the teachers of a race. */
  fill(requests) {
    this.list = requests.slice(0, MOST).map((one) => ({ preset: presetOf(one), rate: Number(one.rate) || 0.01 }));
  }

  draw() {
    by("racers").replaceChildren(...this.list.map((racer, i) => this.card(racer, i)));
    by("add-racer").disabled = this.list.length >= MOST;
  }

  card(racer, i) {
    const item = make("li");
    item.style.setProperty("--mine", `var(--racer-${i + 1})`);
    const head = make("div", { className: "head" });
    const select = make("select", { title: "teacher" });
    select.setAttribute("aria-label", `teacher ${i + 1}`);
    for (const [name, { says }] of Object.entries(PRESETS)) select.add(new Option(says, name, false, name === racer.preset));
    select.onchange = () => { racer.preset = select.value; racer.forecast = ""; this.draw(); this.onChange(); };
    const remove = make("button", { textContent: "×", disabled: this.list.length < 2, title: "leave this teacher out" });
    remove.setAttribute("aria-label", `leave teacher ${i + 1} out`);
    remove.onclick = () => { this.list.splice(i, 1); this.draw(); this.onChange(); };
    head.append(make("b", { textContent: i + 1 }), select, remove);
    item.append(head, ...(racer.preset === "orthogonal" ? [this.note()] : this.rateRow(racer, i)));
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
      foot.textContent = over ? `above the safe bound ${Number(this.safe.toPrecision(3))}: steps overshoot`
        : racer.forecast || (this.safe ? `safe up to ${Number(this.safe.toPrecision(3))}` : "this loss has no safe bound");
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

function presetOf(request) {
  if (request.learner === "orthogonal") return "orthogonal";
  if (request.teacher !== "greedy") return request.teacher in PRESETS ? request.teacher : "greedy";
  if (request.share) return "limited";
  if (request.k === "whole") return "whole";
  return request.k === 1 ? "greedy" : "packs";
}
