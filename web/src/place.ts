/**
 * Where in the page one is: a view and what it shows, as fields of the URL's hash ("#view=timeline&start=0&end=5000").
 * A view may add fields of its own. A field that is not there has its default.
 */

export type Place = Readonly<Record<string, string>>;

/** Fields to set; null removes one. */
export type Change = Readonly<Record<string, string | number | null>>;

/** What stays when one goes to another view: the steps that the page is about, and the fixes that are ticked. */
const KEPT_ACROSS_VIEWS = ["steps", "fixes"];

export function parsePlace(hash: string): Place {
  const place: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(hash.replace(/^#/, ""))) place[name] = value;
  return place;
}

/** The view comes first, then the other fields by name, so that equal places have equal links. */
export function placeToHash(place: Place): string {
  const names = Object.keys(place).filter((name) => name !== "view").sort();
  const parameters = new URLSearchParams();
  for (const name of ["view", ...names]) {
    const value = place[name];
    if (value !== undefined && value !== "") parameters.append(name, value);
  }
  return "#" + parameters.toString().replaceAll("%2C", ",").replaceAll("%3A", ":").replaceAll("%2F", "/");
}

export function changedPlace(place: Place, change: Change): Place {
  const result: Record<string, string> = { ...place };
  for (const [name, value] of Object.entries(change)) {
    if (value === null || value === "") Reflect.deleteProperty(result, name);
    else result[name] = String(value);
  }
  return result;
}

/** The place in another view: as it was left there, with what stays across views as it is now. */
export function placeInView(view: string, now: Place, asLeft: Place | undefined, change: Change): Place {
  const kept: Record<string, string | null> = {};
  for (const name of KEPT_ACROSS_VIEWS) kept[name] = now[name] ?? null;
  return changedPlace(asLeft ?? {}, { ...kept, ...change, view });
}

/** A field that is a number, or null where it is missing or something else. */
export function numberIn(place: Place, name: string): number | null {
  const text = place[name];
  if (text === undefined || text.trim() === "") return null;
  const value = Number(text);
  return Number.isFinite(value) ? value : null;
}
