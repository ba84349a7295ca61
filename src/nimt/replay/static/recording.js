// A recorded lesson: f at any step, forwards and backwards, exactly as the library computed it.
//
// A step adds c * K(., x) for each example x it showed. The same additions in the same order give the same numbers, so
// going backwards means going forwards again from a kept frame: nothing is ever subtracted.

const ONE_SEEK = 4e6; // additions a seek may cost: a few milliseconds

/** K on a grid: one window of offsets, kept as runs along the last axis. */
export class WindowKernel {
  constructor({ shape, lead, first, start, weights }) {
    Object.assign(this, { shape, lead, first, start, weights });
    this.axes = shape.length;
    this.cells = weights.length;
    this.place = new Int32Array(this.axes);
  }

  /** values[.., o] += coefficients[at + o] * K(., point), for every output o. */
  add(values, point, coefficients, at, outputs) {
    const { shape, lead, first, start, weights, axes, place } = this;
    let rest = point;
    for (let axis = axes - 1; axis >= 0; axis--) {
      place[axis] = rest % shape[axis];
      rest = (rest - place[axis]) / shape[axis];
    }
    const width = shape[axes - 1];
    const last = place[axes - 1];
    for (let run = 0; run < first.length; run++) {
      let row = 0;
      let inside = true;
      for (let axis = 0; axis < axes - 1; axis++) {
        const here = place[axis] + lead[run * (axes - 1) + axis];
        if (here < 0 || here >= shape[axis]) { inside = false; break; }
        row = row * shape[axis] + here;
      }
      if (!inside) continue;
      const begin = last + first[run];
      const low = Math.max(begin, 0);
      const high = Math.min(begin + start[run + 1] - start[run], width);
      let weight = start[run] + low - begin;
      for (let cell = row * width + low; cell < row * width + high; cell++, weight++) {
        for (let output = 0; output < outputs; output++) {
          values[cell * outputs + output] += coefficients[at + output] * weights[weight];
        }
      }
    }
  }
}

/** K as lists: for each point that was shown, the points it moves and by how much. */
export class ColumnKernel {
  constructor({ points, begin, members, weights }) {
    Object.assign(this, { begin, members, weights });
    this.column = new Map(Array.from(points, (point, place) => [point, place]));
    this.cells = Math.max(1, Math.ceil(weights.length / Math.max(1, points.length)));
  }

  add(values, point, coefficients, at, outputs) {
    const { begin, members, weights } = this;
    const column = this.column.get(point);
    for (let entry = begin[column]; entry < begin[column + 1]; entry++) {
      for (let output = 0; output < outputs; output++) {
        values[members[entry] * outputs + output] += coefficients[at + output] * weights[entry];
      }
    }
  }
}

/** A typed array that grows; `view` is what it holds. */
export class Growing {
  constructor(Kind, room = 1024) {
    this.data = new Kind(room);
    this.length = 0;
  }

  push(values) {
    if (this.length + values.length > this.data.length) {
      const larger = new this.data.constructor(Math.max(2 * this.data.length, this.length + values.length));
      larger.set(this.view);
      this.data = larger;
    }
    this.data.set(values, this.length);
    this.length += values.length;
  }

  get view() { return this.data.subarray(0, this.length); }
}

/** A lesson as examples and coefficients. Steps may be appended while it is watched. */
export class Replay {
  /**
   * @param {Float64Array} initial  f at step 0, n points by q outputs, row by row
   * @param {object} kernel  with `add` and `cells`
   * @param {object} options  outputs q; memory, in bytes, for kept frames; mixes, a Map of step to a q x q matrix
   */
  constructor(initial, kernel, { outputs = 1, memory = 64e6, mixes = new Map() } = {}) {
    this.outputs = outputs;
    this.kernel = kernel;
    this.mixes = mixes;
    this.initial = initial;
    this.values = Float64Array.from(initial);
    this.step = 0;
    this.begin = [0]; // where the examples of each step begin
    this.indices = new Growing(Uint32Array);
    this.coefficients = new Growing(Float64Array);
    this.frames = new Map();
    this.most = Math.max(4, Math.floor(memory / initial.byteLength));
    this.every = 1;
  }

  get steps() { return this.begin.length - 1; }

  /** Append steps of `pack` examples each; coefficients hold q numbers per example. */
  append(indices, coefficients, pack) {
    const first = this.indices.length;
    for (let end = first + pack; end <= first + indices.length; end += pack) this.begin.push(end);
    this.push(indices, coefficients, pack);
  }

