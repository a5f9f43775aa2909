/**
 * DOM elements in one expression. Children that are texts become text nodes, never markup: names in a trace are
 * whatever their author wrote.
 */

export type Child = Node | string | number | null | undefined | false;
type Listener<K extends keyof HTMLElementEventMap> = (event: HTMLElementEventMap[K]) => void;
type Listeners = { [K in keyof HTMLElementEventMap]?: Listener<K> };
type Styles = Record<string, string | number>;
export interface Properties {
  class?: string;
  style?: Styles; // custom properties ("--share") too
  on?: Listeners;
  [attribute: string]: string | number | boolean | null | undefined | Styles | Listeners; // "" for true, none for false
}

function fill(node: HTMLElement | SVGElement, properties: Properties, children: readonly Child[]): void {
  for (const [name, value] of Object.entries(properties)) {
    if (value === true) node.setAttribute(name, "");
    else if (typeof value === "string" || typeof value === "number") node.setAttribute(name, String(value));
  }
  for (const [name, value] of Object.entries(properties.style ?? {})) node.style.setProperty(name, String(value));
  for (const [name, listener] of Object.entries(properties.on ?? {})) {
    node.addEventListener(name, listener as EventListener);
  }
  node.append(...written(children));
}

function written(children: readonly Child[]): (Node | string)[] {
  const result: (Node | string)[] = [];
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === "") continue;
    result.push(typeof child === "number" ? String(child) : child);
  }
  return result;
}

export function element<K extends keyof HTMLElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): HTMLElementTagNameMap[K] {
  const node = document.createElement(tag);
  fill(node, properties, children);
  return node;
}

export function svg<K extends keyof SVGElementTagNameMap>(tag: K, properties: Properties = {}, ...children: Child[]): SVGElementTagNameMap[K] {
  const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
  fill(node, properties, children);
  return node;
}

/** With what is built alike: the button that had the keyboard has it afterwards, as one that stands in its place. */
export function replaceAlike(parent: Element, ...children: Child[]): void {
  const buttons = (): HTMLElement[] => Array.from(parent.querySelectorAll<HTMLElement>("button, a[href]"));
  const at = buttons().findIndex((button) => button === document.activeElement);
  replace(parent, ...children);
  buttons()[at]?.focus({ preventScroll: true });
}

export function replace(parent: Element, ...children: Child[]): void {
  parent.replaceChildren(...written(children));
}
