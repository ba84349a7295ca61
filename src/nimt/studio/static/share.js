// A race as text for the address: everything that decides it, the drawing too, and never the token.

async function through(stream, bytes) {
  return new Uint8Array(await new Response(new Blob([bytes]).stream().pipeThrough(stream)).arrayBuffer());
}

export async function toHash(request) {
  const packed = await through(new CompressionStream("deflate-raw"), new TextEncoder().encode(JSON.stringify(request)));
  let letters = "";
  for (const byte of packed) letters += String.fromCharCode(byte);
  return `#race=${btoa(letters).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "")}`;
}

/** Return the race of an address, or null where there is none; what it holds is checked by the server like any other. */
export async function fromHash(hash) {
  const text = /^#race=([\w-]+)$/.exec(hash)?.[1];
  if (!text) return null;
  try {
    const letters = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
    const packed = Uint8Array.from(letters, (letter) => letter.charCodeAt(0));
    const request = JSON.parse(new TextDecoder().decode(await through(new DecompressionStream("deflate-raw"), packed)));
    return request && typeof request === "object" && request.target && Array.isArray(request.racers) ? request : null;
  } catch {
    return null;
  }
}
