// A race as text for the address: everything that decides it, the drawing and the branches too, and never the token.

const LARGEST = 4e6; // bytes of a race as text
const FORM = "2."; // what a link begins with since it ends with a checksum
const DAMAGED = "this link is damaged: copy it again, as a whole";

async function through(stream, bytes) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let length = 0;
  for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) {
    length += value.length;
    if (length > LARGEST) { await reader.cancel(); throw new Error("too large"); }
    parts.push(value);
  }
  return new Uint8Array(await new Blob(parts).arrayBuffer());
}

const isObject = (value) => value !== null && typeof value === "object" && !Array.isArray(value);
const isCount = (value) => Number.isInteger(value) && value >= 0;
const isFork = (fork) => isObject(fork) && isCount(fork.racer) && isCount(fork.step) && isObject(fork.change);

/** Whether this has the parts of a race; what is in them is checked by the server like any other request. */
function isRace(request) {
  if (!isObject(request) || ![request.target, request.start, request.rules].every(isObject)) return false;
  const { racers, forks = [] } = request;
  return Array.isArray(racers) && racers.length > 0 && racers.every(isObject) && Array.isArray(forks) && forks.every(isFork);
}

export async function toHash(request) {
  const packed = await through(new CompressionStream("deflate"), new TextEncoder().encode(JSON.stringify(request)));
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return `#race=${FORM}${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Return the race of an address, null where there is none; one that cannot be read is an error that says so. */
export async function fromHash(hash) {
  if (!hash.startsWith("#race=")) return null;
  const [, form, text] = /^#race=(2\.)?([\w-]+)$/.exec(hash) || [];
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const unpacking = new DecompressionStream(form ? "deflate" : "deflate-raw");
    const request = JSON.parse(new TextDecoder().decode(await through(unpacking, packed)));
    if (isRace(request)) return request;
  } catch { /* it is said below */ }
  throw new Error(DAMAGED);
}
