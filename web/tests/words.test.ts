import assert from "node:assert/strict";
import { test } from "node:test";
import { csvText } from "../src/csv";
import type { Track, TraceShape } from "../src/protocol";
import { adviceFor, emptyViews } from "../src/recorded";
import { lineIn, longestLine, sourceCsv } from "../src/source/files";
import { spanWords } from "../src/span_words";

test("what stands above a table says over what its numbers are", () => {
  assert.equal(spanWords(0, undefined, true), "Totals over the whole recording.");
  assert.equal(spanWords(0, "4", true), "Totals over step 4.");
  assert.equal(spanWords(0, "4..6", true), "Totals over steps 4 to 6.");
  assert.equal(spanWords(3, undefined, true), "Times and calls per step, the mean of 3 steps.");
  assert.equal(spanWords(3, "4..6", true), "Times and calls per step, the mean of steps 4 to 6.");
  assert.equal(spanWords(1, "4", true), "Times and calls of step 4.");
  assert.equal(spanWords(1, undefined, true), "Times and calls of one step.");
  assert.equal(spanWords(1, undefined, false), "Over the whole recording.");
});

test("advice is for who recorded", () => {
  const advice = { torch: "profile", ours: "record" };
  assert.equal(adviceFor({ format: "kineto" }, advice), "profile");
  assert.equal(adviceFor({ format: "tell" }, advice), "record");
  assert.match(adviceFor({ format: "chrome" }, advice), /does not write that/);
  assert.match(adviceFor({ format: "memory_snapshot" }, advice), /no times/);
});

test("views without anything to show are known from the shape of a trace", () => {
  const shape = { tracks: [] as Track[], has_memory: false, has_modules: false, has_stacks: true } as unknown as TraceShape;
  assert.deepEqual([...emptyViews(shape)], ["memory", "modules", "kernels", "roofline"]);
  const full = { tracks: [{ kind: "stream" }, { kind: "gaps" }], has_memory: true, has_modules: true, has_stacks: true } as unknown as TraceShape;
  assert.equal(emptyViews(full).size, 0);
  const snapshot = { ...shape, format: "memory_snapshot", has_memory: true };
  assert.deepEqual([...emptyViews(snapshot)].sort(), ["kernels", "lines", "modules", "operators", "roofline", "source"]);
});

test("cells of CSV are quoted where they must be", () => {
  assert.equal(csvText(["a", "b"], [['say "x", y', null], ["two\nlines", 3]]), 'a,b\r\n"say ""x"", y",\r\n"two\nlines",3\r\n');
});

test("a line of source is found by its file and number", () => {
  assert.deepEqual(lineIn({ line: "C:/my/train.py:13" }), { file: "C:/my/train.py", line: 13 });
  assert.equal(lineIn({ line: "train.py" }), null);
  assert.equal(lineIn({}), null);
});

test("source is as wide as its longest line, and is written as CSV with what its lines cost", () => {
  const line = { line: 1, text: "\tx = 1", host_ns: 5, device_ns: 7, calls: 0.5, example: null };
  assert.equal(longestLine([line, { ...line, text: null }]), 9);
  assert.equal(sourceCsv([line]), "line,device_ns,host_ns,calls,text\r\n1,7,5,0.5,\tx = 1\r\n");
});
