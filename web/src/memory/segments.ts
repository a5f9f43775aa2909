/** The address map: each segment of the allocator a row, its blocks where they lie, colored by what they are for. */
import { paint as colorOf, themeColor } from "../colors";
import { element, replace } from "../element";
import { counted, formatBytes } from "../format";
import { type Easel, type Painting, paintedExports } from "../painted_picture";
import type { MemoryCategory, Segment, Segments } from "../protocol";
import { type Surface, surface } from "../timeline/surface";
import type { Export } from "../view";
import { type PartPlace, edgesOf, neighborOf, offsetsOf, partAt, rowHeight } from "./segment_rows";

const GAP = 3; // CSS pixels
const FONT = "12px system-ui, sans-serif";
const STATES = ["free", "in use", "freed, and waits for its stream"];

export class SegmentMap {
  private readonly canvas = element("canvas", { class: "segment-map", tabindex: 0, role: "img", "aria-label": "Segments of the allocator", "aria-describedby": "segment-part" });
  private readonly readout = element("p", { class: "readout", id: "segment-part", "aria-live": "polite" });
  private readonly note = element("p", { class: "soft" });
  readonly node = element("section", { class: "wide memory-segments" }, element("h2", {}, "Segments at the peak"), this.readout, this.canvas, this.note);
  private readonly surface: Surface;
  private drawn: Segments = { segments: [], makers: [], left_out: 0, left_out_bytes: 0 };
  private categories: readonly MemoryCategory[] = [];
  private pointed: PartPlace | null = null;

  constructor() {
    this.surface = surface(this.canvas, {
      paint: (context, width, height, ratio) => this.paint({ context, pixels: context, ratio }, width, height),
      themeChanged: () => this.surface.invalidate(),
    });
    this.canvas.addEventListener("pointermove", (event) => this.point(this.placeAt(event)));
    this.canvas.addEventListener("pointerleave", () => this.point(null));
    this.canvas.addEventListener("blur", () => this.point(null));
    this.canvas.addEventListener("keydown", (event) => this.keyDown(event));
  }

  show(drawn: Segments, categories: readonly MemoryCategory[]): void {
    this.drawn = drawn;
    this.categories = categories;
    this.node.hidden = drawn.segments.length === 0;
    this.canvas.style.height = `${this.height}px`;
    this.canvas.dataset["segments"] = String(drawn.segments.length);
    this.canvas.setAttribute("aria-label", `${counted(drawn.segments.length, "segment")} of the allocator by address. Arrow keys go from block to block.`);
    this.note.textContent = drawn.left_out === 0 ? "" : `and ${counted(drawn.left_out, "smaller segment")}, ${formatBytes(drawn.left_out_bytes)}`;
    this.point(null);
    this.surface.invalidate();
  }

  exports(): Export[] {
    return this.node.hidden ? [] : paintedExports("memory-segments", () => this.painting()).map((each) => ({ ...each, label: each.label.replace("Picture", "Segments") }));
  }

  close(): void {
    this.surface.close();
  }

  private get row(): number {
    return rowHeight(this.drawn.segments.length);
  }

  private get edges(): { left: number; right: number } {
    return edgesOf(this.drawn.segments.length);
  }

  private get height(): number {
    return this.drawn.segments.length * (this.row + GAP);
  }

  private painting(): Painting {
    const width = this.canvas.clientWidth;
    return { width, height: this.height, paint: (easel) => this.paint(easel, width, this.height) };
  }

  private placeAt(event: MouseEvent): PartPlace | null {
    const box = this.canvas.getBoundingClientRect();
    const at = Math.floor((event.clientY - box.top) / (this.row + GAP));
    const segment = this.drawn.segments[at];
    if (segment === undefined) return null;
    const { left, right } = this.edges;
    const part = partAt(segment, (event.clientX - box.left - left) / Math.max(1, box.width - left - right));
    return part === null ? null : { segment: at, part };
  }

