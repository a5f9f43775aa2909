import assert from "node:assert/strict";
import { test } from "node:test";
import { bandPath, byteTicks, layerAt, linear, nearest, pointAt, stacked, stepPath } from "../src/memory/curve";
import { ceiling, dotRadius, isHollow, logScale, placesOfHollow, powersAround, powersOfTen, rangesOf, sharedPeaks } from "../src/roofline/log_scales";
import type { Roofline } from "../src/protocol";
import { dearestLine, fileGroups } from "../src/source/files";

const same = (value: number): number => value;

test("the memory curve holds each value until the next one and the last until the end", () => {
  assert.equal(stepPath([0, 10, 20], [5, 8, 3], 30, same, same), "M0,5H10H10V8H20H20V3H30");
});

test("the layers of the memory curve stand on each other, and each is what lies between two of them", () => {
  const tops = stacked([[5, 0, 2], [1, 4, 3]]);
  assert.deepEqual(tops, [[5, 0, 2], [6, 4, 5]]);
  assert.equal(bandPath([0, 10, 20], undefined, [5, 0, 2], 30, same, same), "M0,5H10V0H20V2H30V0H20V0H10V0H0Z");
  assert.equal(bandPath([0, 10, 20], tops[0], [6, 4, 5], 30, same, same), "M0,6H10V4H20V5H30V2H20V0H10V5H0Z");
  assert.equal(bandPath([], undefined, [], 20, same, same), "");
});

test("an amount lies in the layer that covers it", () => {
  const tops = stacked([[5, 0], [1, 4]]);
  assert.deepEqual([0, 4, 5, 5.5, 6, -1].map((amount) => layerAt(tops, 0, amount)), [0, 0, 1, 1, null, null]);
  assert.equal(layerAt(tops, 1, 0), 1);
});

test("the memory curve leaves out what is not known", () => {
  assert.equal(stepPath([0, 10, 20], [5, null, 3], 30, same, same), "M0,5H10M20,3H30");
});

test("a point of the curve holds from its time on", () => {
  assert.deepEqual([-5, 0, 9, 10, 25].map((time) => pointAt([0, 10, 20], time)), [0, 0, 0, 1, 2]);
  assert.equal(pointAt([], 5), 0);
});

test("marks of bytes are multiples of a power of two", () => {
  assert.deepEqual(byteTicks(5 * 2 ** 30, 5), [0, 1, 2, 3, 4, 5].map((gib) => gib * 2 ** 30));
  assert.deepEqual(byteTicks(0, 5), [0]);
});

test("scales map ends to ends, also where all values are equal", () => {
  assert.equal(linear(0, 10, 100, 200)(5), 150);
  assert.equal(linear(3, 3, 100, 200)(3), 100);
  const log = logScale({ low: 1, high: 100 }, 0, 200);
  assert.deepEqual([1, 10, 100].map(log), [0, 100, 200]);
  assert.equal(log(0), -100);
});

test("a logarithmic axis holds all values between whole powers of ten", () => {
  assert.deepEqual(powersAround([3, 450]), { low: 1, high: 1000 });
  assert.deepEqual(powersAround([5]), { low: 1, high: 100 });
  assert.deepEqual(powersAround([0, Number.NaN]), { low: 1, high: 100 });
  assert.deepEqual(powersOfTen({ low: 0.1, high: 100 }), [0.1, 1, 10, 100]);
});

test("a ceiling is memory's up to its corner and the processor's from there", () => {
  assert.deepEqual(ceiling(100, 10, { low: 1, high: 1000 }), [{ x: 1, y: 10 }, { x: 10, y: 100 }, { x: 1000, y: 100 }]);
  assert.deepEqual(ceiling(100, null, { low: 1, high: 1000 }), [{ x: 1, y: 100 }, { x: 1000, y: 100 }]);
  assert.deepEqual(ceiling(100, 0.01, { low: 1, high: 1000 }), [{ x: 1, y: 0.01 }, { x: 1000, y: 10 }]);
});

test("the area of a dot is its time, and the smallest can still be hit", () => {
  assert.equal(dotRadius(100, 100), 18);
  assert.equal(dotRadius(25, 100), 9);
  assert.equal(dotRadius(0, 100), 3);
  assert.equal(dotRadius(0, 0), 3);
});

test("the user's files come before those of packages and libraries", () => {
  const file = (id: number, owner: "user" | "package" | "library") => ({ id, file: "f.py", owner, host_ns: 0, device_ns: 0, is_readable: true });
  const groups = fileGroups([file(0, "library"), file(1, "user"), file(2, "user")]);
  assert.deepEqual(groups.map(({ title, files }) => [title, files.map(({ id }) => id)]), [["Your files", [1, 2]], ["Python and PyTorch", [0]]]);
});

test("a file is shown from its dearest line", () => {
  const line = (host_ns: number, device_ns: number) => ({ line: 1, text: "", host_ns, device_ns, calls: 1, example: null });
  assert.equal(dearestLine([line(1, 0), line(2, 9), line(8, 0)]), 1);
  assert.equal(dearestLine([]), 0);
});

test("precisions that are equally fast share a ceiling", () => {
  const peaks = [{ precision: "fp64", flops_per_second: 67e12 }, { precision: "fp32", flops_per_second: 67e12 }, { precision: "tf32", flops_per_second: 495e12 }];
  assert.deepEqual(sharedPeaks(peaks), [{ precision: "fp64, fp32", flops_per_second: 67e12 }, { precision: "tf32", flops_per_second: 495e12 }]);
});

test("dots and names of ceilings have room within the frame", () => {
  const kernel = { flops_per_byte: 995, flops_per_second: 9.9e14 };
  const peaks = [{ precision: "fp16", flops_per_second: 9.89e14 }];
  const { x, y } = rangesOf({ kernels: [kernel], peaks, bytes_per_second: 4.8e12 } as unknown as Roofline);
  assert(x.high >= 10 * kernel.flops_per_byte, String(x.high));
  assert(y.high >= 10 * 9.9e14 / 2, String(y.high));
});

test("kernels without known operations stand side by side left of the lowest corner", () => {
  const places = placesOfHollow(3, { low: 0.1, high: 1000 }, 90);
  assert.equal(places.length, 3);
  assert(places.every((place, at) => place > 0.1 && place <= 30.0001 && (at === 0 || place < (places[at - 1] ?? 0))), String(places));
  assert.deepEqual(placesOfHollow(0, { low: 1, high: 100 }, 10), []);
});

test("the nearest known time is that before or behind", () => {
  assert.deepEqual([4, 6, 25, 15].map((time) => nearest([0, 10, 20], time)), [0, 10, 20, 10]);
  assert.equal(nearest([], 3), undefined);
});

test("kernels without known operations are drawn where their memory is what they wait for", () => {
  const kernel = (flops: number | null, bytes: number): Roofline["kernels"][number] => ({ flops_per_second: flops, bytes_per_second: bytes }) as Roofline["kernels"][number];
  assert.deepEqual([kernel(null, 4e12), kernel(null, 1e6), kernel(1e12, 4e12)].map((each) => isHollow(each, 4.8e12)), [true, false, false]);
  assert.equal(isHollow(kernel(null, 4e12), null), false);
});
