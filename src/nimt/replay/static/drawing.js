// What all pictures share: sharp canvases, colours from the style sheet, ticks, numbers as text.

/** Make a canvas as sharp as the screen and return its context, in CSS pixels. */
export function fitted(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const width = Math.max(1, canvas.clientWidth);
  const height = Math.max(1, canvas.clientHeight);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

/** Return a colour of the style sheet. */
export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
}

export const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";

/** Return round numbers within [low, high]. */
export function ticks(low, high, about = 5) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/** Return a number as a person reads it: four digits, no long tails. */
export function numberText(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "minus infinite";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return String(Number(value.toPrecision(4)));
  const [digits, power] = value.toExponential(3).split("e");
  return `${Number(digits)}e${Number(power)}`;
}

export const countText = (value) => Math.round(value).toLocaleString("en-US");

/** Return the smallest and largest finite number of some arrays. */
export function rangeOf(...arrays) {
  let low = Infinity;
  let high = -Infinity;
  for (const array of arrays) {
    for (const value of array) {
      if (value < low && value > -Infinity) low = value;
      if (value > high && value < Infinity) high = value;
    }
  }
  if (!(low <= high)) return [0, 1];
  return low === high ? [low - 0.5, high + 0.5] : [low, high];
}

const STOPS = {
  // value from 0 to 1 to red, green, blue; each can be told apart in grey too
  grey: [[16, 16, 18], [250, 250, 248]],
  error: [[13, 8, 40], [84, 15, 109], [187, 55, 84], [249, 142, 9], [252, 255, 164]],
  map: [[33, 72, 130], [91, 149, 201], [236, 236, 232], [226, 150, 85], [152, 63, 14]],
};
const TABLES = {};

/** Return 256 colours as one array of red, green, blue. */
export function colourTable(name) {
  if (!TABLES[name]) {
    const stops = STOPS[name];
    TABLES[name] = new Uint8ClampedArray(768);
    for (let i = 0; i < 256; i++) {
      const place = (i / 255) * (stops.length - 1);
      const first = Math.min(Math.floor(place), stops.length - 2);
      for (let c = 0; c < 3; c++) {
        TABLES[name][3 * i + c] = stops[first][c] + (place - first) * (stops[first + 1][c] - stops[first][c]);
      }
    }
  }
  return TABLES[name];
}

/** Draw a ring that can be seen on anything; the runner-up's is a square, so that colour is not needed. */
export function ring(context, x, y, radius, kind = "winner", ink = "#D55E00") {
  for (const [width, style] of [[4, "rgba(255,255,255,.95)"], [2, ink]]) {
    context.lineWidth = width;
    context.strokeStyle = style;
    context.beginPath();
    if (kind === "winner") context.arc(x, y, radius, 0, 2 * Math.PI);
    else context.rect(x - radius, y - radius, 2 * radius, 2 * radius);
    context.stroke();
  }
}
