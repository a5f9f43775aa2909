import assert from "node:assert/strict";
import { test } from "node:test";
import { factWord, kindWord } from "../src/timeline/event_words";

test("kinds are told in words", () => {
  assert.equal(kindWord("device_annotation"), "annotation on the device");
  assert.equal(kindWord("runtime"), "runtime call");
  assert.equal(kindWord("kernel"), "kernel");
  assert.equal(kindWord("something_new"), "something new");
});

test("facts begin like all other lines, and names that somebody gave stay as they are", () => {
  assert.equal(factWord("registers per thread", "kernel"), "Registers per thread");
  assert.equal(factWord("sequence", "operator"), "Autograd number");
  assert.equal(factWord("sequence", "kernel"), "Number in its group");
  assert.equal(factWord("Batch_size", "annotation"), "Batch_size");
  assert.equal(factWord("n_rows", "annotation"), "n_rows");
});