  /** Append steps that begin at the given places in `indices`. */
  appendRagged(indices, coefficients, begin) {
    const first = this.indices.length;
    for (let step = 1; step < begin.length; step++) this.begin.push(first + begin[step]);
    this.push(indices, coefficients, Math.max(1, indices.length / Math.max(1, begin.length - 1)));
  }

  push(indices, coefficients, pack) {
    this.indices.push(indices);
    this.coefficients.push(coefficients);
    this.every = Math.max(this.every, Math.floor(ONE_SEEK / Math.max(1, pack * this.kernel.cells * this.outputs)));
    while (this.steps / this.every > this.most) this.widen();
  }

  widen() {
    this.every *= 2;
    for (const step of this.frames.keys()) if (step % this.every) this.frames.delete(step);
  }

  /** Return f after `step` steps; the array is ours and changes with the next call. */
  at(step) {
    const asked = Math.max(0, Math.min(step, this.steps));
    if (asked < this.step || asked - this.step > this.every) this.jump(asked);
    while (this.step < asked) this.forward();
    return this.values;
  }

  /** The last kept frame before a step. */
  keptBefore(asked) {
    let kept = asked - (asked % this.every);
    while (kept > 0 && !this.frames.has(kept)) kept -= this.every;
    return kept;
  }

  /** How many additions it takes to get from here to a step. */
  work(step) {
    const asked = Math.max(0, Math.min(step, this.steps));
    const kept = asked < this.step || asked - this.step > this.every ? this.keptBefore(asked) : 0;
    const from = asked >= this.step ? Math.max(kept, this.step) : kept;
    return (this.begin[asked] - this.begin[from]) * this.kernel.cells * this.outputs;
  }

  /** Take the nearest kept frame before a step, if it is nearer than where we are. */
  jump(asked) {
    const kept = this.keptBefore(asked);
    if (this.step <= asked && this.step >= kept) return;
    this.values.set(kept === 0 ? this.initial : this.frames.get(kept));
    this.step = kept;
  }

  forward() {
    const { indices, coefficients, begin, kernel, outputs } = this;
    for (let shown = begin[this.step]; shown < begin[this.step + 1]; shown++) {
      kernel.add(this.values, indices.data[shown], coefficients.data, shown * outputs, outputs);
    }
    this.step++;
    if (this.mixes.has(this.step)) this.mix(this.mixes.get(this.step));
    if (this.step % this.every === 0 && !this.frames.has(this.step)) {
      this.frames.set(this.step, Float64Array.from(this.values));
    }
  }

  /** f <- A f at every point; f at step 0 is mixed already. */
  mix(matrix) {
    const { values, outputs } = this;
    const before = new Float64Array(outputs);
    for (let begin = 0; begin < values.length; begin += outputs) {
      before.set(values.subarray(begin, begin + outputs));
      for (let row = 0; row < outputs; row++) {
        let sum = 0;
        for (let column = 0; column < outputs; column++) sum += matrix[row * outputs + column] * before[column];
        values[begin + row] = sum;
      }
    }
  }

  /** Return the points that the given step showed (step 0 is the first). */
  shownAt(step) {
    if (step < 0 || step >= this.steps) return this.indices.data.subarray(0, 0);
    return this.indices.data.subarray(this.begin[step], this.begin[step + 1]);
  }

  /** Return c of the first example of a step, one number for each output. */
  coefficientsAt(step) {
    const at = this.begin[step] * this.outputs;
    return this.coefficients.data.subarray(at, at + this.outputs);
  }
}

const MOST_FRAMES = 400; // of one lesson: with more of them every second one is given up
const FIRST_STEPS = 16; // of which every frame is kept

/**
 * A lesson of which only some frames are known: f itself, or f - f* in 256 levels, on a sheet smaller than the picture.
 */
export class Frames {
  /** @param {object} options  outputs q; sheet, with the target on it, where frames are smaller than the picture */
  constructor({ outputs = 1, sheet = null } = {}) {
    this.outputs = outputs;
    this.sheet = sheet;
    this.known = []; // steps, ascending
    this.frames = []; // of { values, low, scale, shown }
    this.every = 1;
  }

  get steps() { return this.known.length ? this.known[this.known.length - 1] : 0; }

  /** Append f after a step; with a scale, values are levels of f - f*. */
  append(step, values, { shown = new Uint32Array(0), low = 0, scale = 0 } = {}) {
    this.known.push(step);
    this.frames.push({ values, low, scale, shown });
  }

