import assert from "node:assert/strict";
import { test } from "node:test";
import { ModuleTree } from "../src/modules/module_tree";
import type { ModuleTime } from "../src/protocol";

function moduleTime(name: string, parent: number | null, device: number, host: number): ModuleTime {
  return {
    name, path: name, parent, depth: 0, calls: 1,
    forward_cpu_ns: host, forward_device_ns: device, backward_cpu_ns: 0, backward_device_ns: 2 * device, self_device_ns: 0,
  };
}

// net ( a ( a1 ), b ), loss
const modules = [
  moduleTime("net", null, 10, 10),
  moduleTime("a", 0, 3, 7),
  moduleTime("a1", 1, 3, 7),
  moduleTime("b", 0, 6, 2),
  moduleTime("loss", null, 1, 30),
];
const names = (tree: ModuleTree, open: Set<number>): string[] =>
  tree.rows(open).map(({ module, depth }) => `${"  ".repeat(depth)}${modules[module]?.name ?? ""}`);

test("open branches show their modules, the dearest first", () => {
  const tree = new ModuleTree(modules, "device");
  assert.deepEqual(names(tree, tree.all()), ["net", "  b", "  a", "    a1", "loss"]);
  assert.deepEqual(names(tree, new Set()), ["net", "loss"]);
  assert.deepEqual(names(tree, new Set([0])), ["net", "  b", "  a", "loss"]);
  assert.deepEqual(names(tree, new Set([1])), ["net", "loss"]);
});

test("what is dear depends on whose time counts", () => {
  const tree = new ModuleTree(modules, "host");
  assert.deepEqual(names(tree, tree.all()), ["loss", "net", "  a", "    a1", "  b"]);
  assert.equal(tree.cost(0), 10);
  assert.equal(new ModuleTree(modules, "device").cost(0), 30);
});

test("roots are open at first, and chains of single modules down to where they part", () => {
  const chain = [moduleTime("wrapper", null, 5, 5), moduleTime("net", 0, 5, 5), moduleTime("a", 1, 3, 3), moduleTime("b", 1, 2, 2)];
  assert.deepEqual([...new ModuleTree(chain, "device").openAtFirst()], [0, 1]);
});

test("a chain of a million modules is walked without recursion", () => {
  const deep = Array.from({ length: 1_000_000 }, (_, at) => moduleTime("m", at === 0 ? null : at - 1, 1, 1));
  const tree = new ModuleTree(deep, "device");
  assert.equal(tree.rows(tree.all()).length, 1_000_000);
});

test("siblings are sorted by any column, and the tree keeps its shape", () => {
  const sorted = (by: "name" | "forward" | "calls", isRising: boolean): string[] => {
    const tree = new ModuleTree(modules, "device", by, isRising);
    return names(tree, tree.all());
  };
  assert.deepEqual(sorted("name", true), ["loss", "net", "  a", "    a1", "  b"]);
  assert.deepEqual(sorted("name", false), ["net", "  b", "  a", "    a1", "loss"]);
  assert.deepEqual(sorted("forward", true), ["loss", "net", "  a", "    a1", "  b"]);
  assert.deepEqual(sorted("calls", false), ["net", "  a", "    a1", "  b", "loss"]);
});

test("a filter shows modules with those around them", () => {
  const tree = new ModuleTree(modules, "device");
  const { found, visible } = tree.matching("A1");
  assert.equal(found, 1);
  assert.deepEqual(tree.rows(visible, visible).map(({ module }) => modules[module]?.name), ["net", "a", "a1"]);
  assert.deepEqual(tree.rows(new Set(), visible).map(({ module, hasChildren }) => [modules[module]?.name, hasChildren]), [["net", true]]);
  assert.equal(tree.matching("nothing").visible.size, 0);
});
