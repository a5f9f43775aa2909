/** What the ticked fixes would make of the step, all together: asked from the server at each tick. */
import { ask, isGivenUp, sentenceOf } from "../api";
import { element, replace } from "../element";
import type { FixesAnswer } from "../protocol";
import { fixesSentence } from "./fixes_sentence";

export interface FixesLine {
  readonly node: HTMLElement;
  show(findings: readonly number[], steps: string | undefined): void;
  close(): void;
}

export function fixesLine(untick: () => void): FixesLine {
  const text = element("span", { "aria-live": "polite" });
  const bar = element("div", { class: "before-after", "aria-hidden": "true" });
  const node = element("div", { class: "fixes-line", hidden: true }, text, bar, element("button", { on: { click: untick } }, "Untick all"));
  let asked = new AbortController();
  const load = async (findings: readonly number[], steps: string | undefined): Promise<void> => {
    try {
      const answer = await ask<FixesAnswer>("api/fixes", { finding: findings.join(","), steps }, asked.signal);
      text.textContent = fixesSentence(findings.length, answer);
      const share = answer.before_ns > 0 ? answer.after_ns / answer.before_ns : 1;
      replace(bar, element("span", { style: { width: `${Math.min(share, 1) * 100}%` } }));
    } catch (error) {
      if (!isGivenUp(error)) text.textContent = sentenceOf(error);
    }
  };
  return {
    node,
    show(findings, steps) {
      asked.abort();
      asked = new AbortController();
      node.hidden = findings.length === 0;
      if (findings.length > 0) void load(findings, steps);
    },
    close() {
      asked.abort();
    },
  };
}
