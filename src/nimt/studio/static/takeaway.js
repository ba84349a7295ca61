// Take it with you: a link, code, a picture, an animation, the lesson, a page that plays it.
import { post } from "./connection.js";
import { colour } from "./drawing.js";

const by = (id) => document.getElementById(id);

export class Takeaway {
  constructor(studio) {
    this.studio = studio;
    const on = (id, act) => by(id).addEventListener("click", () => act().catch((error) => this.say(error.message)));
    on("copy-link", () => this.copyLink());
    on("copy-python", () => this.copyCode("python"));
    on("copy-command", () => this.copyCode("command"));
    on("save-png", () => this.savePicture());
    on("save-gif", () => this.save("lesson.gif"));
    on("save-npz", () => this.save("lesson.npz"));
    on("save-replay", () => this.save("replay.html"));
  }

  get racer() { return this.studio.racers[this.studio.selected]; }

  open() {
    this.say("");
    by("copied").hidden = true;
    const many = this.studio.racers.length > 1;
    by("take-which").textContent = this.racer
      ? `Lesson ${this.racer.number + 1}, ${this.racer.name}${many ? "; the keys 1 to 4 choose another" : ""}.` : "There is no lesson yet.";
    by("take").showModal();
  }

  say(text) { by("take-said").textContent = text; }

  async copy(text, what) {
    by("copied").value = text;
    by("copied").hidden = false;
    try {
      await navigator.clipboard.writeText(text);
      this.say(`${what} is copied.`);
    } catch {
      by("copied").select();
      this.say(`${what}: select and copy it here.`);
    }
  }

  async copyLink() {
    await this.studio.keepAddress();
    await this.copy(location.href, "The link");
    const { target, start } = this.studio.shareable();
    if ([target, start].some(({ kind }) => kind === "file")) this.say("The link is copied; it does not hold the file, which is a table or too large.");
    else if (this.studio.teaching) this.say("The link is copied; it does not hold the examples that you showed.");
  }

  async copyCode(kind) {
    const { race } = this.studio;
    if (!race || !this.racer) throw new Error("race first: there is no lesson here that the studio knows");
    const { target, start, rules, classes, racers } = this.studio.request;
    const answer = await post("code", { target, start, rules, classes, racer: racers[0], race, number: this.racer.number });
    if (answer[kind].startsWith("# ")) throw new Error(answer[kind].slice(2).trim());
    await this.copy(answer[kind], kind === "python" ? "The program" : "The command");
  }

  async savePicture() {
    const stages = [this.studio.board.target, ...this.studio.stages].filter(Boolean);
    if (!stages.length) throw new Error("there is no lesson yet: race first");
    const gap = 16;
    const width = stages.reduce((sum, { canvas }) => sum + canvas.width + gap, gap);
    const height = Math.max(...stages.map(({ canvas }) => canvas.height)) + 2 * gap + 40;
    const sheet = Object.assign(document.createElement("canvas"), { width, height });
    const context = sheet.getContext("2d");
    context.fillStyle = colour("paper");
    context.fillRect(0, 0, width, height);
    context.fillStyle = colour("ink");
    context.font = "20px system-ui, sans-serif";
    let x = gap;
    for (const { canvas, name, m } of stages) {
      context.fillText(`${name.textContent} ${m.textContent}`, x, gap + 20);
      context.drawImage(canvas, x, gap + 40);
      x += canvas.width + gap;
    }
    const blob = await new Promise((resolve) => { sheet.toBlob(resolve, "image/png"); });
    this.download(URL.createObjectURL(blob), "lesson.png");
    this.say("lesson.png is saved.");
  }

  async save(name) {
    if (!this.studio.race || !this.racer) throw new Error("race first: there is no lesson here that the studio knows");
    this.say(name === "lesson.gif" ? "Drawing the animation; this takes a few seconds." : "");
    const answer = await fetch(`export/${this.studio.race}/${this.racer.number}/${name}`);
    if (!answer.ok) throw new Error((await answer.json()).said);
    this.download(URL.createObjectURL(await answer.blob()), name);
    this.say(`${name} is saved.`);
  }

  download(address, name) {
    const link = Object.assign(document.createElement("a"), { href: address, download: name });
    link.click();
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}
