import assert from "node:assert/strict";
import { test } from "node:test";
import { changedPlace, numberIn, parsePlace, placeInView, placeToHash } from "../src/place";

test("a place survives its link, whatever its fields hold", () => {
  const place = { view: "timeline", q: "aten::mm<a & b=c> #1 ü", start: "12", end: "3400", steps: "3..7" };
  assert.deepEqual(parsePlace(placeToHash(place)), place);
});

test("equal places have equal links, with the view first", () => {
  assert.equal(placeToHash({ steps: "3..7", view: "memory", at: "5" }), "#view=memory&at=5&steps=3..7");
  assert.equal(placeToHash({ at: "5", view: "memory", steps: "3..7" }), "#view=memory&at=5&steps=3..7");
});

test("a change sets some fields, removes those that are null or empty and leaves the others", () => {
  const place = changedPlace({ view: "timeline", q: "mm", event: "7", start: "1" }, { q: null, event: "", start: 2.5 });
  assert.deepEqual(place, { view: "timeline", start: "2.5" });
});

test("another view is as it was left, about the steps that are chosen now", () => {
  const now = { view: "overview", steps: "4" };
  assert.deepEqual(placeInView("timeline", now, { view: "timeline", start: "1", steps: "9" }, { event: 3 }), {
    view: "timeline", start: "1", steps: "4", event: "3",
  });
  assert.deepEqual(placeInView("timeline", { view: "overview" }, { view: "timeline", steps: "9" }, {}), { view: "timeline" });
  assert.deepEqual(placeInView("memory", now, undefined, {}), { view: "memory", steps: "4" });
});

test("a field that is not a number counts as missing", () => {
  const place = parsePlace("#start=12&end=abc&at=&event=1e3&x=Infinity");
  assert.deepEqual(["start", "end", "at", "event", "x", "none"].map((name) => numberIn(place, name)), [12, null, null, 1000, null, null]);
});
