import assert from "node:assert/strict";
import { test } from "node:test";
import type { Column } from "../src/protocol";
import { barColumn, cellText, shownColumns, sortedBy } from "../src/table/cells";
import { pagesOf, rowWindow, scrollTo } from "../src/table/row_window";

const column = (id: string, unit: Column["unit"]): Column => ({ id, title: id, unit, text: "" });
const columns = [column("name", "text"), column("calls", "count"), column("device_ns", "ns"), column("bytes", "bytes")];

test("cells are written by their unit, and what is not known stays empty", () => {
  assert.equal(cellText(1_500_000, "ns"), "1.50 ms");
  assert.equal(cellText(2048, "bytes"), "2.00 KiB");
  assert.equal(cellText(12345, "count"), "12,345");
  assert.equal(cellText(25.2e6, "flops"), "25.2 MFLOP");
  assert.equal(cellText(3, "percent"), "3.0 %");
  assert.equal(cellText("<b>aten::mm</b>", "text"), "<b>aten::mm</b>");
  assert.equal(cellText(null, "ns"), "");
  assert.equal(cellText("x".repeat(10_000_000), "text").length, 1001);
});

test("a header sorts amounts from the largest, texts from the first, and turns around", () => {
  const start = { sort: "", order: "falling" as const };
  const once = sortedBy(column("calls", "count"), start);
  assert.deepEqual(once, { sort: "calls", order: "falling" });
  assert.deepEqual(sortedBy(column("calls", "count"), once), { sort: "calls", order: "rising" });
  assert.deepEqual(sortedBy(column("name", "text"), once), { sort: "name", order: "rising" });
  assert.deepEqual(sortedBy(column("calls", "count"), { sort: "calls", order: "rising" }), { sort: "calls", order: "falling" });
});

test("bars stand behind the sorted column, or the first time where that has no amounts", () => {
  assert.equal(barColumn(columns, "bytes"), 3);
  assert.equal(barColumn(columns, "name"), 2);
  assert.equal(barColumn(columns, ""), 2);
});

test("the rows on the screen are made, some beyond its edges, and none that do not exist", () => {
  assert.deepEqual(rowWindow(0, 260, 26, 100_000), { first: 0, end: 22 });
  assert.deepEqual(rowWindow(26_000, 260, 26, 100_000), { first: 988, end: 1022 });
  assert.deepEqual(rowWindow(0, 260, 26, 3), { first: 0, end: 3 });
  assert.deepEqual(rowWindow(9999, 260, 26, 0), { first: 0, end: 0 });
});

test("pages are asked for only where rows of them are needed", () => {
  assert.deepEqual(pagesOf({ first: 0, end: 22 }), [0]);
  assert.deepEqual(pagesOf({ first: 190, end: 230 }), [0, 200]);
  assert.deepEqual(pagesOf({ first: 400, end: 600 }), [400]);
  assert.deepEqual(pagesOf({ first: 0, end: 0 }), []);
});

test("a row that is marked comes into sight, and one in sight moves nothing", () => {
  assert.equal(scrollTo(5, 0, 260, 26), null);
  assert.equal(scrollTo(10, 0, 260, 26), 26);
  assert.equal(scrollTo(2, 130, 260, 26), 52);
});

test("texts stand first, and amounts that one seldom looks at only when asked for or sorted by", () => {
  const all = [column("name", "text"), column("calls", "count"), column("cpu_average_ns", "ns"), column("input_shapes", "text")];
  assert.deepEqual(shownColumns(all, false, ""), [0, 3, 1]);
  assert.deepEqual(shownColumns(all, true, ""), [0, 3, 1, 2]);
  assert.deepEqual(shownColumns(all, false, "cpu_average_ns"), [0, 3, 1, 2]);
});
