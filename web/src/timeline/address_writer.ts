/**
 * Writes to the URL what the user does on the timeline. The window is written when it has come to rest, and with all
 * else that is written, so that going back finds it as it was.
 */
import type { Change } from "../place";
import { change } from "../state";
import type { TimelineModel } from "./timeline_model";
import { viewFields } from "./timeline_place";

const REST_MS = 250;

export class AddressWriter {
  private timer: ReturnType<typeof setTimeout> | undefined;
  private writing = false;

  constructor(private readonly model: TimelineModel) {}

  /** Is the present change of place of our own making? */
  get isOwn(): boolean {
    return this.writing;
  }

  moved(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.write({}, "replace"), REST_MS);
  }

  write(fields: Change, history: "push" | "replace" = "push"): void {
    clearTimeout(this.timer);
    this.writing = true;
    try {
      change({ ...viewFields(this.model.view), ...fields }, history);
    } finally {
      this.writing = false;
    }
  }

  close(): void {
    clearTimeout(this.timer);
  }
}
