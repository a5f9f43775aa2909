import assert from "node:assert/strict";
import { test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { Seldom } from "../src/timeline/seldom";

test("the first wish is fulfilled at once, those that follow closely are one, and the last is not lost", async () => {
  let now = 0;
  const acts: number[] = [];
  const seldom = new Seldom(20, () => acts.push(now), () => now);
  seldom.ask();
  assert.deepEqual(acts, [0]);
  now = 5;
  for (let wish = 0; wish < 10; ++wish) seldom.ask();
  assert.deepEqual(acts, [0]);
  assert.ok(seldom.isWaiting);
  for (let turn = 0; turn < 1000 && acts.length < 2; ++turn) await pause(5);
  assert.deepEqual(acts, [0, 5]);
  now = 100;
  seldom.ask();
  assert.deepEqual(acts, [0, 5, 100]);
});

test("nothing happens after the end", async () => {
  let done = 0;
  const seldom = new Seldom(1, () => ++done, () => 0);
  seldom.ask();
  seldom.ask();
  seldom.close();
  await pause(30);
  assert.equal(done, 1);
});
