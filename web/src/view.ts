/** What a view of the page is, and what it gets. The list of them is views.ts. */
import type { Place } from "./place";
import type { State, TraceShape } from "./protocol";

/** For the sheet that `?` opens: "W, A, S, D" — "zoom and pan". */
export interface KeyHint {
  keys: string;
  does: string;
}

/** What the page knows while a trace is open. */
export interface Page {
  readonly server: State;
  readonly shape: TraceShape;
}

/** A file that the user can save. */
export interface Export {
  label: string; // "PNG", "SVG", "CSV"
  name: string; // of the file
  content: () => Promise<Blob> | Blob;
}

/** A view on the screen. Whatever it listens to by itself ends with `close`. */
export interface Shown {
  /** The hash changed, and the view is still this one. */
  placeChanged(now: Place, before: Place): void;
  /** The trace was read again. Without this the view is closed and shown anew. */
  pageChanged?(page: Page): void;
  /** A key outside of text fields. True where the view used it: then nobody else gets it. */
  keyDown?(event: KeyboardEvent): boolean;
  /** What can be saved of the view as it is now. */
  exports?(): Export[];
  /** What to do for a file that the page itself does not make. */
  savedOtherwise?(): { sentence: string; command: string };
  close(): void;
}

export interface View {
  readonly id: string; // in the hash
  readonly title: string;
  readonly key: string; // the digit that shows it
  readonly keys: readonly KeyHint[];
  readonly isOfAllSteps?: boolean; // shows the same whichever steps are chosen
  readonly fills?: boolean; // takes all of the room and scrolls inside; otherwise the page scrolls
  show(room: HTMLElement, page: Page): Shown;
}
