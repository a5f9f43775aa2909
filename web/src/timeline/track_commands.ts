/** What one does to tracks: pin, collapse, hide, filter, move. All of it goes to the URL, and comes back from there. */
import type { TrackId } from "../protocol";
import type { AddressWriter } from "./address_writer";
import type { TimelineModel } from "./timeline_model";
import { arrangementFields } from "./timeline_place";
import { type Arrangement, collapsedAtFirst, trackKey } from "./track_layout";

export class TrackCommands {
  constructor(
    private readonly model: TimelineModel,
    private readonly address: AddressWriter,
  ) {}

  togglePinned(track: TrackId): void {
    const { pinned } = this.model.arrangement;
    this.set({ pinned: pinned.includes(track) ? pinned.filter((other) => other !== track) : [...pinned, track] });
  }

  /** Of a track or a process, by the key of its row. */
  toggleCollapsed(key: string): void {
    const collapsed = this.collapsed();
    this.set({ collapsed: collapsed.includes(key) ? collapsed.filter((other) => other !== key) : [...collapsed, key] });
  }

  toggleAllCollapsed(): void {
    const keys = this.model.shape.tracks.map((track) => trackKey(track.id));
    const isAnyOpen = this.model.stage.layout.rows.some((row) => row.track !== null && !row.isCollapsed);
    this.set({ collapsed: isAnyOpen ? keys : [] });
  }

  hide(track: TrackId): void {
    const { hidden, pinned } = this.model.arrangement;
    this.set({ hidden: [...hidden, track], pinned: pinned.filter((other) => other !== track) });
  }

  showAll(): void {
    this.set({ hidden: [], filter: "" });
  }

  filter(text: string): void {
    this.set({ filter: text }, "replace");
  }

  moveBefore(track: TrackId, before: TrackId | null): void {
    const { pinned, moves } = this.model.arrangement;
    if (!pinned.includes(track)) {
      this.set({ moves: [...moves, { track, before }] });
      return;
    }
    const others = pinned.filter((other) => other !== track);
    const at = before === null ? others.length : others.indexOf(before);
    this.set({ pinned: at < 0 ? pinned : [...others.slice(0, at), track, ...others.slice(at)] });
  }

  /** One place up or down among what is shown. */
  moveBy(track: TrackId, by: -1 | 1): void {
    const row = this.model.stage.layout.byKey.get(trackKey(track));
    const { pinned, rows } = this.model.stage.layout;
    const shown = (row?.isPinned ? pinned : rows).flatMap((each) => (each.track ? [each.track.id] : []));
    const at = shown.indexOf(track);
    const target = at + (by < 0 ? -1 : 2);
    if (at < 0 || target < 0 || target > shown.length) return;
    this.moveBefore(track, shown[target] ?? null);
  }

  private collapsed(): readonly string[] {
    return this.model.arrangement.collapsed ?? collapsedAtFirst(this.model.shape);
  }

  private set(part: Partial<Arrangement>, history: "push" | "replace" = "push"): void {
    const arrangement = { ...this.model.arrangement, ...part };
    this.model.setArrangement(arrangement);
    this.address.write(arrangementFields(arrangement), history);
  }
}
