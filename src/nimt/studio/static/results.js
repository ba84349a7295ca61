// How the lessons stand: a table, and the same in sentences.
import { countText, numberText, write } from "./drawing.js";

/** The colour of a lesson; a branch has the colour of its number, and its own dashes. */
export function inkOf(number) { return `racer-${(number % 4) + 1}`; }

/** The step at which a lesson reached the tolerance, null where it has not come so far at this step. */
const reachedAt = (racer, step) => (racer.itd === null || racer.offset + racer.itd > step ? null : racer.offset + racer.itd);

/** The lessons in the order in which they reached the tolerance, then those that have not yet, the nearest to the target first. */
export function ahead(rows) {
  const reached = ({ racer, step }) => reachedAt(racer, step) ?? Infinity;
  const key = (row) => [reached(row), Number.isNaN(row.m) ? Infinity : row.m];
  const compare = (one, other) => (one === other ? 0 : one < other ? -1 : 1); // Infinity - Infinity is no number
  return rows.map(({ racer, step }) => ({ racer, step, m: racer.discrepancyAt(step) }))
    .sort((a, b) => compare(key(a)[0], key(b)[0]) || compare(key(a)[1], key(b)[1]));
}

export class Results {
  constructor(table) {
    this.head = table.createTHead().insertRow();
    this.body = table.createTBody();
  }

  /** @param {object[]} rows  of { racer, step }, one for each lesson */
  draw(rows) {
    const sorted = ahead(rows);
    const held = rows.map(({ racer, step }) => racer.heldOutAt(step)).find(Boolean);
    this.nameColumns(["lesson", "M now", "examples", "ITD", ...(held ? ["held out"] : [])]);
    const lines = sorted.map(({ racer, step, m }) => {
      const at = reachedAt(racer, step);
      const itd = at !== null ? countText(at) : racer.over && step >= racer.end ? "not reached" : "…";
      return [`${racer.number + 1} ${racer.name}`, numberText(m), countText(racer.toPlace(step, "examples")), itd, ...(held ? [racer.heldOutAt(step)?.text ?? "·"] : [])];
    });
    while (this.body.rows.length > lines.length) this.body.deleteRow(-1);
    lines.forEach((cells, i) => {
      const row = this.body.rows[i] || this.newRow();
      cells.forEach((text, column) => write(column ? row.cells[column] : row.cells[0].lastChild, text));
      const ink = `var(--${inkOf(sorted[i].racer.number)})`;
      if (row.style.getPropertyValue("--mine") !== ink) row.style.setProperty("--mine", ink);
    });
  }

  /** Name the columns; where there are others than before, begin anew. */
  nameColumns(names) {
    if (this.head.cells.length === names.length) return;
    this.head.replaceChildren(...names.map((textContent) => Object.assign(document.createElement("th"), { textContent })));
    this.body.replaceChildren();
  }

  newRow() {
    const row = this.body.insertRow();
    const name = document.createElement("th");
    name.append(Object.assign(document.createElement("span"), { className: "swatch" }), document.createElement("span"));
    row.append(name);
    for (let column = 1; column < this.head.cells.length; column++) row.insertCell();
    return row;
  }
}

/** Where every lesson stands, in words. */
export function standing(rows) {
  const one = ({ racer, step }) => `${racer.name}: M = ${numberText(racer.discrepancyAt(step))} at step ${countText(step)}`;
  return rows.length ? `${rows.map(one).join("; ")}.` : "";
}
