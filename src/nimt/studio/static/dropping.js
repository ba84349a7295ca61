// Files that are dropped or chosen: a lesson is played, anything else becomes the target, or the start.
import { post } from "./connection.js";

const by = (id) => document.getElementById(id);

export class Dropping {
  constructor(studio) {
    this.studio = studio;
    by("model-rows").addEventListener("click", () => this.modelRows());
    for (const id of ["file", "start-file"]) {
      by(id).addEventListener("change", (event) => {
        if (event.target.files[0]) this.drop(event.target.files[0], id === "start-file");
        event.target.value = "";
      });
    }
    this.listen();
  }

  listen() {
    const over = (event) => {
      const isStart = Boolean(event?.target.closest?.("#start-drop"));
      by("drop").classList.toggle("over", Boolean(event) && !isStart);
      by("start-drop").classList.toggle("over", isStart);
      return isStart;
    };
    document.addEventListener("dragover", (event) => { event.preventDefault(); over(event); });
    document.addEventListener("dragleave", () => over(null));
    document.addEventListener("drop", (event) => {
      event.preventDefault();
      const isStart = over(event);
      over(null);
      if (event.dataTransfer.files[0]) this.drop(event.dataTransfer.files[0], isStart);
    });
  }

  async drop(file, isStart = false) {
    const body = new FormData();
    body.append("file", file);
    await this.take(post("file", body), file.name.slice(0, 100), isStart);
  }

  /** Teach what a model of a table's rows answers, and not the rows. */
  async modelRows() {
    const { file } = this.studio.form;
    by("file-notes").textContent = "Models of the rows are compared by cross-validation.";
    by("model-rows").disabled = true;
    await this.take(post("model", file), file.name);
    by("model-rows").disabled = false;
  }

  async take(answering, name, isStart = false) {
    const { form, lessons, preview, time } = this.studio;
    this.studio.settle();
    try {
      const answer = await answering;
      this.studio.alert("");
      if (answer.header) { lessons.take(answer); time.measure(); this.studio.ask(); return; }
      const taken = { kind: "file", id: answer.id, name };
      if (isStart) form.startFile = taken;
      else form.takeFile(taken, answer);
      by("start-file-name").textContent = isStart ? name : "";
      if (!await this.studio.describe()) return;
      if (!isStart) preview.suggestTolerance();
      await this.studio.start();
    } catch (error) {
      this.studio.alert(error.message);
    }
  }
}
