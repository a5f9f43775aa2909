/** What stands in place of a view: that it is loading, that it failed, or that there is nothing and what to do. */
import { isGivenUp, sentenceOf } from "./api";
import { type Child, element, replace } from "./element";
import { formatPercent } from "./format";
import type { State } from "./protocol";

export function loadingNote(what = "Loading"): HTMLElement {
  return element("p", { class: "loading", role: "status" }, `${what} …`);
}

export function errorNote(error: unknown): HTMLElement {
  return element("div", { class: "message", role: "alert" }, element("p", {}, sentenceOf(error)));
}

/** Why there is nothing to see, and what to record to see it. */
export function emptyNote(...sentences: Child[]): HTMLElement {
  return element("div", { class: "message" }, ...sentences.map((sentence) => element("p", {}, sentence)));
}

/** Fills a room with what comes of an answer, or with why there is none. */
export async function fillRoom(room: HTMLElement, make: () => Promise<Child[]>): Promise<void> {
  try {
    replace(room, ...(await make()));
  } catch (error) {
    if (!isGivenUp(error)) replace(room, errorNote(error));
  }
}

/** How far the server is with reading the trace. Updated in place, so that nothing jumps. */
export class Progress {
  private readonly word = element("p", { class: "doing" });
  private readonly bar = element("progress", { max: 1, "aria-label": "Progress" });
  readonly node = element("div", { class: "message progress", role: "status" }, this.word, this.bar);

  show(state: State): void {
    const share = state.share === null ? "" : ` ${formatPercent(state.share * 100)}`;
    this.word.textContent = `${state.doing === "" ? "Starting" : state.doing} ${state.file}${share}`;
    if (state.share === null) this.bar.removeAttribute("value");
    else this.bar.value = state.share;
  }
}
