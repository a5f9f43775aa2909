/**
 * The one owner of where the page is. It lives in the URL's hash, so that a link brings it back and the browser's back
 * button works. Views read it with `place()` and change it with `change()` or `visit()`; whoever listens hears of both
 * these and of the back button.
 */
import { type Change, type Place, changedPlace, parsePlace, placeInView, placeToHash } from "./place";

export const FIRST_VIEW = "overview";

type Listener = (now: Place, before: Place, isByBrowser: boolean) => void; // by its back button, or its address

const listeners = new Set<Listener>();
const asLeft = new Map<string, Place>();
let current = withView(parsePlace(location.hash));

function withView(place: Place): Place {
  return place["view"] === undefined ? { ...place, view: FIRST_VIEW } : place;
}

function become(next: Place, isByBrowser: boolean): void {
  const before = current;
  if (placeToHash(next) === placeToHash(before)) return;
  asLeft.set(viewOf(before), before);
  current = next;
  for (const listener of [...listeners]) listener(next, before, isByBrowser);
}

export function viewOf(place: Place): string {
  return place["view"] ?? FIRST_VIEW;
}

export function place(): Place {
  return current;
}

/**
 * Sets fields of the current view. "push" makes an entry for the back button: for what one would want to undo. "replace"
 * makes none: for what changes all the time, such as the range while panning.
 */
export function change(fields: Change, history: "push" | "replace" = "push"): void {
  arrive(changedPlace(current, fields), history);
}

/** Goes to a view, as it was left the last time, and sets fields there. */
export function visit(view: string, fields: Change = {}): void {
  arrive(placeInView(view, current, view === viewOf(current) ? current : asLeft.get(view), fields), "push");
}

function arrive(next: Place, history: "push" | "replace"): void {
  const hash = placeToHash(next);
  if (hash === location.hash) return;
  if (history === "push") window.history.pushState(null, "", hash);
  else window.history.replaceState(null, "", hash);
  become(next, false);
}

/** A link that `visit` would lead to, for what can be opened in a tab of its own. */
export function linkTo(view: string, fields: Change = {}): string {
  return placeToHash(placeInView(view, current, asLeft.get(view), fields));
}

/** Calls at each change from now on; the result ends that. */
export function onPlace(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const readHash = (): void => {
  become(withView(parsePlace(location.hash)), true);
};
window.addEventListener("popstate", readHash);
window.addEventListener("hashchange", readHash);
