/** The flame graph: what the time of the host, of the device, or memory, goes to, by stack or by module. */
import { ask, isGivenUp } from "../api";
import { element, replace } from "../element";
import { counted, formatBytes, formatPercent, formatTime } from "../format";
import { emptyNote, errorNote, loadingNote } from "../messages";
import { type Easel, type Painting, fitIn, paintedExports } from "../painted_picture";
import { type Place, numberIn } from "../place";
import type { Flame } from "../protocol";
import { adviceFor, hasDeviceWork, isMemorySnapshot } from "../recorded";
import { spanWords } from "../span_words";
import { change, place } from "../state";
import { type Choice, choice } from "../table/choice";
import { lookAt } from "../timeline/look";
import { type Surface, surface } from "../timeline/surface";
import type { TextFit } from "../timeline/text_fit";
import { showOnTimeline } from "../to_timeline";
import type { Page, Shown, View } from "../view";
import { ROW_HEIGHT, flameFont, paintFlame } from "./flame_picture";
import { type FlameTree, type FlameWindow, type Found, flameTree, nameOf, neighborOf, nodeAt, parentOf, search, valueOf, windowOf } from "./flame_tree";

/** What one can choose, by the field of the URL; the first is the default. */
const CHOICES = {
  weight: { label: "Weight", options: [{ id: "host", title: "Host time" }, { id: "device", title: "Device time" }, { id: "memory", title: "Allocated" }, { id: "peak", title: "Bytes at the peak" }] },
  by: { label: "By", options: [{ id: "stack", title: "Stack" }, { id: "module", title: "Module" }] },
  order: { label: "Order", options: [{ id: "heavy", title: "Heaviest first" }, { id: "time", title: "As it ran" }] },
} as const;
type Field = keyof typeof CHOICES;
const FIELDS: readonly Field[] = ["weight", "by", "order"];
const TYPING_MS = 150;
const HIGHEST_FILE = 4000; // CSS pixels

export const flame: View = {
  id: "flame",
  title: "Flame graph",
  key: "7",
  keys: [
    { keys: "Click, Enter", does: "Zoom to a call" },
    { keys: "Esc, Backspace", does: "Zoom out to the caller" },
    { keys: "Home", does: "Show everything" },
    { keys: "Arrow keys", does: "Go to the caller, the largest call inside, and what lies beside" },
    { keys: "t", does: "Show an example on the timeline" },
    { keys: "/", does: "Search" },
  ],
  fills: true,
  show: (room, page) => new FlameView(room, page),
};

class FlameView implements Shown {
  private readonly canvas = element("canvas", {
    class: "flame-canvas", tabindex: 0, role: "application", "aria-describedby": "flame-chosen",
    "aria-label": "Flame graph. Arrow keys go from call to call, Enter zooms.",
  });
  private readonly content = element("div", { class: "flame-content" }, this.canvas);
  private readonly scroller = element("div", { class: "flame-scroll", tabindex: -1 }, this.content);
  private readonly about = element("div", { class: "flame-about", id: "flame-chosen", "aria-live": "polite" });
  private readonly tip = element("div", { class: "tooltip", role: "tooltip", hidden: true });
  private readonly body = element("div", { class: "flame-body" });
  private readonly found = element("output", { class: "soft flame-found", "aria-live": "polite" });
  private readonly input = element("input", {
    type: "search", placeholder: "Search calls", "aria-label": "Search calls by name", "aria-keyshortcuts": "/", spellcheck: "false",
  });
  private readonly choices: readonly { field: Field; choice: Choice }[];
  private readonly node: HTMLElement;
  private readonly surface: Surface;
  private readonly fit: TextFit;
  private look;
  private tree: FlameTree | null = null;
  private window: FlameWindow = { start: 0, width: 1, path: [] };
  private matches: Found | null = null;
  private hovered: number | null = null;
  private chosen: number | null = null;
  private asked = new AbortController();
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(room: HTMLElement, private readonly page: Page) {
    const reset = element("button", { title: "Show everything (Home)", on: { click: () => this.zoomTo(null) } }, "Show all");
    this.choices = FIELDS.map((field) => {
      const { label, options } = CHOICES[field];
      const choose = (id: string): void => change({ [field]: id === this.usual(field) ? null : id, node: null });
      return { field, choice: choice(label, options, choose) };
    });
    const tools = element(
      "div",
      { class: "flame-tools", role: "toolbar", "aria-label": "Flame graph" },
      ...this.choices.map((each) => each.choice.node),
      this.input,
      element("span", { class: "space" }),
      reset,
    );
    this.node = element("div", { class: "flame" }, tools, element("div", { class: "flame-line" }, this.about, this.found), this.body);
    room.append(this.node);
    this.look = lookAt(this.node, page.shape.colors);
    this.fit = fitIn(flameFont(this.look));
    this.surface = surface(this.canvas, {
      paint: (context, width, height, ratio) => this.paint(context, width, height, ratio),
      themeChanged: () => { this.look = lookAt(this.node, page.shape.colors); },
    });
    this.watch();
    this.readSearch(place());
    this.showChoices();
    void this.load();
  }

