/** A few options beside each other, of which one holds. Updated in place, so that the keyboard stays where it is. */
import { element } from "../element";

export interface Choice {
  readonly node: HTMLElement;
  set(now: string): void;
}

export function choice(label: string, options: readonly { id: string; title: string }[], choose: (id: string) => void): Choice {
  const buttons = options.map(({ id, title }) => element("button", { "data-id": id, on: { click: () => choose(id) } }, title));
  const node = element("span", { class: "choice", role: "group", "aria-label": label }, element("span", { class: "soft", "aria-hidden": "true" }, label), ...buttons);
  return {
    node,
    set(now) {
      for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset["id"] === now));
    },
  };
}
