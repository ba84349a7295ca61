// What all pictures share: sharp canvases, colours from the style sheet, ticks, numbers as text.

const SIZES = new WeakMap(); // asking a canvas for its size at every frame would lay the page out again
const LISTENERS = [];
const watching = new ResizeObserver((entries) => {
  for (const { target, contentRect: { width, height } } of entries) SIZES.set(target, [width, height]);
  for (const act of LISTENERS) act();
});

/** Do something whenever a canvas that was drawn on has another size. */
export function onResize(act) { LISTENERS.push(act); }

/** The size of a canvas in CSS pixels. */
export function sizeOf(canvas) {
  if (!SIZES.has(canvas)) {
    SIZES.set(canvas, [canvas.clientWidth, canvas.clientHeight]);
    watching.observe(canvas);
  }
  return SIZES.get(canvas).map((length) => Math.max(1, length));
}

/** Make a canvas as sharp as the screen and return its context, in CSS pixels. */
export function fitted(canvas) {
  const ratio = Math.min(window.devicePixelRatio || 1, 2);
  const [width, height] = sizeOf(canvas);
  if (canvas.width !== Math.round(width * ratio) || canvas.height !== Math.round(height * ratio)) {
    canvas.width = Math.round(width * ratio);
    canvas.height = Math.round(height * ratio);
  }
  const context = canvas.getContext("2d");
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, width, height);
  return { context, width, height };
}

const COLOURS = new Map();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => COLOURS.clear());

/** Return a colour of the style sheet. */
export function colour(name) {
  if (!COLOURS.has(name)) COLOURS.set(name, getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim());
  return COLOURS.get(name);
}

/** Write a text, only where it is another: the same text written again would lay the page out again. */
export function write(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute, only where it is another. */
export function describeAs(element, text, attribute = "aria-label") {
  if (element.getAttribute(attribute) !== text) element.setAttribute(attribute, text);
}

const LETTERS = "system-ui, -apple-system, 'Segoe UI', Roboto, 'DejaVu Sans', sans-serif";
export const TEXT = { font: `12px ${LETTERS}`, scale: 1 };

/** Make the letters in pictures, and the room they need, so many times as large. */
export function setFont(scale) { Object.assign(TEXT, { font: `${Math.round(12 * scale)}px ${LETTERS}`, scale }); }

const FEWEST = 2; // numbers on an axis: one alone says nothing of its scale

/** Return round numbers within [low, high]. */
export function ticks(low, high, about = 5) {
  const span = high - low;
  if (!(span > 0) || !Number.isFinite(span)) return [];
  const found = multiples(low, high, about);
  return found.length < FEWEST ? multiples(low, high, 2 * about) : found;
}

function multiples(low, high, about) {
  const span = high - low;
  const rough = span / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
  const found = [];
  for (let k = Math.ceil(low / step); k * step <= high + step * 1e-9; k++) found.push(Number((k * step).toPrecision(12)));
  return found;
}

/**
 * Draw a grid of round numbers with named axes, and return how numbers become pixels and back.
 *
 * @param {object} sheet  of `fitted`
 * @param {object} box  left, right, top, bottom, in pixels
 * @param {object} x  of { from, to, name }, and y alike; y.isAbove writes its name above the box
 */
export function drawAxes({ context, height }, box, x, y) {
  const [wide, high] = [box.right - box.left, box.bottom - box.top];
  const toX = (value) => box.left + ((value - x.from) / (x.to - x.from)) * wide;
  const toY = (value) => clamp(box.bottom - ((value - y.from) / (y.to - y.from)) * high, -50, height + 50);
  context.font = TEXT.font;
  context.lineWidth = 1;
  context.strokeStyle = colour("line");
  context.fillStyle = colour("quiet");
  context.textBaseline = "middle";
  context.textAlign = "right";
  for (const value of ticks(y.from, y.to, Math.max(2, high / (50 * TEXT.scale)))) {
    context.beginPath();
    context.moveTo(box.left, toY(value));
    context.lineTo(box.right, toY(value));
    context.stroke();
    context.fillText(numberText(value), box.left - 7, toY(value));
  }
  context.textAlign = "center";
  const name = `${x.name} →`;
  // beside the numbers, where no curve crosses it, if it leaves most of them their room
  const isBeside = context.measureText(name).width < wide / 3;
  const free = isBeside ? box.right - context.measureText(name).width - 6 * TEXT.scale : Infinity;
  for (const value of ticks(x.from, x.to, Math.max(2, wide / (60 * TEXT.scale)))) {
    const text = numberText(value);
    if (toX(value) + context.measureText(text).width / 2 < free) context.fillText(text, toX(value), box.bottom + 14 * TEXT.scale);
  }
  context.textAlign = "right";
  context.fillText(name, box.right, box.bottom + (isBeside ? 14 : -8) * TEXT.scale);
  context.textAlign = "left";
  context.fillText(`↑ ${y.name}`, box.left + (y.isAbove ? 0 : 5), box.top + (y.isAbove ? -8 : 7) * TEXT.scale);
  const fromX = (px) => x.from + ((px - box.left) / wide) * (x.to - x.from);
  const fromY = (py) => y.from + ((box.bottom - py) / high) * (y.to - y.from);
  return { toX, toY, fromX, fromY };
}

/** Two numbers with some room on either side. */
export function widened([low, high], share = 0.04) { return [low - share * (high - low), high + share * (high - low)]; }

const DIGITS = new Intl.NumberFormat("en-US", { maximumFractionDigits: 12 });

/** Return a number as a person reads it: four digits, no long tails. */
export function numberText(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return "not a number";
  if (!Number.isFinite(value)) return value > 0 ? "infinite" : "minus infinite";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e-3 && size < 1e5) return DIGITS.format(Number(value.toPrecision(4)));
  const [digits, power] = value.toExponential(3).split("e");
  return `${Number(digits)}e${Number(power)}`;
}

export const countText = (value) => DIGITS.format(Math.round(value));

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

const PALETTES = {};
const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/** Return 256 colours as the 32-bit numbers that the pixels of a canvas are. */
export function paletteOf(name) {
  if (!PALETTES[name]) {
    const table = colourTable(name);
    PALETTES[name] = Uint32Array.from({ length: 256 }, (_, i) => wordOf(table.subarray(3 * i, 3 * i + 3)));
  }
  return PALETTES[name];
}

/** Return red, green and blue as one 32-bit number. */
export function wordOf([red, green, blue]) {
  return (LITTLE ? (255 << 24) | (blue << 16) | (green << 8) | red : (red << 24) | (green << 16) | (blue << 8) | 255) >>> 0;
}

/** A value within limits; what is no number is as large as can be. */
export const clamp = (value, low, high) => (value < low ? low : value > high ? high : value === value ? value : high);

/** |f - f*| at a point, the norm over outputs. */
export function gapAt(target, values, i, outputs) {
  if (outputs === 1) return Math.abs(values[i] - target[i]);
  let total = 0;
  for (let o = i * outputs; o < (i + 1) * outputs; o++) total += (values[o] - target[o]) ** 2;
  return Math.sqrt(total);
}

/** The output that is largest at a point, the first of equals. */
export function classAt(values, i, outputs) {
  let best = 0;
  for (let o = 1; o < outputs; o++) if (values[i * outputs + o] > values[i * outputs + best]) best = o;
  return best;
}

// of classes: those of nimt's figures
export const CLASSES = [
  [0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66],
  [51, 34, 136], [153, 153, 153], [136, 34, 85],
];

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