  private chosenIn(now: Place, field: Field): string {
    return now[field] ?? this.usual(field);
  }

  /** In a snapshot of memory nothing takes time. */
  private usual(field: Field): string {
    return field === "weight" && isMemorySnapshot(this.page.shape) ? "peak" : CHOICES[field].options[0].id;
  }

  private showChoices(): void {
    for (const { field, choice: each } of this.choices) each.set(this.chosenIn(place(), field));
  }

  placeChanged(now: Place, before: Place): void {
    const isOther = ["weight", "by", "order", "steps"].some((name) => now[name] !== before[name]);
    if (now["q"] !== before["q"]) this.readSearch(now);
    if (isOther) void this.load();
    else if (now["node"] !== before["node"]) this.applyZoom(now);
    this.showChoices();
  }

  keyDown(event: KeyboardEvent): boolean {
    const arrows = { ArrowUp: "parent", ArrowDown: "child", ArrowRight: "next", ArrowLeft: "previous" } as const;
    const towards = arrows[event.key as keyof typeof arrows] as (typeof arrows)[keyof typeof arrows] | undefined;
    if (event.key === "/") {
      this.input.focus();
      this.input.select();
    } else if (event.key === "Home") this.zoomTo(null);
    else if (event.key === "Escape" || event.key === "Backspace") this.zoomOut();
    else if (event.key === "t") this.openExample();
    else if (event.target !== this.canvas && event.target !== document.body) return false;
    else if (event.key === "Enter") this.zoomTo(this.chosen);
    else if (towards) this.step(towards);
    else return false;
    return true;
  }

  exports(): ReturnType<NonNullable<Shown["exports"]>> {
    return this.tree ? paintedExports("flame", () => this.painting()) : [];
  }

  /** From the outermost callers down, also what is scrolled away. */
  private painting(): Painting {
    const { tree, window, look, fit, matches: found } = this;
    const width = this.canvas.clientWidth;
    const height = Math.min(HIGHEST_FILE, (tree?.levels.length ?? 0) * ROW_HEIGHT);
    const paint = ({ context, ratio }: Easel): void => {
      if (tree) paintFlame({ context, width, height, ratio, look, fit, tree, window, found, hovered: null, chosen: null, scroll: 0 });
    };
    return { width, height, paint };
  }

  close(): void {
    clearTimeout(this.timer);
    this.asked.abort();
    this.surface.close();
  }

  private async load(): Promise<void> {
    this.asked.abort();
    this.asked = new AbortController();
    if (!this.tree) replace(this.body, loadingNote());
    const now = place();
    try {
      const [weight, by, order] = FIELDS.map((field) => this.chosenIn(now, field));
      const parameters = { weight, by, order, steps: now["steps"] };
      this.show(await ask<Flame>("api/flame", parameters, this.asked.signal), now);
    } catch (error) {
      if (isGivenUp(error)) return;
      this.tree = null;
      replace(this.about);
      replace(this.body, errorNote(error));
    }
  }

