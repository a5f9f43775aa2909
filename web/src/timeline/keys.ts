/** The keys of the timeline, and the sheet that lists them. */
import type { KeyHint } from "../view";
import type { Motion, Navigation } from "./navigation";
import type { Selection } from "./selection";
import { rowAt } from "./stage";
import type { TimelineModel } from "./timeline_model";
import type { TrackCommands } from "./track_commands";
import { trackKey } from "./track_layout";

export const KEYS: readonly KeyHint[] = [
  { keys: "W, S", does: "Zoom in and out at the pointer; so does the wheel" },
  { keys: "A, D", does: "Pan; so do dragging and Shift with the wheel" },
  { keys: "← →", does: "Previous and next event of a line" },
  { keys: "↑ ↓", does: "The caller, the first call inside" },
  { keys: "[ ]", does: "To what caused the event, to what it causes" },
  { keys: "/", does: "Search; Enter and Shift+Enter, n and N go on and back" },
  { keys: "Shift-drag, r", does: "Choose a range of time and see what it holds" },
  { keys: "m", does: "Measure: first point, second point, clear" },
  { keys: "f", does: "Fit what is chosen; double-click fits an event" },
  { keys: "Home", does: "The whole trace" },
  { keys: "p, c", does: "Pin or collapse the track under the pointer" },
  { keys: "Page Up, Page Down", does: "Scroll the tracks; so do Alt with the wheel, and the wheel on their names" },
  { keys: "Esc", does: "Clear the measure, the range, the event" },
];

const MOTIONS: Readonly<Record<string, Motion>> = { w: "in", s: "out", a: "left", d: "right", "+": "in", "=": "in", "-": "out" };

export interface KeyOptions {
  model: TimelineModel;
  navigation: Navigation;
  selection: Selection;
  tracks: TrackCommands;
  canvas: HTMLElement;
  search: { focus(): void; go(towards: "next" | "previous"): Promise<void> };
  toggleSelecting: () => void;
}

export function motionOf(key: string): Motion | undefined {
  return MOTIONS[key.length === 1 ? key.toLowerCase() : key];
}

/** True where the key was one of the timeline's. */
export function handleKey(event: KeyboardEvent, options: KeyOptions): boolean {
  const { model, navigation, selection, search } = options;
  const motion = motionOf(event.key);
  if (motion) {
    if (!event.repeat) navigation.press(motion);
    return true;
  }
  switch (event.key) {
    case "[":
      selection.walk("cause");
      return true;
    case "]":
      selection.walk("effect");
      return true;
    case "/":
      search.focus();
      return true;
    case "n":
    case "N":
      void search.go(event.shiftKey ? "previous" : "next");
      return true;
    case "m":
      navigation.measure();
      return true;
    case "r":
      options.toggleSelecting();
      return true;
    case "f":
      return navigation.fitSelection();
    case "Home":
      navigation.fitAll();
      return true;
    case "p":
    case "c":
      return changeTrack(event.key, options);
    case "PageDown":
    case "PageUp":
      model.setScroll({ scroll: model.stage.scroll + (event.key === "PageDown" ? 0.8 : -0.8) * model.stage.height });
      return true;
    case "Escape":
      return clearOne(options);
    default:
      return arrow(event, options);
  }
}

function arrow(event: KeyboardEvent, { selection, canvas }: KeyOptions): boolean {
  const towards = ({ ArrowRight: "next", ArrowLeft: "previous", ArrowUp: "parent", ArrowDown: "child" } as const)[event.key];
  const isHere = event.target === canvas || event.target === document.body || (event.target instanceof HTMLElement && event.target.id === "view");
  if (!towards || !isHere) return false;
  void selection.step(towards);
  return true;
}

function changeTrack(key: string, { model, tracks }: KeyOptions): boolean {
  const track = (model.pointer ? rowAt(model.stage, model.pointer.y)?.row.track?.id : undefined) ?? model.selected?.place.track;
  if (track === undefined) return false;
  if (key === "p") tracks.togglePinned(track);
  else tracks.toggleCollapsed(trackKey(track));
  return true;
}

function clearOne({ model, navigation, selection }: KeyOptions): boolean {
  if (model.measure) {
    model.measure = null;
    model.changed();
  } else if (model.range) navigation.setRange(null);
  else if (model.selected) selection.choose(null, "here");
  else return false;
  return true;
}
