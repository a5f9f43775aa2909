import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventDetails, EventPlace, Track, TraceShape } from "../src/protocol";
import { minimapTracks } from "../src/timeline/minimap_tracks";
import { scaleOf, valueAt } from "../src/timeline/paint_counters";
import { flagsOnRuler } from "../src/timeline/paint_ruler";
import { countText } from "../src/timeline/search_box";
import { SearchMarks } from "../src/timeline/search_marks";
import { chainStep } from "../src/timeline/selection";
import { RULER, largestPinnedScroll, largestScroll, pinnedHeight, placeOfTrack, rowAt, scrollShowing, timeAt, tracksBetween, visibleRows, xOf, type Stage } from "../src/timeline/stage";
import { layoutOf } from "../src/timeline/track_layout";
import { wishesOf } from "../src/timeline/wishes";

function track(id: number, kind: Track["kind"], lanes: number, device: number | null = null, busy = 1): Track {
  return { id, kind, name: `${kind} ${id}`, process: 1, device, lanes, events: 1, first_ns: 0, last_ns: 1, busy_ns: busy, unit: null, minimum: null, maximum: null };
}

function shapeOf(tracks: Track[], devices: number[] = []): TraceShape {
  return {
    file: "a", format: "", duration_ns: 1e6, events: 1, device_word: "GPU", steps: [], colors: [], has_memory: false, has_modules: false, has_stacks: false, tracks,
    processes: [{ id: 1, name: "python", pid: null, rank: null }], devices: devices.map((id) => ({ id, name: "GPU" })),
  };
}

function stageOf(tracks: Track[], pinned: number[] = [], scroll = 0): Stage {
  return { width: 1000, height: 400, view: { start: 2000, end: 4000 }, layout: layoutOf(shapeOf(tracks), { pinned, collapsed: [], hidden: [], moves: [], filter: "" }), scroll, pinnedScroll: 0 };
}

const place = (id: number, start_ns: number, duration_ns = 10): EventPlace => ({ id, name: "a", kind: "kernel", track: 1, lane: 0, start_ns, duration_ns, color: 0 });

test("times and pixels are two ways to say the same", () => {
  const stage = stageOf([track(1, "thread", 1)]);
  assert.equal(xOf(stage, 3000), 500);
  assert.equal(timeAt(stage, 250), 2500);
});

test("the row under a point is the one that is drawn there, pinned or scrolled", () => {
  const stage = stageOf([track(1, "thread", 3), track(2, "stream", 2), track(3, "thread", 40)], [2], 30);
  const pinned = placeOfTrack(stage, 2);
  assert.equal(pinned?.y, RULER.height);
  for (const { row, y } of visibleRows(stage)) {
    const inside = Math.max(y, row.isPinned ? 0 : RULER.height + stage.layout.pinnedHeight) + 1;
    assert.equal(rowAt(stage, inside)?.row.key, row.key);
  }
  assert.equal(rowAt(stage, RULER.height - 1), null);
  const first = placeOfTrack(stage, 1);
  assert.equal(first?.y, RULER.height + stage.layout.pinnedHeight - 30);
  assert.equal(rowAt(stage, first.y + 37)?.lane, 2);
});

test("a box chooses the tracks that it touches", () => {
  const stage = stageOf([track(1, "thread", 1), track(2, "thread", 1), track(3, "thread", 1)]);
  const [first, second, third] = [1, 2, 3].map((id) => placeOfTrack(stage, id)?.y ?? 0);
  assert.deepEqual(tracksBetween(stage, (first ?? 0) + 3, (second ?? 0) + 3), [1, 2]);
  assert.deepEqual(tracksBetween(stage, (third ?? 0) + 1, 10_000), [3]);
});