  private show(answer: Flame, now: Place): void {
    this.chosen = this.hovered = null;
    if (answer.value.length === 0) {
      this.tree = null;
      replace(this.about);
      replace(this.body, emptyNote(...nothingFor(this.chosenIn(now, "weight"), now, this.page)));
      return;
    }
    this.tree = flameTree(answer);
    this.content.style.height = `${this.tree.levels.length * ROW_HEIGHT + ROW_HEIGHT}px`;
    if (!this.scroller.isConnected) replace(this.body, this.scroller, this.tip);
    this.applySearch();
    this.applyZoom(now);
  }

  private applyZoom(now: Place): void {
    if (!this.tree) return;
    const node = numberIn(now, "node");
    const isNode = node !== null && Number.isInteger(node) && node >= 0 && node < this.tree.flame.value.length;
    this.window = windowOf(this.tree, isNode ? node : null);
    this.choose(isNode ? node : null);
  }

  private readSearch(now: Place): void {
    const text = now["q"] ?? "";
    if (document.activeElement !== this.input) this.input.value = text;
    this.applySearch();
  }

  private applySearch(): void {
    const { tree } = this;
    this.matches = tree && search(tree, place()["q"] ?? "");
    const { matches } = this;
    if (!tree || !matches) this.found.value = "";
    else if (matches.nodes === 0) this.found.value = "No match";
    else this.found.value = `${counted(matches.nodes, "match", "matches")}, ${formatPercent((100 * matches.value) / tree.flame.total)} of all`;
    this.surface.invalidate();
  }

  private zoomTo(node: number | null): void {
    change({ node });
  }

  private zoomOut(): void {
    const { tree, window } = this;
    const zoomed = window.path[window.path.length - 1];
    if (tree && zoomed !== undefined) this.zoomTo(parentOf(tree, zoomed));
  }

  private choose(node: number | null): void {
    this.chosen = node;
    replace(this.about, ...this.description(node));
    this.surface.invalidate();
  }

  private step(towards: "parent" | "child" | "next" | "previous"): void {
    const { tree } = this;
    if (!tree) return;
    const next = this.chosen === null ? (tree.levels[0]?.[0] ?? null) : neighborOf(tree, this.chosen, towards);
    if (next === null) return;
    if (towards === "parent" && this.window.path.length > 0 && !this.window.path.includes(next)) this.zoomTo(next);
    this.choose(next);
    const top = (tree.depth[next] ?? 0) * ROW_HEIGHT;
    const { scrollTop, clientHeight } = this.scroller;
    if (top < scrollTop || top > scrollTop + clientHeight - 2 * ROW_HEIGHT) this.scroller.scrollTop = top - 3 * ROW_HEIGHT;
  }

  private openExample(): void {
    const example = this.chosen === null ? null : (this.tree?.flame.example[this.chosen] ?? null);
    if (example !== null) void showOnTimeline(this.page, example, null);
  }

  private amount(value: number): string {
    return this.tree?.flame.unit === "bytes" ? formatBytes(value) : formatTime(value);
  }

  /** A line about a call, or about everything. */
  private description(node: number | null): (HTMLElement | string)[] {
    const { tree } = this;
    if (!tree) return [];
    const { flame: all } = tree;
    if (node === null) {
      const left = all.left_out === 0 ? "" : `, ${counted(all.left_out, "call")} too small to be shown`;
      return [element("b", {}, "Everything"), element("span", { class: "soft" }, `${this.amount(all.total)}${left}. ${this.span()}`)];
    }
    const example = all.example[node] ?? null;
    const show = element("button", { title: "t", on: { click: () => this.openExample() } }, "Show on timeline");
    const name = element("b", { class: "word", title: nameOf(tree, node) }, nameOf(tree, node));
    return [name, element("span", { class: "soft" }, this.shares(node)), ...(example === null ? [] : [show])];
  }

  private span(): string {
    if (this.chosenIn(place(), "weight") === "peak") return "At the peak of the whole recording.";
    const { steps } = place();
    const hasSteps = this.page.shape.steps.length > 0;
    return hasSteps && steps === undefined ? "Totals over the steps that the overview is about." : spanWords(0, steps, hasSteps);
  }

