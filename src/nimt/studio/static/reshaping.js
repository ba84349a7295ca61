// Drag a curve where it is drawn: the target at any step, the learner's start at step 0.

const NEAR = 14; // pixels from a curve at which it can be taken
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

/** Return which curve of a stage lies under the pointer: "target", "start", or "" for none. */
export function curveAt({ view, racer }, step, { offsetX, offsetY }) {
  if (!view.order || !view.toY || racer.outputs > 1 || racer.header.pool.kind !== "grid") return "";
  const point = view.pointAt(offsetX, offsetY);
  const far = (values) => Math.abs(view.toY(values[point]) - offsetY);
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
  canvas.addEventListener("pointerdown", (event) => {
    const what = on.isFree() ? curveAt(stage, on.step(), event) : "";
    if (!what) return;
    canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
    on.begin();
    stage.reshaped = { what, point: stage.view.pointAt(event.offsetX, event.offsetY), values: null };
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!stage.reshaped) {
      canvas.classList.toggle("draggable", Boolean(on.isFree() && curveAt(stage, on.step(), event)));
      return;
    }
    stage.reshaped.values = bend(values(), stage.reshaped.point, stage.view.fromY(event.offsetY));
    on.change();
  });
  canvas.addEventListener("pointerup", () => {
    const { what, values: bent } = stage.reshaped || {};
    stage.reshaped = null;
    if (bent) on.done(what, bent);
  });
  canvas.addEventListener("pointercancel", () => { stage.reshaped = null; on.change(); });
}
