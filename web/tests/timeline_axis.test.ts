import assert from "node:assert/strict";
import { test } from "node:test";
import { TextFit, ownPart } from "../src/timeline/text_fit";
import { axisOf, baseText, niceStep } from "../src/timeline/ticks";
import { clamped, firstView, fitted, panned, revealing, stepsView, whole, zoomed } from "../src/timeline/viewport";

const TRACE = { steps: [], tracks: [], duration_ns: 10_000 };

test("marks stand at 1, 2 and 5", () => {
  for (const [least, step] of [[1, 1], [1.1, 2], [3, 5], [5.1, 10], [0.3, 0.5], [120, 200], [1e9, 1e9]] as const) {
    assert.ok(Math.abs(niceStep(least) / step - 1) < 1e-12);
  }
});

test("labels say as much as tells them apart", () => {
  const labels = (start: number, end: number): string[] => axisOf(start, end, 400, 100).ticks.map((tick) => tick.label);
  assert.deepEqual(labels(0, 4e6), ["0 ms", "1 ms", "2 ms", "3 ms", "4 ms"]);
  assert.deepEqual(labels(0, 2e6), ["0 ms", "0.5 ms", "1.0 ms", "1.5 ms", "2.0 ms"]);
  assert.deepEqual(labels(1.0e9, 1.2e9), ["1.00 s", "1.05 s", "1.10 s", "1.15 s", "1.20 s"]);
  assert.deepEqual(labels(0, 4), ["0 ns", "1 ns", "2 ns", "3 ns", "4 ns"]);
});

test("far from the start of the trace labels count from a base", () => {
  const axis = axisOf(3_200_041_000, 3_200_041_400, 400, 100);
  assert.equal(axis.base, 3_200_000_000);
  assert.deepEqual(axis.ticks.map((tick) => tick.label), ["+41.0 µs", "+41.1 µs", "+41.2 µs", "+41.3 µs", "+41.4 µs"]);
});

test("where labels count from is told in as few digits as it has, and many digits are grouped", () => {
  assert.equal(baseText(2_489_000_000), "2.489 s");
  assert.equal(baseText(20_000_000), "20 ms");
  assert.equal(baseText(3_000_000_000), "3 s");
  assert.equal(axisOf(4e15, 6e15, 400, 100).ticks.at(-1)?.label, "6,000,000 s");
});

test("there is no mark before the trace and never too many", () => {
  assert.equal(axisOf(-5e6, 5e6, 1000, 100).ticks[0]?.time, 0);
  for (const length of [50, 1e3, 7e5, 1e9, 9e12]) assert.ok(axisOf(1e12, 1e12 + length, 3840, 100).ticks.length <= 40);
});

test("zooming keeps what is under the pointer where it is", () => {
  const at = 300;
  const view = zoomed({ start: 100, end: 1100 }, at, 0.5, 10_000);
  assert.equal((at - view.start) / (view.end - view.start), 0.2);
  assert.equal(view.end - view.start, 500);
  assert.ok(zoomed({ start: 100, end: 1100 }, at, 1e9, 10_000).end <= 10_400);
  const least = zoomed({ start: 100, end: 1100 }, at, 1e-9, 10_000);
  assert.ok(least.end - least.start >= 49 && least.start <= at && least.end >= at);
});

test("a window stays at the trace", () => {
  for (const start of [-1e9, -5000, 0, 9000, 1e9]) {
    const view = panned({ start: 0, end: 1000 }, start, 10_000);
    assert.equal(view.end - view.start, 1000);
    assert.ok(view.end > 0 && view.start < 10_000);
  }
  assert.deepEqual(clamped({ start: 200, end: 700 }, 10_000), { start: 200, end: 700 });
  const empty = whole(0);
  assert.ok(empty.end > empty.start);
});

test("the first window shows the steps, or everything", () => {
  const view = firstView({ ...TRACE, steps: [{ index: 1, start_ns: 1000, duration_ns: 100 }, { index: 2, start_ns: 1100, duration_ns: 400 }] });
  assert.ok(view.start <= 1000 && view.start > 950 && view.end >= 1500 && view.end < 1550);
  const all = firstView(TRACE);
  assert.ok(all.start <= 0 && all.end >= 10_000);
  const most = firstView({ ...TRACE, steps: [{ index: 1, start_ns: 1000, duration_ns: 3000 }] });
  assert.deepEqual(most, all);
});

test("a mark long after all else does not push it aside in the first window", () => {
  const track = { id: 0, kind: "thread", name: "", process: 0, device: null, lanes: 1, events: 1, first_ns: 0, unit: null, minimum: null, maximum: null } as const;
  const tracks = [{ ...track, last_ns: 8000, busy_ns: 5000 }, { ...track, id: 1, first_ns: 9999, last_ns: 9999, busy_ns: 0 }];
  const view = firstView({ ...TRACE, tracks });
  assert.ok(view.start <= 0 && view.end >= 8000 && view.end < 8200, `${view.start} to ${view.end}`);
});

