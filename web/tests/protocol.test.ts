import assert from "node:assert/strict";
import { test } from "node:test";
import { TILE_MAGIC } from "../src/protocol.js";

test("the first bytes of a tile can be read as letters", () => {
  const bytes = new Uint8Array(new Uint32Array([TILE_MAGIC]).buffer);
  assert.equal(String.fromCharCode(...bytes), "TTL1");
});