test("scrolling goes to a lane that is off the screen, and nowhere for one that is on it", () => {
  const stage = stageOf([track(1, "thread", 60), track(2, "thread", 2)]);
  assert.equal(scrollShowing(stage, 1, 3).scroll, 0);
  const { scroll } = scrollShowing(stage, 2, 1);
  assert.ok(scroll > 0 && scroll <= largestScroll(stage));
  const { y = 0, row } = placeOfTrack({ ...stage, scroll }, 2) ?? {};
  assert.ok(y >= RULER.height && y + (row?.height ?? 0) <= 400 + 5);
  assert.deepEqual(scrollShowing(stage, 77, 0), { scroll: 0, pinnedScroll: 0 });
});

test("pinned tracks that are higher than their room scroll by themselves", () => {
  const stage = stageOf([track(1, "thread", 40), track(2, "thread", 2), track(3, "thread", 2)], [1, 2]);
  assert.equal(pinnedHeight(stage), Math.round((400 - RULER.height) * 0.6));
  assert.equal(largestPinnedScroll(stage), stage.layout.pinnedHeight - pinnedHeight(stage));
  assert.ok(!visibleRows(stage).some(({ row }) => row.key === "t2"));
  const { scroll, pinnedScroll } = scrollShowing(stage, 2, 1);
  assert.equal(scroll, 0);
  const scrolled = { ...stage, pinnedScroll };
  const place = placeOfTrack(scrolled, 2);
  assert.ok(place && place.y >= RULER.height && place.y + 2 * place.row.laneHeight <= RULER.height + pinnedHeight(stage));
  assert.equal(rowAt(scrolled, place.y + 20)?.row.key, "t2");
  assert.equal(rowAt(scrolled, place.y + 20)?.lane, 1);
  assert.equal(placeOfTrack(scrolled, 3)?.y, placeOfTrack(stage, 3)?.y);
});

test("what is in the middle of the screen is asked for first, the neighborhood last", () => {
  const scene = { view: { start: 10 * 1024, end: 13 * 1024 }, pixels: 3 * 1024, duration: 1024 * 1024, tracks: [1, 2] };
  const wishes = wishesOf(scene);
  assert.deepEqual(wishes.map(({ level, tile }) => [level, tile]), [[0, 11], [0, 10], [0, 12], [10, 0], [0, 13], [0, 9]]);
  assert.deepEqual(wishes[0]?.tracks, [1, 2]);
  assert.deepEqual(wishesOf({ ...scene, tracks: [] }), []);
  const whole = wishesOf({ ...scene, view: { start: -100, end: 2e6 }, pixels: 500 });
  assert.deepEqual(whole.map(({ level, tile }) => [level, tile]), [[10, 0]]);
});

test("a counter's value holds until the next point", () => {
  const tile = { track: 1, time_ns: [10, 20, 30], minimum: [1, 2, 3], maximum: [1, 2, 3], last: [1, 2, 3] };
  assert.deepEqual([9, 10, 19, 20, 99].map((time) => valueAt(tile, time)), [null, 1, 1, 2, 3]);
  assert.deepEqual(scaleOf({ ...track(1, "counter", 0), minimum: 5, maximum: 9 }), { low: 0, high: 9 });
  assert.deepEqual(scaleOf({ ...track(1, "counter", 0), minimum: -5, maximum: -1 }), { low: -5, high: 0 });
  assert.deepEqual(scaleOf({ ...track(1, "counter", 0), minimum: 0, maximum: 0 }), { low: 0, high: 1 });
});

test("flags of one finding that would overlap are one; one that would hide another's number stands beside it", () => {
  const stage = stageOf([track(1, "thread", 1)]);
  const flags = [[1, 2100], [1, 2110], [2, 2112], [1, 3000], [1, 9000]].map(([number = 0, start = 0]) => ({ number, title: "", place: place(number, start) }));
  assert.deepEqual(flagsOnRuler({ stage }, flags).map(({ x, pole, flag, places }) => [x, pole, flag.number, places]), [[50, 50, 1, 2], [66, 56, 2, 1], [500, 500, 1, 1]]);
});