test("steps whose work on the device comes later are not shown as if it idled: all is shown first", () => {
  const track = { name: "", process: 0, lanes: 1, events: 1, unit: null, minimum: null, maximum: null };
  const thread = { ...track, id: 0, kind: "thread", device: null, first_ns: 0, last_ns: 800, busy_ns: 800 } as const;
  const stream = { ...track, id: 1, kind: "stream", device: 0, first_ns: 5000, last_ns: 10_000, busy_ns: 5000 } as const;
  const steps = [{ index: 0, start_ns: 0, duration_ns: 800 }];
  const later = firstView({ ...TRACE, steps, tracks: [thread, stream] });
  assert.ok(later.start <= 0 && later.end >= 10_000, `${later.start} to ${later.end}`);
  for (const tracks of [[thread], [thread, { ...stream, first_ns: 700 }]]) {
    const soon = firstView({ ...TRACE, steps, tracks });
    assert.ok(soon.end < 1000, `${soon.start} to ${soon.end}`);
  }
});

test("the window on some steps has all of them", () => {
  const steps = [{ index: 3, start_ns: 1000, duration_ns: 100 }, { index: 4, start_ns: 1100, duration_ns: 400 }];
  const view = stepsView(steps, 10_000);
  assert.ok(view && view.start < 1000 && view.start > 950 && view.end > 1500 && view.end < 1550);
  assert.equal(stepsView([], 10_000), null);
});

test("an event that is seen moves nothing, another one is brought in", () => {
  const view = { start: 1000, end: 2000 };
  assert.deepEqual(revealing(view, 1200, 1500, 100_000), view);
  const moved = revealing(view, 5000, 5100, 100_000);
  assert.ok(moved.start < 5000 && moved.end > 5100 && moved.end - moved.start === 1000);
  const closer = revealing({ start: 0, end: 100_000 }, 5000, 5060, 100_000); // less than a pixel before
  assert.ok(closer.end - closer.start < 5000 && closer.start < 5000 && closer.end > 5060);
  const wider = revealing(view, 1100, 9000, 100_000); // longer than the window
  assert.ok(wider.start < 1100 && wider.end > 9000);
  const fit = fitted(5000, 6000, 100_000);
  assert.ok(fit.start < 5000 && fit.end > 6000 && fit.end - fit.start < 1500);
});

test("texts are cut to fit, and measured once", () => {
  let measured = 0;
  const fit = new TextFit((text) => {
    ++measured;
    return text.length * 10;
  });
  assert.equal(fit.fit("aten::linear", 120), "aten::linear");
  assert.equal(fit.fit("aten::linear", 119), "aten::line…");
  assert.equal(fit.fit("aten::linear", 30), "at…");
  assert.equal(fit.fit("aten::linear", 29), "");
  const before = measured;
  fit.fit("aten::linear", 119);
  assert.equal(measured, before);
});

test("a name of ten million letters costs no more than a long one", () => {
  let longest = 0;
  const fit = new TextFit((text) => {
    longest = Math.max(longest, text.length);
    return text.length * 6;
  });
  assert.ok(fit.fit("x".repeat(10_000_000), 300).endsWith("…"));
  assert.ok(longest <= 400);
});

test("a letter of two halves is not cut in two", () => {
  const fit = new TextFit((text) => text.length * 10);
  assert.equal(fit.fit("ab😀cdefgh", 40), "ab…");
});

test("a name that does not fit shows first what is its own", () => {
  const fit = new TextFit((text) => text.length * 10);
  assert.equal(fit.fitName("aten::linear", 120), "aten::linear");
  assert.equal(fit.fitName("aten::linear", 90), "linear");
  assert.equal(fit.fitName("aten::linear", 50), "line…");
  assert.equal(ownPart("autograd::engine::evaluate_function: ConvolutionBackward0"), "ConvolutionBackward0");
  assert.equal(ownPart("void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)"), "vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int)");
  assert.equal(ownPart("models/llama.py(64): forward"), "forward");
  assert.equal(ownPart("torch/optim/adamw.py(1): <module>"), "adamw.py(1): <module>");
  assert.equal(ownPart("idle: data loading"), "data loading");
  for (const name of ["forward", "", "a::", "std::pair<a::b>", "nn.Module: Linear_0", "train.py(12): "]) {
    assert.ok(name.endsWith(ownPart(name)) && (name === "" || ownPart(name) !== ""));
  }
});
