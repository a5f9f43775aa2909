/** The way from a number to the calls behind it: the timeline around an event, with a search for all of its name. */
import { ask } from "./api";
import type { EventDetails, EventId } from "./protocol";
import { rangeAround } from "./range_around";
import { visit } from "./state";
import type { Page } from "./view";

export async function showOnTimeline(page: Page, example: EventId | null, search: string | null): Promise<void> {
  const fields = { q: search, exact: search === null ? null : 1, event: example, finding: null, at: null };
  try {
    if (example === null) {
      visit("timeline", fields);
      return;
    }
    const { event } = await ask<EventDetails>("api/event", { id: example });
    visit("timeline", { ...fields, ...rangeAround(event, page.shape.duration_ns) });
  } catch {
    visit("timeline", fields); // says itself what is wrong with the event
  }
}
