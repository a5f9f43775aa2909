/** A link to a place of the page. A plain click goes there from where one is now; others open it elsewhere. */
import { type Child, type Properties, element } from "./element";
import type { Change } from "./place";
import { linkTo, visit } from "./state";

export function viewLink(view: string, fields: Change, properties: Properties, ...children: Child[]): HTMLAnchorElement {
  const link = element("a", { ...properties, href: linkTo(view, fields) }, ...children);
  link.addEventListener("click", (event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    visit(view, fields);
  });
  return link;
}
