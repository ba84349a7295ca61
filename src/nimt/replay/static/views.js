// A pool as a picture: curves, pixels, classes on a plane, dots, or prediction against truth.
import { ConfusionView } from "./confusion.js";
import { CurveView } from "./curves.js";
import { AgreementView, PointsView } from "./dots.js";
import { rangeOf } from "./drawing.js";
import { BoundaryView, ClassesView, PictureView } from "./pictures.js";

/** Return the view that fits a pool: it draws f on a canvas, and says which point lies under the pointer. */
export function viewOf(canvas, { view, pool, points, outputs = 1 }, target, initial) {
  const scene = { canvas, view, pool, points, outputs, target, limits: rangeOf(target, initial) };
  const [low, high] = scene.limits;
  if (outputs === 3 && low >= 0 && high <= 1) scene.limits = [0, 1]; // a colour picture looks as it is
  if (pool.kind === "grid" && pool.shape.length === 1) return new CurveView({ ...scene, filled: view === "boundary" });
  if (view === "curve") return new CurveView(scene);
  if (view === "picture" || view === "map") return new PictureView({ ...scene, table: view === "map" ? "map" : "grey" });
  if (view === "boundary") return new BoundaryView(scene);
  if (view === "classes" && pool.kind === "grid") return new ClassesView(scene);
  if (view === "points" || view === "classes") return new PointsView({ ...scene, classes: view === "classes" || pool.classes?.length > 2 });
  if (pool.classes?.length > 1 && pool.classes.length === Math.max(2, outputs)) return new ConfusionView(scene);
  return new AgreementView(scene);
}