test("no flag hides another however dense they are, nor strays far from its evidence", () => {
  const stage = stageOf([track(1, "thread", 1)]);
  const numbers = Array.from({ length: 12 }, (_, i) => i + 1);
  const flags = Array.from({ length: 2000 }, (_, i) => numbers.map((number) => ({ number, title: "", place: place(number, 2000 + i) }))).flat();
  const shown = flagsOnRuler({ stage }, flags);
  assert.deepEqual(new Set(shown.map(({ flag }) => flag.number)), new Set(numbers));
  shown.forEach(({ x, pole, width }, i) => {
    const next = shown[i + 1];
    assert(next === undefined || x + width <= next.x, `${x} and ${next?.x ?? 0}`);
    assert(x >= pole && x - pole < numbers.length * 22, `${x} of ${pole}`);
  });
});

test("the chain of causes goes back the way one came, else to the first cause, else to the caller", () => {
  const details = (relations: EventDetails["relations"], parents: EventPlace[] = []): EventDetails => ({
    event: place(1, 0), full_name: "a", self_ns: 0, step: null, source: null, stack: [], facts: [], parents, relations, relations_left_out: 0,
  });
  const launch = { role: "launched by", direction: "cause" as const, event: place(7, 0) };
  const kernels = [8, 9].map((id) => ({ role: "launches", direction: "effect" as const, event: place(id, 5) }));
  assert.equal(chainStep(details([...kernels, launch]), "cause", undefined), 7);
  assert.equal(chainStep(details([launch, ...kernels]), "effect", undefined), 8);
  assert.equal(chainStep(details([launch, ...kernels]), "effect", 9), 9);
  const backward = { role: "backward", direction: "effect" as const, event: place(5, 90) };
  assert.equal(chainStep(details([backward, ...kernels]), "effect", undefined), 8);
  assert.equal(chainStep(details([backward]), "effect", undefined), 5);
  assert.equal(chainStep(details([], [place(4, 0), place(3, 0)]), "cause", undefined), 4);
  assert.equal(chainStep(details([], [place(4, 0)]), "effect", undefined), null);
});

test("a search says how many there are, and which one it is", () => {
  const answer = { count: 1204, position: 2, event: place(1, 0), names: [] };
  assert.equal(countText(answer, true), "3 of 1,204");
  assert.equal(countText(answer, false), "1,204 events");
  assert.equal(countText({ ...answer, count: 1, position: 0 }, false), "1 event");
  assert.equal(countText({ ...answer, count: 0, position: null, event: null }, true), "No match");
});

test("the small map shows devices first, and threads where there are none", () => {
  const thread = track(1, "thread", 3, null, 900);
  const small = track(2, "stream", 1, 0, 5);
  const large = track(3, "stream", 1, 0, 50);
  const gaps = track(4, "gaps", 1, 0, 10);
  assert.deepEqual(minimapTracks(shapeOf([thread, small, large, gaps], [0])).map(({ id }) => id), [1, 3, 4]);
  assert.deepEqual(minimapTracks(shapeOf([thread, small, large, gaps])).map(({ id }) => id), [1, 3, 4], "also of a device that the trace does not describe");
  assert.deepEqual(minimapTracks(shapeOf([thread])).map(({ id }) => id), [1]);
  assert.deepEqual(minimapTracks(shapeOf([])), []);
});

test("what matches stands out, also where the server knows a name by more than what is shown", () => {
  const names = ["aten::mm", "gemm_kernel", "AddMM", "copy"];
  assert.deepEqual([...new SearchMarks({ text: "mm", isExact: false, names: [] }).of(names)], [1, 1, 1, 0]);
  assert.deepEqual([...new SearchMarks({ text: "void at::copy", isExact: false, names: ["copy"] }).of(names)], [0, 0, 0, 1]);
  assert.deepEqual([...new SearchMarks({ text: "aten::mm", isExact: true, names: ["aten::mm"] }).of([...names, "aten::mm_out"])], [1, 0, 0, 0, 0]);
});
