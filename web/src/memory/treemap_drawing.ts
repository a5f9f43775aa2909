/** What lives in memory by module, as a treemap: a rectangle leads to where the largest of it was allocated. */
import { element, replace, svg } from "../element";
import { counted, formatBytes, formatPercent } from "../format";
import { fitIn } from "../painted_picture";
import type { MemoryRow } from "../protocol";
import { largestOf, treemap } from "./treemap";

const FONT = 12;
const PADDING = 6;
const LEAST_HEIGHT = 20; // of a rectangle with its name on it
const SHADES = [0.99, 0.5, 0.25, 0.1]; // of the largest: the more, the darker

export class ModuleTreemap {
  readonly drawing = svg("svg", { class: "memory-treemap", role: "group", "aria-label": "Memory by module, to scale" });
  private readonly note = element("p", { class: "soft" });
  readonly node = element("section", { class: "wide" }, element("h3", {}, "Made in module, to scale"), this.drawing, this.note);
  private readonly resized = new ResizeObserver(() => this.draw());
  private rows: readonly MemoryRow[] = [];
  private whole = 1;

  constructor(private readonly choose: (example: number) => void) {
    this.resized.observe(this.drawing);
    this.drawing.addEventListener("keydown", (event) => this.keyDown(event));
  }

  /** Shares are of `whole`. False where there is too little to compare. */
  show(rows: readonly MemoryRow[], whole: number): boolean {
    this.whole = whole;
    this.rows = largestOf(rows.filter(({ bytes }) => bytes > 0));
    this.draw();
    return this.rows.length > 1;
  }

  close(): void {
    this.resized.disconnect();
  }

  /** One rectangle has its turn with Tab; arrows go to the others. */
  private keyDown(event: KeyboardEvent): void {
    const tiles = Array.from(this.drawing.querySelectorAll<SVGGElement>("g"));
    const at = tiles.findIndex((tile) => tile === event.target);
    const towards = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key] ?? 0;
    const next = tiles[at + towards];
    const example = this.rows[at]?.example ?? null;
    if (towards !== 0 && next) {
      tiles[at]?.setAttribute("tabindex", "-1");
      next.setAttribute("tabindex", "0");
      next.focus();
    } else if ((event.key === "Enter" || event.key === " ") && example !== null) this.choose(example);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  private draw(): void {
    const width = this.drawing.clientWidth;
    const height = this.drawing.clientHeight;
    const total = this.rows.reduce((sum, { bytes }) => sum + bytes, 0);
    if (width === 0 || height === 0 || total === 0) return;
    const boxes = treemap(this.rows.map(({ bytes }) => bytes), { left: 0, top: 0, width, height });
    const fit = fitIn(`${FONT}px ${getComputedStyle(this.drawing).fontFamily}`);
    this.drawing.setAttribute("viewBox", `0 0 ${width} ${height}`);
    let unnamed = 0;
    replace(
      this.drawing,
      ...this.rows.map((row, i) => {
        const box = boxes[i] ?? { left: 0, top: 0, width: 0, height: 0 };
        const size = `${formatBytes(row.bytes)}, ${formatPercent((100 * row.bytes) / Math.max(1, this.whole))}`;
        const room = box.width - 2 * PADDING;
        const name = box.height < LEAST_HEIGHT ? "" : fit.fit(row.name, room);
        if (name === "") ++unnamed;
        const isSizeShown = name !== "" && box.height >= LEAST_HEIGHT + FONT + 4 && fit.width(size) <= room;
        const { example } = row;
        const group = svg(
          "g",
          { class: example === null ? "" : "link", role: example === null ? "img" : "button", tabindex: i === 0 ? 0 : -1, "aria-label": `${row.name}: ${size}` },
          svg("title", {}, `${row.name}\n${size}, ${counted(row.blocks, "block")}`),
          svg("rect", { class: shadeOf(row.bytes / (this.rows[0]?.bytes ?? 1)), x: box.left, y: box.top, width: Math.max(0, box.width - 1), height: Math.max(0, box.height - 1) }),
          name !== "" && svg("text", { class: "tile-name", x: box.left + PADDING, y: box.top + FONT + 4 }, name),
          isSizeShown && svg("text", { class: "tile-size", x: box.left + PADDING, y: box.top + 2 * FONT + 8 }, size),
        );
        if (example !== null) group.addEventListener("click", () => this.choose(example));
        return group;
      }),
    );
    this.note.textContent = unnamed === 0 ? "" : `${counted(unnamed, "module is", "modules are")} too small for a name here: point at ${unnamed === 1 ? "it" : "them"}.`;
  }
}

function shadeOf(share: number): string {
  const shade = SHADES.findIndex((least) => share >= least);
  return shade < 0 ? "" : `shade-${String(shade)}`;
}
