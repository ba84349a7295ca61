// The line to the studio's server: what is sent, what is heard, and how it is found again when it breaks.
import { unpack } from "./recording.js";

const FIRST_PAUSE = 300; // milliseconds before the line is tried again
const LONGEST_PAUSE = 5000;

export class Connection {
  /**
   * @param {(message: object, blocks: object) => void} onMessage
   * @param {(open: boolean) => void} onChange
   */
  constructor(onMessage, onChange) {
    this.onMessage = onMessage;
    this.onChange = onChange;
    this.pause = FIRST_PAUSE;
    this.requests = new Map();
    this.count = 0;
    this.open();
  }

  open() {
    const address = new URL("talk", location.href);
    address.protocol = "ws:";
    address.hash = "";
    this.socket = new WebSocket(address);
    this.socket.binaryType = "arraybuffer";
    this.socket.onopen = () => { this.pause = FIRST_PAUSE; this.onChange(true); };
    this.socket.onclose = () => {
      for (const { reject } of this.requests.values()) reject(new Error("the studio is not there"));
      this.requests.clear();
      this.onChange(false);
      setTimeout(() => this.open(), this.pause);
      this.pause = Math.min(LONGEST_PAUSE, 2 * this.pause);
    };
    this.socket.onmessage = ({ data }) => this.hear(data);
  }

  hear(data) {
    if (typeof data === "string") {
      const message = JSON.parse(data);
      const request = this.requests.get(message.request);
      if (request) {
        this.requests.delete(message.request);
        if (message.type === "refused") request.reject(new Error(message.said));
        else request.resolve(message);
      }
      this.onMessage(message, {});
      return;
    }
    const { header, blocks } = unpack(data);
    try {
      this.onMessage(header, blocks);
    } finally {
      this.send({ type: "ack" }); // the next one may come
    }
  }

  send(message) {
    if (this.socket.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify(message));
  }

  /** Send a message and wait for its answer; a refusal is an error with its sentence. */
  ask(message) {
    const request = ++this.count;
    return new Promise((resolve, reject) => {
      if (this.socket.readyState !== WebSocket.OPEN) { reject(new Error("the studio is not there: is nimt studio running?")); return; }
      this.requests.set(request, { resolve, reject });
      this.send({ ...message, request });
    });
  }
}

/** Ask the server by a POST; a refusal is an error with its sentence. */
export async function post(path, body) {
  const answer = await fetch(path, { method: "POST", body: body instanceof FormData ? body : JSON.stringify(body) });
  const kind = answer.headers.get("content-type") || "";
  if (!answer.ok) throw new Error(kind.includes("json") ? (await answer.json()).said : `the studio says ${answer.status}`);
  return kind.includes("json") ? answer.json() : unpack(await answer.arrayBuffer());
}
