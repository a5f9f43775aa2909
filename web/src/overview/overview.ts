/** The first thing one sees: why the step is slow, what would help, and where that is. */
import { ask } from "../api";
import { type Child, element } from "../element";
import { formatTime } from "../format";
import { fillRoom, loadingNote } from "../messages";
import type { Overview } from "../protocol";
import { isMemorySnapshot } from "../recorded";
import { change, place } from "../state";
import type { Page, Shown, View } from "../view";
import { viewLink } from "../view_link";
import { breakdownBar, breakdownLists } from "./breakdown";
import { numbersIn, toggled } from "./evidence";
import { reportCommand, savingsSentence } from "./overview_words";
import { findingCard } from "./finding_card";
import { fixesLine } from "./fixes_line";
import { counterTable, latencyTable, threadTable } from "./repeats";
import { stepsOf } from "./steps";
import { stepsStrip } from "./steps_strip";

const OPEN_AT_FIRST = "0";
const NONE = "none"; // in the hash: all cards are closed

function show(room: HTMLElement, firstPage: Page): Shown {
  let page = firstPage;
  const node = element("div", { class: "overview" }, loadingNote("Analyzing"));
  const strip = stepsStrip((steps) => change({ steps, fixes: null }));
  const fixes = fixesLine(() => change({ fixes: null }));
  let asked = new AbortController();
  let shownFindings = 0;
  let hadStrip = false; // the keyboard, which goes astray while the strip gets its new place

  const ticked = (): number[] => numbersIn(place()["fixes"], shownFindings);
  const opened = (): number[] => numbersIn(place()["open"] ?? OPEN_AT_FIRST, shownFindings);

  const cards = (answer: Overview): HTMLElement => {
    const items = answer.analyze.findings.map((finding, number) => {
      const extra = answer.findings[number];
      if (extra === undefined) return null;
      return findingCard(number, finding, extra, {
        traceNs: page.shape.duration_ns,
        hasSource: page.server.has_source,
        isOpen: opened().includes(number),
        isTicked: ticked().includes(number),
        opened(isOpen) {
          if (isOpen !== opened().includes(number)) change({ open: toggled(opened(), number) ?? NONE }, "replace");
        },
        ticked: () => change({ fixes: toggled(ticked(), number) }, "replace"),
      });
    });
    return element("ol", { class: "findings" }, ...items);
  };

  const content = async (): Promise<Child[]> => {
    const steps = place()["steps"];
    const answer = await ask<Overview>("api/overview", { steps }, asked.signal);
    shownFindings = answer.findings.length;
    hadStrip = strip.hasFocus();
    fixes.show(ticked(), steps);
    strip.setChosen(steps ?? "");
    return [
      element("p", { class: "soft" }, answer.subject),
      element("h1", {}, answer.headline.step),
      element("p", { class: "lead" }, answer.headline.filling),
      isMemorySnapshot(page.shape) && viewLink("memory", {}, { class: "button" }, "See what holds the memory"),
      hasTimes(answer) && breakdownBar(answer.breakdown),
      element("div", { class: "halves" }, element("div", {}, helps(answer), ...repeats(answer)), element("div", { class: "aside" }, ...aside(answer))),
      fixes.node,
    ];
  };

  /** Is there a step of which parts take time? Between the allocations of a snapshot, nobody knows what ran. */
  const hasTimes = ({ breakdown }: Overview): boolean => breakdown.length > 0 && !isMemorySnapshot(page.shape);

  const helps = (answer: Overview): HTMLElement | null => {
    if (isMemorySnapshot(page.shape) && answer.findings.length === 0) return null;
    if (answer.findings.length === 0 && answer.nothing_found === "") return null;
    return section(
      "What would help",
      savingsSentence(answer) || false,
      cards(answer),
      answer.nothing_found !== "" && element("p", {}, answer.nothing_found),
    );
  };
  const repeats = ({ analyze, breakdown }: Overview): Child[] => [
    analyze.latencies.length > 0 && section("What repeats", false, latencyTable(analyze.latencies, page)),
    breakdown.length === 0 && analyze.threads.length > 0 && section("Threads", false, threadTable(analyze.threads, page)),
    breakdown.length === 0 && analyze.counters.length > 0 && section("Counters", "Means are over time: a value holds until the next.", counterTable(analyze.counters)),
  ];
  const aside = (answer: Overview): Child[] => {
    const about = [answer.recording_cost, answer.remarks, answer.look].filter((text) => text !== "");
    return [
      page.shape.steps.length > 1 && section("Steps", false, strip.node),
      hasTimes(answer) &&
        section("Where the time goes", `Of a step of ${formatTime(answer.analyze.step.mean_ns)}, as recorded.`, ...breakdownLists(answer.breakdown, answer.has_device ? page.shape.device_word : "host")),
      about.length > 0 && section("About this recording", false, ...about.map((text) => element("p", {}, text))),
    ];
  };

  const loadStrip = async (): Promise<void> => {
    strip.setSteps(stepsOf(page.shape.steps, undefined), page.shape.device_word);
    try {
      const all = await ask<Overview>("api/overview", {}, asked.signal);
      strip.setSteps(stepsOf(page.shape.steps, all.analyze.steps), page.shape.device_word);
    } catch {
      // what the diagnosis says of the steps is missing; why stands above
    }
  };
  const load = (): void => {
    asked.abort();
    asked = new AbortController();
    void fillRoom(node, content).then(() => {
      if (hadStrip) strip.focus();
    });
  };

  room.append(node);
  load();
  void loadStrip();
  return {
    savedOtherwise: () => ({ sentence: "The overview as one file, to keep or to send:", command: reportCommand(page.server.file, place()["steps"]) }),
    placeChanged(now, before) {
      if (now["steps"] !== before["steps"]) load();
      else if (now["fixes"] !== before["fixes"]) {
        fixes.show(ticked(), now["steps"]);
        tickBoxes(node, ticked());
      }
    },
    pageChanged(next) {
      page = next;
      load();
      void loadStrip();
    },
    close() {
      asked.abort();
      strip.close();
      fixes.close();
    },
  };
}

function section(title: string, caption: string | false, ...content: Child[]): HTMLElement {
  return element("section", {}, element("h2", {}, title), caption !== false && element("p", { class: "caption" }, caption), ...content);
}

function tickBoxes(node: HTMLElement, ticked: readonly number[]): void {
  node.querySelectorAll<HTMLInputElement>(".try input").forEach((box) => (box.checked = ticked.includes(Number(box.dataset["finding"]))));
}

export const overview: View = {
  id: "overview",
  title: "Overview",
  key: "1",
  keys: [{ keys: "← →, Enter", does: "on the strip of steps: choose a step; with Shift, several" }],
  show,
};
