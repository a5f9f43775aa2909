/** The top of the page: which file, the verdict in a line, the views, the steps it is about, the theme and exports. */
import { element, replace } from "./element";
import { type Otherwise, saveMenu } from "./save_menu";
import { FIRST_VIEW, change, linkTo, place, viewOf } from "./state";
import { type Theme, setTheme, theme } from "./theme";
import type { Export, View } from "./view";
import { viewLink } from "./view_link";

export interface Header {
  readonly node: HTMLElement;
  setFile(name: string): void;
  setVerdict(text: string): void;
  setEmptyViews(ids: ReadonlySet<string>): void; // the trace has nothing for these
  setLive(text: string): void; // "recording", "waiting for the file to grow"; empty: not followed
  placeChanged(): void;
}

const THEME_WORDS: Record<Theme, string> = { auto: "Theme: auto", light: "Theme: light", dark: "Theme: dark" };
const NEXT_THEME: Record<Theme, Theme> = { auto: "light", light: "dark", dark: "auto" };

export function header(views: readonly View[], exportsOf: () => Export[], otherwiseOf: () => Otherwise | undefined, showKeys: () => void): Header {
  const file = element("span", { class: "file" });
  const verdict = element("span", { class: "verdict", "aria-live": "polite" });
  const live = element("span", { class: "live", role: "status" });
  const chip = element("span", { class: "chip-room", "aria-live": "polite" });
  const links = new Map(views.map((view) => [view.id, navigationLink(view)]));
  const node = element(
    "header",
    { class: "top" },
    element(
      "div",
      { class: "top-line" },
      file,
      live,
      verdict,
      chip,
      saveMenu(exportsOf, otherwiseOf),
      themeButton(),
      element("button", { class: "quiet", title: "Keys (?)", "aria-label": "Show the keys", on: { click: showKeys } }, "?"),
    ),
    element("nav", { "aria-label": "Views" }, ...links.values()),
  );
  return {
    node,
    setFile(name) {
      file.textContent = name;
      file.title = name;
      document.title = name === "" ? "Telltale" : `${name} · Telltale`;
    },
    setVerdict(text) {
      verdict.textContent = text;
      verdict.title = text;
    },
    setEmptyViews(ids) {
      for (const { id, title, key } of views) {
        const link = links.get(id);
        link?.classList.toggle("empty", ids.has(id));
        if (link) link.title = ids.has(id) ? `${title} (${key}): nothing of it was recorded` : `${title} (${key})`;
      }
    },
    setLive(text) {
      live.textContent = text;
    },
    placeChanged() {
      const current = links.has(viewOf(place())) ? viewOf(place()) : FIRST_VIEW;
      for (const [id, link] of links) {
        link.href = linkTo(id);
        if (id === current) link.setAttribute("aria-current", "page");
        else link.removeAttribute("aria-current");
      }
      const isOfAllSteps = views.find(({ id }) => id === current)?.isOfAllSteps === true;
      replace(chip, isOfAllSteps ? null : stepsChip(place()["steps"]));
    },
  };
}

function navigationLink(view: View): HTMLAnchorElement {
  return viewLink(view.id, {}, { title: `${view.title} (${view.key})` }, view.title, element("kbd", { "aria-hidden": "true" }, view.key));
}

function stepsChip(steps: string | undefined): HTMLElement | null {
  if (steps === undefined) return null;
  const word = steps.includes("..") || steps.includes(",") ? "Steps" : "Step";
  const reset = (): void => { change({ steps: null }); };
  return element(
    "span",
    { class: "chip" },
    `${word} ${steps.replace("..", " to ")}`,
    element("button", { "aria-label": "Look at all steps again", title: "Look at all steps again", on: { click: reset } }, "×"),
  );
}

function themeButton(): HTMLElement {
  const label = (): string => THEME_WORDS[theme()];
  const button = element("button", { class: "quiet theme", title: "Light, dark, or as the system has it" }, label());
  button.addEventListener("click", () => {
    setTheme(NEXT_THEME[theme()]);
    button.textContent = label();
  });
  return button;
}
