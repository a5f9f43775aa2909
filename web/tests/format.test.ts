import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { counted, formatBytes, formatCount, formatFlops, formatNumber, formatPercent, formatShare, formatTime } from "../src/format";

// amounts.txt holds what the terminal prints: src/base/amounts_test.cpp holds it to that.
const formats: Record<string, (amount: number) => string> = {
  time: formatTime,
  bytes: formatBytes,
  flops: formatFlops,
  count: formatCount,
  number: formatNumber,
  share: formatShare,
  percent: formatPercent,
  kernel: (count) => counted(count, "kernel"),
};
const lines = readFileSync("tests/amounts.txt", "utf8").trim().split("\n").map((line) => line.split("\t"));

for (const [kind, format] of Object.entries(formats)) {
  test(`the page writes each ${kind} as the terminal does`, () => {
    const ofKind = lines.filter(([name]) => name === kind);
    assert.ok(ofKind.length > 5);
    for (const [, amount, text] of ofKind) assert.equal(format(Number(amount)), text, `${kind} ${amount ?? ""}`);
  });
}
