import assert from "node:assert/strict";
import { test } from "node:test";
import { readStep, spanAt } from "../src/report/step.js";

const WRITTEN = {
  window_ns: 1000,
  works: [{ style: "w0", label: "matmul" }, { style: "h1", label: "sync" }],
  lanes: [{ kind: "stream", name: "stream 7", spans: [100, 50, 0, 1, 1, 50, 200, 40, 1, 0, 12, 30] }],
  queue: [0, 3],
  findings: [{ number: 2, title: "The GPU waits", places: [300, 40, 500, 10] }],
  names: ["", "gemm"],
};

test("spans are written as differences", () => {
  const step = readStep(JSON.stringify(WRITTEN));
  assert.equal(step.length, 1000);
  assert.deepEqual(step.lanes[0]?.spans, [
    { start: 100, end: 150, work: 0, name: "gemm", events: 1, busy: 50 },
    { start: 300, end: 340, work: 1, name: "", events: 12, busy: 30 },
  ]);
  assert.deepEqual(step.findings[0]?.places, [{ start: 300, end: 340 }, { start: 500, end: 510 }]);
});

test("the span at a time is the innermost, or one that is near", () => {
  const span = (start: number, end: number) => ({ start, end, work: 0, name: String(start), events: 1, busy: end - start });
  const spans = [span(0, 100), span(20, 60), span(200, 210)];
  assert.equal(spanAt(spans, 30, 0)?.name, "20");
  assert.equal(spanAt(spans, 70, 0)?.name, "0");
  assert.equal(spanAt(spans, 150, 10), null);
  assert.equal(spanAt(spans, 195, 10)?.name, "200");
  assert.equal(spanAt(spans, 215, 10)?.name, "200");
  assert.equal(spanAt([], 5, 10), null);
});
