/** Search on the timeline: what matches stands out, Enter goes from one to the next, and a count says where one is. */
import { ask, isGivenUp, sentenceOf } from "../api";
import { element } from "../element";
import { counted, formatCount } from "../format";
import type { EventId, SearchAnswer } from "../protocol";
import type { Selection } from "./selection";
import type { TimelineModel } from "./timeline_model";

const TYPING_MS = 180;

export interface SearchBoxOptions {
  model: TimelineModel;
  selection: Selection;
  chosen: () => EventId | null; // also one that is still on its way
  write: (text: string) => void; // to the URL
  leave: () => void; // back to the canvas
}

export class SearchBox {
  private readonly input = element("input", {
    type: "search", placeholder: "Search events", "aria-label": "Search events by name", "aria-keyshortcuts": "/",
    spellcheck: "false", autocomplete: "off",
  });
  private readonly count = element("output", { class: "search-count", "aria-live": "polite" });
  readonly node = element(
    "div",
    { class: "search", role: "search" },
    this.input,
    this.count,
    this.button("‹", "Previous match", "Shift+Enter, N", "previous"),
    this.button("›", "Next match", "Enter, n", "next"),
  );
  private asked = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private text = "";
  private isExact = false;

  constructor(private readonly options: SearchBoxOptions) {
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.typed(), TYPING_MS);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key === "Enter") {
        clearTimeout(this.timer);
        if (this.input.value !== this.text) this.typed();
        void this.go(event.shiftKey ? "previous" : "next");
      } else if (event.key === "Escape") {
        this.input.value = "";
        this.typed();
        options.leave();
      } else return;
      event.preventDefault();
      event.stopPropagation();
    });
  }

  private button(text: string, label: string, keys: string, towards: "next" | "previous"): HTMLElement {
    const click = (): void => void this.go(towards);
    return element("button", { class: "quiet", title: `${label} (${keys})`, "aria-label": label, on: { click } }, text);
  }

  focus(): void {
    this.input.focus();
    this.input.select();
  }

  /** From the URL. */
  set(text: string, isExact: boolean): void {
    if (text === this.text && isExact === this.isExact) return;
    this.text = text;
    this.isExact = isExact;
    this.input.value = text;
    this.highlight([]);
    void this.find(null);
  }

  /** The trace was read again. */
  again(): void {
    void this.find(null);
  }

  /** To the next or previous match, from the chosen event. */
  async go(towards: "next" | "previous"): Promise<void> {
    if (this.text === "") this.focus();
    else await this.find(towards);
  }

  private typed(): void {
    const text = this.input.value;
    this.set(text, false);
    this.options.write(text);
  }

  /** An exact name may be shown shortened: nothing is pale before the server said how. */
  private highlight(names: readonly string[]): void {
    const { model } = this.options;
    const { text, isExact } = this;
    model.searched = text === "" || (isExact && names.length === 0) ? null : { text, isExact, names };
    model.changed();
  }

  private async find(towards: "next" | "previous" | null): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    const { signal } = this.asked;
    if (this.text === "") {
      this.count.value = "";
      return;
    }
    const from = towards === null ? null : this.options.selection.event;
    try {
      const parameters = { q: this.text, exact: this.isExact ? 1 : null, from, towards: from === null ? null : towards };
      const answer = await ask<SearchAnswer>("api/search", parameters, signal);
      if (signal.aborted) return;
      if (towards === null) this.highlight(answer.names.map(({ name }) => name));
      else if (answer.event) await this.options.selection.chosen(answer.event.id, "there");
      this.count.value = countText(answer, towards !== null);
      const chosen = this.options.chosen();
      if (towards === null && chosen !== null && answer.count > 0) await this.showPosition(chosen, signal);
    } catch (error) {
      if (!isGivenUp(error)) this.count.value = sentenceOf(error);
    }
  }

  /** Which of the matches the chosen event is, if it is one: from it to the next one and back. */
  private async showPosition(chosen: EventId, signal: AbortSignal): Promise<void> {
    const parameters = { q: this.text, exact: this.isExact ? 1 : null };
    const next = await ask<SearchAnswer>("api/search", { ...parameters, from: chosen, towards: "next" }, signal);
    if (!next.event) return;
    const back = await ask<SearchAnswer>("api/search", { ...parameters, from: next.event.id, towards: "previous" }, signal);
    if (!signal.aborted && back.event?.id === chosen) this.count.value = countText(back, true);
  }

  close(): void {
    clearTimeout(this.timer);
    this.asked.abort();
  }
}

/** "3 of 1,204", or "1,204 events" before one went to any. */
export function countText(answer: SearchAnswer, isThere: boolean): string {
  if (answer.count === 0) return "No match";
  if (!isThere || answer.position === null) return counted(answer.count, "event");
  return `${formatCount(answer.position + 1)} of ${formatCount(answer.count)}`;
}
