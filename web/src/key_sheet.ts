/** The keys of the page and of the view that is shown, in a dialog that `?` opens and Escape closes. */
import { element, replace } from "./element";
import type { KeyHint, View } from "./view";

const EVERYWHERE: readonly KeyHint[] = [
  { keys: "1 … 9, 0", does: "go to a view" },
  { keys: ", and .", does: "on the timeline: previous and next evidence of a finding" },
  { keys: "?", does: "show or hide these keys" },
  { keys: "Esc", does: "close what is open" },
  { keys: "Alt ←", does: "go back to where you were" },
];

export interface KeySheet {
  readonly node: HTMLDialogElement;
  toggle(view: View | undefined): void;
}

export function keySheet(): KeySheet {
  const node = element("dialog", { class: "key-sheet", "aria-label": "Keys" });
  node.addEventListener("click", (event) => {
    if (event.target === node) node.close();
  });
  return {
    node,
    toggle(view) {
      if (node.open) {
        node.close();
        return;
      }
      replace(
        node,
        keyTable("Everywhere", EVERYWHERE),
        view !== undefined && view.keys.length > 0 && keyTable(view.title, view.keys),
        element("form", { method: "dialog" }, element("button", {}, "Close")),
      );
      node.showModal();
    },
  };
}

function keyTable(title: string, hints: readonly KeyHint[]): HTMLElement {
  const rows = hints.map(({ keys, does }) => element("tr", {}, element("th", { scope: "row" }, element("kbd", {}, keys)), element("td", {}, does)));
  return element("section", {}, element("h2", {}, title), element("table", {}, element("tbody", {}, ...rows)));
}
