// A poke: the target changed around a point, in the middle of a lesson.

/** The mean over outputs at a point. */
function meanAt(values, point, outputs) {
  let total = 0;
  for (let o = 0; o < outputs; o++) total += values[point * outputs + o];
  return total / outputs;
}

/**
 * Return the changes of the target as [point, value]: a bump of a curve towards a height, a square of a picture from
 * dark to bright or back, one point of any other pool.
 */
export function changesAt(racer, view, { point, value }) {
  const { target, header: { pool } } = racer;
  if (pool.kind === "grid" && pool.shape.length === 1) return bump(target, point, value);
  const [low, high] = view.limits;
  const other = meanAt(target, point, racer.outputs) > (low + high) / 2 ? low : high;
  if (pool.kind !== "grid") return [[point, other]];
  const [rows, columns] = pool.shape;
  const radius = Math.max(1, Math.round(Math.min(rows, columns) / 24));
  const [row, column] = [Math.floor(point / columns), point % columns];
  const changes = [];
  for (let r = Math.max(0, row - radius); r <= Math.min(rows - 1, row + radius); r++) {
    for (let c = Math.max(0, column - radius); c <= Math.min(columns - 1, column + radius); c++) changes.push([r * columns + c, other]);
  }
  return changes;
}

function bump(target, point, height) {
  const changes = [];
  const width = Math.max(2, Math.round(target.length / 60));
  for (let i = Math.max(0, point - 3 * width); i <= Math.min(target.length - 1, point + 3 * width); i++) {
    const share = Math.exp(-(((i - point) / width) ** 2));
    changes.push([i, target[i] + share * (height - target[point])]);
  }
  return changes;
}
