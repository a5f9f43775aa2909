import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import { evidenceFields, nextPlace, numbersIn, toggled } from "../src/overview/evidence";
import { fixesSentence } from "../src/overview/fixes_sentence";
import { reportCommand, savingsSentence } from "../src/overview/overview_words";
import { type Step, choiceText, fullHeight, isChosen, lengthOf, pacedByDevice, stepAt, stepText, stepsOf } from "../src/overview/steps";
import type { EventPlace, Overview } from "../src/protocol";
import { rangeAround } from "../src/range_around";
import { shellWord } from "../src/shell_word";

const event = (start_ns: number, duration_ns: number): EventPlace => ({
  id: 7, name: "kernel", kind: "kernel", track: 1, lane: 0, start_ns, duration_ns, color: 0,
});

test("a range around an event has it in the middle and ends with the trace", () => {
  assert.deepEqual(rangeAround(event(1_000_000, 100_000), 10_000_000), { start: 450_000, end: 1_650_000 });
  assert.deepEqual(rangeAround(event(1_000_000, 0), 10_000_000), { start: 900_000, end: 1_100_000 });
  assert.deepEqual(rangeAround(event(0, 1000), 10_000_000), { start: 0, end: 200_000 });
  assert.deepEqual(rangeAround(event(9_999_000, 1000), 10_000_000), { start: 9_800_000, end: 10_000_000 });
  assert.deepEqual(rangeAround(event(0, 5000), 5000), { start: 0, end: 5000 });
});

test("evidence is reached by range and event, and walked around in a circle", () => {
  const places = [event(0, 10), { ...event(5_000_000, 10), id: 9 }];
  assert.deepEqual(evidenceFields(2, 1, places, 10_000_000), { start: 4_900_005, end: 5_100_005, event: 9, finding: 2, at: 1 });
  assert.deepEqual(evidenceFields(2, 5, places, 10_000_000), {});
  assert.deepEqual([nextPlace(0, 1, 2), nextPlace(1, 1, 2), nextPlace(0, -1, 2)], [1, 0, 1]);
});

test("lists in the hash drop what makes no sense and toggle one number", () => {
  assert.deepEqual(numbersIn("0,2,2,x,-1,9", 5), [0, 2]);
  assert.deepEqual(numbersIn(undefined, 5), []);
  assert.equal(toggled([2], 0), "0,2");
  assert.equal(toggled([0, 2], 0), "2");
  assert.equal(toggled([2], 2), null);
});

const marks = [3, 4, 5, 6].map((index) => ({ index, start_ns: index * 1000, duration_ns: 1000 }));

test("steps say why they are left out", () => {
  const step = { start_ns: 0, duration_ns: 1500, device_busy_ns: null, is_outlier: false, is_cut: false, is_counted: true };
  const steps = stepsOf(marks, [
    { ...step, index: 3, is_outlier: true, is_counted: false },
    { ...step, index: 5, is_cut: true, is_counted: false },
    { ...step, index: 6, is_counted: false },
  ]);
  assert.deepEqual(steps.map(({ state }) => state), ["outlier", "counted", "cut", "left out"]);
  assert.deepEqual(steps.map(({ host_ns }) => host_ns), [1500, 1000, 1500, 1500]);
  assert.deepEqual(stepsOf(marks, [{ ...step, index: 5 }]).map(({ state }) => state), ["warming up", "warming up", "counted", "counted"]);
  assert.deepEqual(steps.map((each) => stepText(each, "GPU")), [
    "Step 3, 1.50 µs. Left out: unlike the others, as steps that warm up are.",
    "Step 4, 1.00 µs.",
    "Step 5, 1.50 µs. Left out: the recording does not hold all of its work.",
    "Step 6, 1.50 µs. Left out: a pause or an unusual step parts it from the longest run.",
  ]);
});

test("steps that the GPU falls behind in are as long as its work, and say what the host took", () => {
  const step = { start_ns: 0, duration_ns: 9_760_000, device_busy_ns: 14_400_000, is_outlier: false, is_cut: false, is_counted: true };
  const behind = stepsOf(marks.slice(0, 2), [{ ...step, index: 3 }, { ...step, index: 4 }]);
  assert.deepEqual(behind.map(lengthOf), [14_400_000, 14_400_000]);
  assert.equal(stepText(behind[0] as Step, "GPU"), "Step 3, 14.4 ms of work on the GPU, 9.76 ms on the host.");
  assert.equal(pacedByDevice(behind, "device"), "The device sets the pace: it works longer on a step than the host takes to launch it.");
  assert.equal(pacedByDevice(stepsOf(marks.slice(0, 2), [{ ...step, index: 3, device_busy_ns: 100 }, { ...step, index: 4 }]), "GPU"), "");
  assert.equal(pacedByDevice([], "GPU"), "");
});

