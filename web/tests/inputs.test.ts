import assert from "node:assert/strict";
import { test } from "node:test";
import { readableInputs } from "../src/timeline/inputs";

test("inputs are read together: type, shape, strides that are not the usual ones, values", () => {
  const facts = [
    { name: "input shapes", value: "[[16,1000],[16384,2048],[],[],[]]" },
    { name: "input strides", value: "[[1000,1],[0,0],[],[],[]]" },
    { name: "input types", value: '["float","c10::BFloat16","Scalar","","long int"]' },
    { name: "input values", value: '["","","2","",""]' },
    { name: "grid", value: "1 × 1 × 1" },
  ];
  assert.deepEqual(readableInputs(facts), {
    inputs: ["float 16 × 1000", "c10::BFloat16 16384 × 2048, strides 0, 0", "2", "none", "long int"],
    others: [{ name: "grid", value: "1 × 1 × 1" }],
  });
});

test("lists of tensors are told one after another", () => {
  const facts = [{ name: "input shapes", value: "[[[2,3],[4]]]" }, { name: "input types", value: '["TensorList"]' }];
  assert.deepEqual(readableInputs(facts).inputs, ["TensorList 2 × 3 and 4"]);
});

test("what is cut off or no list stays as it is", () => {
  const facts = [{ name: "input shapes", value: "[[1,2],[3…" }, { name: "input types", value: "7" }];
  assert.deepEqual(readableInputs(facts), { inputs: [], others: facts });
  assert.deepEqual(readableInputs([]), { inputs: [], others: [] });
});

test("odd members are no reason to fail", () => {
  const facts = [{ name: "input shapes", value: '[null,{"a":1},"x",[null]]' }, { name: "input types", value: "[1,null,[],{}]" }];
  assert.equal(readableInputs(facts).inputs.length, 4);
});
