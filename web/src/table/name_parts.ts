/** Names of kernels and operators begin alike and are told apart by their ends: what is too long loses its middle. */
import { element } from "../element";

/** A name, of which so many letters at the end are always seen. To stand in an element of class "name". */
export function nameParts(text: string, keptEnd: number): (HTMLElement | false)[] {
  const cut = text.length > 2 * keptEnd ? text.length - keptEnd : text.length;
  return [element("span", { class: "start" }, text.slice(0, cut)), cut < text.length && element("span", { class: "end" }, text.slice(cut))];
}
