/** The menu that saves what a view shows as a picture or a table, and copies a link to it. */
import { sentenceOf } from "./api";
import { element, replace } from "./element";
import type { Export, Shown } from "./view";

export type Otherwise = ReturnType<NonNullable<Shown["savedOtherwise"]>>;

export function saveMenu(exportsOf: () => Export[], otherwiseOf: () => Otherwise | undefined): HTMLElement {
  const list = element("div", { class: "menu" });
  const note = element("span", { class: "note", role: "status" });
  const menu = element("details", { class: "save" }, element("summary", { class: "quiet" }, "Save"), list);
  const copyLink = async (): Promise<void> => {
    try {
      await navigator.clipboard.writeText(location.href);
      note.textContent = "Copied.";
    } catch {
      note.textContent = "The browser lets no page copy. The link stands in the address bar.";
    }
  };
  menu.addEventListener("toggle", () => {
    if (!menu.open) return;
    note.textContent = "";
    const buttons = exportsOf().map((file) => element("button", { on: { click: () => void save(file, note) } }, file.label));
    const otherwise = otherwiseOf();
    replace(list, ...buttons, otherwise && element("p", { class: "otherwise" }, otherwise.sentence, element("code", {}, otherwise.command)), element("button", { on: { click: () => void copyLink() } }, "Copy the link"), note);
  });
  document.addEventListener("pointerdown", (event) => {
    if (!menu.contains(event.target as Node)) menu.open = false;
  });
  menu.addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    menu.open = false;
    menu.querySelector("summary")?.focus();
  });
  return menu;
}

async function save(file: Export, note: HTMLElement): Promise<void> {
  try {
    const address = URL.createObjectURL(await file.content());
    element("a", { href: address, download: file.name }).click();
    setTimeout(() => {
      URL.revokeObjectURL(address);
    }, 10_000);
    note.textContent = `Saved ${file.name}.`;
  } catch (error) {
    note.textContent = sentenceOf(error);
  }
}
