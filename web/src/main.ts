/** The page: waits for the server to have read the trace, then shows the view that the URL asks for, and keeps it so. */
import { ask, forgetAnswers, sentenceOf } from "./api";
import { setColors } from "./colors";
import { element, replace } from "./element";
import { watchServer } from "./follow";
import { keptScroll } from "./kept_scroll";
import { header } from "./header";
import { keySheet } from "./key_sheet";
import { Progress, errorNote } from "./messages";
import { evidenceStrip } from "./overview/evidence_strip";
import type { Overview, State, TraceShape } from "./protocol";
import { placeToHash } from "./place";
import { shellWord } from "./shell_word";
import { emptyViews } from "./recorded";
import { FIRST_VIEW, onPlace, place, viewOf, visit } from "./state";
import type { Page, Shown, View } from "./view";
import { VIEWS } from "./views";

const keys = keySheet();
const head = header(VIEWS, () => shown?.exports?.() ?? [], () => shown?.savedOtherwise?.(), () => {
  keys.toggle(shownView);
});
const notice = element("div", { class: "notice", role: "alert", hidden: true });
const room = element("main", { id: "view", tabindex: -1 });
const evidence = evidenceStrip();
const progress = new Progress();
const scroll = keptScroll(room);

let page: Page | undefined;
let shown: Shown | undefined;
let shownView: View | undefined;
let latest: State | undefined;

function viewNamed(id: string): View | undefined {
  return VIEWS.find((view) => view.id === id) ?? VIEWS.find((view) => view.id === FIRST_VIEW);
}

function showView(isReturn = false): void {
  if (page === undefined) return;
  shown?.close();
  shownView = viewNamed(viewOf(place()));
  if (shownView === undefined) return;
  replace(room);
  room.className = shownView.fills === true ? "fills" : "scrolls";
  room.setAttribute("aria-label", shownView.title);
  shown = shownView.show(room, page);
  scroll.arrive(placeToHash(place()), isReturn);
}

function leaveView(content: HTMLElement): void {
  shown?.close();
  shown = shownView = page = undefined;
  room.className = "scrolls";
  replace(room, content);
}

async function openTrace(state: State): Promise<void> {
  forgetAnswers();
  const shape = await ask<TraceShape>("api/trace");
  if (latest?.generation !== state.generation) return; // read again meanwhile
  setColors(shape.colors);
  head.setEmptyViews(emptyViews(shape));
  page = { server: state, shape };
  if (shown?.pageChanged) shown.pageChanged(page);
  else showView();
  void evidence.update(page);
  await showVerdict();
}

async function showVerdict(): Promise<void> {
  try {
    const { headline } = await ask<Overview>("api/overview", { steps: place()["steps"] });
    head.setVerdict([headline.step, headline.filling].join(" ").trim());
  } catch (error) {
    head.setVerdict(sentenceOf(error));
  }
}

function tell(...content: (string | HTMLElement)[]): void {
  const text = content.map((part) => (typeof part === "string" ? part : part.textContent)).join("");
  notice.hidden = content.length === 0;
  if (notice.textContent !== text) replace(notice, ...content);
}

function follow(state: State): void {
  const before = latest;
  latest = state;
  head.setFile(state.file);
  head.setLive(!state.is_followed ? "" : state.is_recording ? "Live: still being written" : "Followed: no longer being written");
  tell(...(state.error !== null && state.stage !== "failed" ? [sentenceOf(state.error)] : []));
  if (state.stage === "ready") {
    if (before?.stage === "ready" && before.generation === state.generation && page !== undefined) return;
    openTrace(state).catch((error: unknown) => {
      leaveView(errorNote(error));
    });
  } else if (state.stage === "failed") {
    if (before?.stage !== "failed") leaveView(errorNote(new Error(state.error ?? "The trace could not be read.")));
  } else if (page === undefined) {
    progress.show(state);
    if (!progress.node.isConnected) replace(room, progress.node);
  }
}

function isTyping(event: KeyboardEvent): boolean {
  return event.target instanceof HTMLElement && event.target.matches("input:not([type=checkbox]), textarea, select");
}

function keyDown(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  if (keys.node.open) {
    if (event.key === "?") keys.toggle(shownView);
    return;
  }
  if (shown?.keyDown?.(event) === true) {
    event.preventDefault();
    return;
  }
  const view = VIEWS.find(({ key }) => key === event.key);
  if (event.key === "?") keys.toggle(shownView);
  else if (view !== undefined) visit(view.id);
  else if (!((event.key === "." && evidence.walk(1)) || (event.key === "," && evidence.walk(-1)))) return;
  event.preventDefault();
}

replace(document.body, element("a", { class: "skip", href: "#view", on: { click: skip } }, "Skip to the view"), head.node, element("div", {}, notice, evidence.node), room, keys.node);
function skip(event: Event): void {
  event.preventDefault();
  room.focus();
}

document.addEventListener("keydown", keyDown);
onPlace((now, before, isByBrowser) => {
  head.placeChanged();
  void evidence.update(page);
  if (now["steps"] !== before["steps"]) void showVerdict();
  if (viewOf(now) === viewOf(before) && shown !== undefined) shown.placeChanged(now, before);
  else {
    scroll.leave(placeToHash(before));
    showView(isByBrowser);
  }
});
head.placeChanged();
watchServer({
  state: follow,
  gone() {
    head.setLive("");
    const command = element("code", {}, `telltale view ${shellWord(latest?.file ?? "TRACE")}${latest?.is_followed === true ? " --follow" : ""}`);
    tell("The server has ended. Start it again with: ", command);
  },
  refused(sentence) {
    tell(sentenceOf(sentence));
  },
});