  private keyDown(event: KeyboardEvent): void {
    if (!event.key.startsWith("Arrow")) return;
    const next = this.pointed === null ? { segment: 0, part: 0 } : neighborOf(this.drawn.segments, this.pointed, event.key);
    if (next !== null) this.point(next);
    event.preventDefault();
    event.stopPropagation();
  }

  private point(place: PartPlace | null): void {
    this.pointed = place;
    const segment = place === null ? undefined : this.drawn.segments[place.segment];
    replace(this.readout, place === null || segment === undefined ? "What PyTorch's allocator holds, by address; the pale parts are free. Point at a block." : this.words(segment, place.part));
    this.surface.invalidate();
  }

  private words(segment: Segment, part: number): string {
    const state = segment.part_state[part] ?? 0;
    const bytes = formatBytes(segment.part_bytes[part] ?? 0);
    const where = `in the segment of ${formatBytes(segment.bytes)} at ${segment.address}${segment.stream === 0 ? "" : `, stream ${segment.stream}`}${segment.pool === "" ? "" : `, pool ${segment.pool}`}`;
    if (state === 3) return `${bytes} in ${counted(segment.part_blocks[part] ?? 0, "small block")}, ${formatBytes(segment.part_used_bytes[part] ?? 0)} of them in use, ${where}.`;
    const category = this.categories[segment.part_category[part] ?? -1]?.words;
    const maker = this.drawn.makers[segment.part_maker[part] ?? -1];
    return `${[`${bytes} ${STATES[state] ?? ""}`, category, maker === undefined ? undefined : `made by ${maker}`, where].filter((text) => text !== undefined).join(", ")}.`;
  }

  private paint({ context, ratio }: Easel, width: number, height: number): void {
    const [ground, raised, line, ink, soft] = ["--ground", "--raised", "--line", "--ink", "--soft"].map(themeColor);
    const { left, right } = this.edges;
    const room = Math.max(1, width - left - right);
    context.setTransform(ratio, 0, 0, ratio, 0, 0);
    context.fillStyle = ground ?? "";
    context.fillRect(0, 0, width, height);
    context.font = FONT;
    context.textBaseline = "middle";
    this.drawn.segments.forEach((segment, row) => {
      const top = row * (this.row + GAP);
      const scale = room / Math.max(1, segment.bytes);
      context.fillStyle = raised ?? "";
      context.fillRect(left, top, room, this.row);
      offsetsOf(segment).forEach((offset, part) => {
        const isPointed = this.pointed?.segment === row && this.pointed.part === part;
        const share = (segment.part_used_bytes[part] ?? 0) / Math.max(1, segment.part_bytes[part] ?? 0);
        const partWidth = (segment.part_bytes[part] ?? 0) * scale;
        if (share > 0) {
          const category = this.categories[segment.part_category[part] ?? -1];
          context.fillStyle = category === undefined ? (soft ?? "") : colorOf(category.color).fill;
          context.globalAlpha = segment.part_state[part] === 2 ? 0.5 : category === undefined ? 0.25 + 0.5 * share : 1;
          context.fillRect(left + offset * scale, top, Math.max(0.5, partWidth - (partWidth > 3 ? 1 : 0)), this.row);
          context.globalAlpha = 1;
        }
        if (!isPointed) return;
        context.strokeStyle = ink ?? "";
        context.lineWidth = 2;
        context.strokeRect(left + offset * scale, top, Math.max(2, partWidth), this.row);
      });
      context.strokeStyle = line ?? "";
      context.lineWidth = 1;
      context.strokeRect(left + 0.5, top + 0.5, room - 1, this.row - 1);
      if (left === 0) return;
      context.fillStyle = soft ?? "";
      context.textAlign = "left";
      context.fillText(`${formatBytes(segment.bytes)}${segment.pool !== "" ? ", private pool" : segment.stream === 0 ? "" : ", other stream"}`, 0, top + this.row / 2);
      context.textAlign = "right";
      context.fillText(`${formatBytes(segment.bytes - segment.used_bytes)} free`, width, top + this.row / 2);
    });
  }
}
