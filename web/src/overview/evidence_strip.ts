/**
 * A line above the timeline that says of which finding one sees the evidence, with the way to the next place and back.
 * It is there while the hash names a finding.
 */
import { ask } from "../api";
import { element, replaceAlike } from "../element";
import type { Overview } from "../protocol";
import { change, place, viewOf } from "../state";
import type { Page } from "../view";
import { viewLink } from "../view_link";
import { evidenceFields, nextPlace, numbersIn } from "./evidence";

export interface EvidenceStrip {
  readonly node: HTMLElement;
  update(page: Page | undefined): Promise<void>;
  /** To the next place or the previous one. False where no finding is shown. */
  walk(towards: 1 | -1): boolean;
}

export function evidenceStrip(): EvidenceStrip {
  const node = element("div", { class: "evidence-strip", hidden: true });
  let walkTo: ((towards: 1 | -1) => void) | undefined;

  const show = ({ analyze, findings }: Overview, page: Page): void => {
    const [number] = numbersIn(place()["finding"], findings.length);
    const finding = number === undefined ? undefined : analyze.findings[number];
    const places = number === undefined ? [] : (findings[number]?.places ?? []);
    const [at = 0] = numbersIn(place()["at"], places.length);
    node.hidden = number === undefined || finding === undefined || places.length === 0;
    if (number === undefined || finding === undefined || node.hidden) return;
    const walk = (towards: 1 | -1): void =>
      change(evidenceFields(number, nextPlace(at, towards, places.length), places, page.shape.duration_ns));
    walkTo = walk;
    replaceAlike(
      node,
      viewLink("overview", { open: number }, {}, `Finding ${number + 1}: ${finding.title}`),
      element("span", { class: "soft", "aria-live": "polite" }, `evidence ${at + 1} of ${places.length}`),
      element("button", { title: "Previous evidence (,)", "aria-label": "Previous evidence", on: { click: () => walk(-1) } }, "‹"),
      element("button", { title: "Next evidence (.)", "aria-label": "Next evidence", on: { click: () => walk(1) } }, "›"),
      element("button", { class: "quiet", "aria-label": "Close the evidence", on: { click: () => change({ finding: null, at: null }) } }, "×"),
    );
  };
  return {
    node,
    async update(page) {
      walkTo = undefined;
      const isAsked = page !== undefined && viewOf(place()) === "timeline" && place()["finding"] !== undefined;
      if (!isAsked) {
        node.hidden = true;
        return;
      }
      try {
        show(await ask<Overview>("api/overview", { steps: place()["steps"] }), page);
      } catch {
        node.hidden = true; // the header says why there is no diagnosis
      }
    },
    walk(towards) {
      walkTo?.(towards);
      return walkTo !== undefined;
    },
  };
}