  /** Give up every second frame where there are more than can be kept. */
  thin() {
    if (this.known.length <= MOST_FRAMES) return;
    this.every *= 2;
    const last = this.known.length - 1;
    const stays = (step, place) => step <= FIRST_STEPS || step % this.every === 0 || place === last;
    const { known } = this;
    this.frames = this.frames.filter((_, place) => stays(known[place], place));
    this.known = known.filter(stays);
  }

  place(step) {
    let low = 0;
    let high = this.known.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.known[middle] <= step) low = middle; else high = middle - 1;
    }
    return low;
  }

  /** Return f at the last known step before this one. */
  at(step) {
    const frame = this.frames[this.place(step)];
    if (!frame.scale) return frame.values;
    if (this.unpacked !== frame) {
      const { target } = this.sheet;
      this.values ??= new Float32Array(target.length);
      for (let i = 0; i < target.length; i++) this.values[i] = target[i] + frame.low + frame.scale * frame.values[i];
      this.unpacked = frame;
    }
    return this.values;
  }

  shownAt(step) { return this.frames[this.place(step)].shown; }

  /** What it costs to show a step: nothing that counts. */
  work() { return 0; }
}

/** A picture in blocks of `by` x `by` pixels, the mean of each. */
export function shrunk(target, [rows, columns], outputs, by) {
  const size = [Math.ceil(rows / by), Math.ceil(columns / by)];
  const sums = new Float64Array(size[0] * size[1] * outputs);
  const counts = new Uint32Array(size[0] * size[1]);
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const block = Math.floor(row / by) * size[1] + Math.floor(column / by);
      counts[block]++;
      for (let o = 0; o < outputs; o++) sums[block * outputs + o] += target[(row * columns + column) * outputs + o];
    }
  }
  for (let i = 0; i < sums.length; i++) sums[i] /= counts[Math.floor(i / outputs)];
  return { rows: size[0], columns: size[1], target: sums, by };
}

/** M(f, f*): sqrt(sum (f - f*)^2) / n for "paper", the root of the mean over points and outputs for "rms". */
export function discrepancy(values, target, points, measure = "paper") {
  let total = 0;
  for (let i = 0; i < values.length; i++) {
    const error = values[i] - target[i];
    total += error * error;
  }
  return measure === "rms" ? Math.sqrt(total / target.length) : Math.sqrt(total) / points;
}

const KINDS = {
  float64: Float64Array, float32: Float32Array, uint32: Uint32Array, uint16: Uint16Array, uint8: Uint8Array,
  int32: Int32Array,
};

/** Read a recording: a length, a header in JSON, and blocks of numbers. */
export function unpack(buffer) {
  const length = new DataView(buffer).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length)));
  const blocks = {};
  for (const [name, { kind, offset, length: count }] of Object.entries(header.blocks)) {
    blocks[name] = new KINDS[kind](buffer, offset, count);
  }
  return { header, blocks };
}

/** Read a recording from the text of a page: base64 of deflated bytes. */
export async function unpackText(text) {
  const packed = Uint8Array.from(atob(text.trim()), (letter) => letter.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return unpack(await new Response(stream).arrayBuffer());
}

export function kernelOf(header, blocks) {
  if (header.kernel === "window") {
    return new WindowKernel({
      shape: header.pool.shape, lead: blocks.lead, first: blocks.first, start: blocks.start, weights: blocks.weights,
    });
  }
  return new ColumnKernel({
    points: blocks.columns, begin: blocks.column_begin, members: blocks.members, weights: blocks.weights,
  });
}

/** Return the matrices by which the outputs were mixed, by step. */
function mixesOf({ mix_steps: steps = [], mixes }, outputs) {
  const size = outputs * outputs;
  return new Map(Array.from(steps, (step, place) => [step, mixes.subarray(place * size, (place + 1) * size)]));
}

/** Return the lesson of a recording, ready to be asked for any step. */
export function lessonOf({ header, blocks }, options = {}) {
  const outputs = header.outputs;
  if (header.kernel === "frames") {
    const lesson = new Frames({ outputs });
    const size = header.points * outputs;
    blocks.frame_steps.forEach((step, place) => {
      const begin = blocks.shown_begin;
      lesson.append(
        step, blocks.frames.subarray(place * size, (place + 1) * size), { shown: blocks.shown.subarray(begin[place], begin[place + 1]) },
      );
    });
    return lesson;
  }
  const lesson = new Replay(blocks.initial, kernelOf(header, blocks), { outputs, mixes: mixesOf(blocks, outputs), ...options });
  if (header.every === 1) lesson.append(blocks.indices, blocks.coefficients, header.pack);
  else lesson.appendRagged(blocks.indices, blocks.coefficients, blocks.begin);
  return lesson;
}