test("what is said of savings fits how many there are", () => {
  const words = (savings: readonly number[], tryable: number): string =>
    savingsSentence({
      analyze: { findings: savings.map((high_percent) => ({ saving: { high_percent } })) } as Overview["analyze"],
      findings: savings.map((_, at) => ({ can_be_tried: at < tryable })) as Overview["findings"],
    });
  assert.equal(words([], 0), "");
  assert.equal(words([0], 0), "");
  assert.equal(words([12, 0], 1), "The saving is what the fix would buy.");
  assert.equal(words([12, 3], 1), "Each saving is what that fix alone would buy; savings overlap.");
  assert.equal(words([12, 3], 2), "Each saving is what that fix alone would buy; savings overlap. Tick several to see them together.");
});

test("the command of the report has the chosen steps", () => {
  assert.equal(reportCommand("train.json.gz", undefined), "telltale analyze train.json.gz --html report.html");
  assert.equal(reportCommand("train.json.gz", "4..5"), "telltale analyze train.json.gz --steps 4..5 --html report.html");
});

test("a command that is copied means the file, whatever its name is", () => {
  for (const name of ["train.json.gz", "my run (2).tell", "it's; rm -rf $HOME `x` \"y\".json", "a\nb", "größe.tell"]) {
    assert.equal(execFileSync("/bin/sh", ["-c", `printf %s ${shellWord(name)}`], { encoding: "utf8" }), name);
  }
  assert.equal(shellWord("-x.tell"), "./-x.tell");
  assert.equal(reportCommand("my run.json", "4;ls"), "telltale analyze 'my run.json' --steps '4;ls' --html report.html");
});

test("a choice of steps reads as --steps takes it, in whichever direction it was dragged", () => {
  const steps = stepsOf(marks, undefined);
  assert.equal(choiceText(steps, { first: 1, last: 1 }), "4");
  assert.equal(choiceText(steps, { first: 3, last: 1 }), "4..6");
  assert.equal(choiceText([], { first: 0, last: 0 }), "");
});

test("chosen steps are those that the text names", () => {
  const chosen = (text: string): number[] => marks.map(({ index }) => index).filter((index) => isChosen(index, text));
  assert.deepEqual(chosen("4"), [4]);
  assert.deepEqual(chosen("4..5"), [4, 5]);
  assert.deepEqual(chosen("5.."), [5, 6]);
  assert.deepEqual(chosen("..4"), [3, 4]);
  assert.deepEqual(chosen("nonsense"), []);
});

test("each step has an equal part of the strip, and its ends belong to the first and the last", () => {
  assert.deepEqual([0, 0.24, 0.26, 0.99, 1, -0.1, 1.5].map((share) => stepAt(share, 4)), [0, 0, 1, 3, 3, 0, 3]);
});

test("a step that is much longer than those that count does not set the height of all", () => {
  const step = (host_ns: number, state: "counted" | "outlier"): Step => ({ index: 0, host_ns, device_ns: 0, state });
  assert.equal(fullHeight([step(900, "outlier"), step(10, "counted"), step(12, "counted")]), 24);
  assert.equal(fullHeight([step(20, "outlier"), step(12, "counted")]), 20);
  assert.equal(fullHeight([step(900, "outlier")]), 900);
  assert.equal(fullHeight([]), 1);
});

test("the sentence about ticked fixes counts them and says what limits the step then", () => {
  const answer = { before_ns: 14_900_000, after_ns: 9_200_000, batch: 1, saved_percent: 38.255, bottleneck: "device" as const };
  assert.equal(fixesSentence(1, answer), "With 1 fix: step 14.9 ms → 9.20 ms (38 % less), then limited by the device.");
  assert.equal(fixesSentence(2, { ...answer, bottleneck: "neither" }), "With 2 fixes: step 14.9 ms → 9.20 ms (38 % less).");
  assert.equal(
    fixesSentence(1, { ...answer, batch: 4, bottleneck: "neither" }),
    "With 1 fix: step 14.9 ms → 9.20 ms for as many samples, in batches 4 times as large (38 % less).",
  );
});