  private shares(node: number): string {
    const { tree } = this;
    if (!tree) return "";
    const value = valueOf(tree, node);
    const parent = parentOf(tree, node);
    const ofAll = `${formatPercent((100 * value) / tree.flame.total)} of all`;
    const ofCaller = parent === null ? "" : `, ${formatPercent((100 * value) / Math.max(valueOf(tree, parent), Number.MIN_VALUE))} of its caller`;
    return `${this.amount(value)} · ${ofAll}${ofCaller}`;
  }

  private paint(context: CanvasRenderingContext2D, width: number, height: number, ratio: number): void {
    const { tree, window, look, fit, hovered, chosen } = this;
    if (!tree) return;
    paintFlame({ context, width, height, ratio, look, fit, tree, window, hovered, chosen, found: this.matches, scroll: this.scroller.scrollTop });
    this.canvas.dataset["nodes"] = String(tree.flame.value.length);
    this.canvas.dataset["zoomed"] = String(window.path[window.path.length - 1] ?? "");
    this.canvas.dataset["chosen"] = String(chosen ?? "");
  }

  private pointed(event: MouseEvent): number | null {
    if (!this.tree) return null;
    const box = this.canvas.getBoundingClientRect();
    const depth = Math.floor((event.clientY - box.top + this.scroller.scrollTop) / ROW_HEIGHT);
    return nodeAt(this.tree, this.window, depth, (event.clientX - box.left) / Math.max(1, box.width));
  }

  private watch(): void {
    const { canvas, tip } = this;
    this.scroller.addEventListener("scroll", () => this.surface.invalidate());
    canvas.addEventListener("pointermove", (event) => {
      this.hover(this.pointed(event));
      const box = this.body.getBoundingClientRect();
      const x = Math.min(event.clientX - box.left + 14, box.width - tip.offsetWidth - 4);
      const isLow = event.clientY - box.top + 20 + tip.offsetHeight > box.height;
      tip.style.transform = `translate(${Math.max(0, Math.round(x))}px, ${Math.round(event.clientY - box.top + (isLow ? -12 - tip.offsetHeight : 16))}px)`;
    });
    canvas.addEventListener("pointerleave", () => this.hover(null));
    canvas.addEventListener("click", (event) => {
      const node = this.pointed(event);
      if (node === null) return;
      if (node === this.window.path[this.window.path.length - 1]) this.zoomOut();
      else this.zoomTo(node);
    });
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => change({ q: this.input.value }, "replace"), TYPING_MS);
    });
    this.input.addEventListener("keydown", (event) => {
      if (event.key !== "Escape") return;
      this.input.value = "";
      change({ q: null }, "replace");
      canvas.focus();
    });
  }

  private hover(node: number | null): void {
    if (node === this.hovered) return;
    this.hovered = node;
    this.tip.hidden = node === null;
    if (node !== null && this.tree) replace(this.tip, element("b", {}, nameOf(this.tree, node)), element("span", {}, this.shares(node)));
    this.surface.invalidate();
  }
}

/** Why there is no flame graph, and what to record for one. */
function nothingFor(weight: string, now: Place, { shape }: Page): string[] {
  if (weight === "memory" || weight === "peak") return ["The trace has no allocations.", adviceFor(shape, { torch: "Record them with profile_memory=True.", ours: "Record them with telltale record --memory." })];
  if (weight === "device" && !hasDeviceWork(shape)) {
    return ["The trace has no device work.", adviceFor(shape, { torch: "It was recorded without a GPU, or without ProfilerActivity.CUDA.", ours: "It was recorded without a GPU." })];
  }
  if (now["by"] === "module" && !shape.has_modules) {
    return ["The trace does not say which module calls what.", adviceFor(shape, { torch: "Record it with with_stack=True or with_modules=True.", ours: "Modules come from PyTorch programs under telltale record." })];
  }
  if (!shape.has_stacks) return ["The trace has no stacks.", adviceFor(shape, { torch: "Record it with with_stack=True.", ours: "Stacks come from Python programs under telltale record." })];
  return ["Nothing of this is inside the chosen steps."];
}
