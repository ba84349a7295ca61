// Drag a curve, or a point, where it is drawn: the target at any step, the learner's start at step 0.

const NEAR = 14; // pixels from a curve at which it can be taken
const FULL = 150; // pixels, by which a dot of a plane is dragged from the lowest to the highest value
const WIDE = 50; // of so many parts of the curve one is bent on either side

const rounded = (value) => Number(value.toPrecision(4)) || 0;

/** Bend values around a point, so that the value there is the height. */
export function bend(values, point, height) {
  const bent = Array.from(values);
  const width = Math.max(1, values.length / WIDE);
  for (let i = Math.max(0, Math.floor(point - 4 * width)); i <= Math.min(values.length - 1, point + 4 * width); i++) {
    bent[i] = rounded(values[i] + Math.exp(-(((i - point) / width) ** 2)) * (height - values[point]));
  }
  return bent;
}

/** Whether a lesson is drawn so that its target can be dragged: one output, as a curve or as points of a plane. */
export function canBeDragged({ view, racer }) {
  const { pool, view: kind } = racer.header;
  return racer.outputs === 1 && (Boolean(view.order) || (kind === "points" && pool.kind === "points" && !view.classes));
}

/** Return what of a stage lies under the pointer: "target", "start", or "" for none. */
export function curveAt(stage, step, { offsetX, offsetY }) {
  const { view, racer } = stage;
  if (!view.toY || !canBeDragged(stage)) return "";
  const point = view.pointAt(offsetX, offsetY);
  if (!view.order) return Math.hypot(view.toX(point) - offsetX, view.toY(point) - offsetY) > NEAR ? "" : "target";
  const across = racer.header.pool.kind === "points" ? view.toX(view.x[point]) - offsetX : 0;
  const far = (values) => Math.hypot(across, view.toY(values[point]) - offsetY);
  const [target, start] = [far(racer.target), step === 0 ? far(racer.initial) : Infinity];
  if (Math.min(target, start) > NEAR) return "";
  return start < target ? "start" : "target";
}

/**
 * Let the curves of a stage be dragged.
 *
 * @param {Stage} stage
 * @param {object} on  isFree(): whether a drag means this; step(): what is shown; begin(); change(); done(what, values)
 */
export function makeReshapable(stage, on) {
  const { canvas } = stage;
  const values = () => (stage.reshaped.what === "target" ? stage.racer.target : stage.racer.initial);
  /** What the values are while the pointer is there: a dot of a plane has no height, so that upwards means more. */
  const dragged = ({ offsetY }) => {
    const { view, racer, reshaped: { point, from } } = stage;
    const [low, high] = view.limits;
    const height = view.order ? view.fromY(offsetY) : values()[point] + ((from - offsetY) / FULL) * (high - low);
    if (racer.header.pool.kind === "grid") return bend(values(), point, height);
    return Array.from(values(), (value, i) => rounded(i === point ? height : value));
  };
  canvas.addEventListener("pointerdown", (event) => {
    const what = on.isFree() ? curveAt(stage, on.step(), event) : "";
    if (!what) return;
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
    on.begin();
    stage.reshaped = { what, point: stage.view.pointAt(event.offsetX, event.offsetY), from: event.offsetY, values: null };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stage.reshaped) {
      canvas.classList.toggle("draggable", Boolean(on.isFree() && curveAt(stage, on.step(), event)));
      return;
    }
    stage.reshaped.values = dragged(event);
    on.change();
  });
  canvas.addEventListener("pointerup", () => {
    const { what, values: bent } = stage.reshaped || {};
    stage.reshaped = null;
    if (bent) on.done(what, bent);
  });
  canvas.addEventListener("pointercancel", () => { stage.reshaped = null; on.change(); });
}
