/** What an operator was called with, in words: the trace has shapes, strides, types and values as lists of their own. Pure. */
import type { Fact } from "../protocol";

type Dims = number | Dims[];

/** An input a line, and the facts that are about something else. */
export function readableInputs(facts: readonly Fact[]): { inputs: string[]; others: Fact[] } {
  const listOf = (name: string): unknown[] | null => listIn(facts.find((fact) => fact.name === name)?.value);
  const lists = { shapes: listOf("input shapes"), strides: listOf("input strides"), types: listOf("input types"), values: listOf("input values") };
  const count = Math.max(0, ...Object.values(lists).map((list) => list?.length ?? 0));
  const inputs: string[] = [];
  for (let i = 0; i < count; ++i) {
    const text = (list: unknown[] | null): string => {
      const member = list?.[i];
      return typeof member === "string" ? member : "";
    };
    inputs.push(inputText(text(lists.types), (lists.shapes?.[i] ?? []) as Dims, (lists.strides?.[i] ?? []) as Dims, text(lists.values)));
  }
  const isRead = ({ name }: Fact): boolean => Object.entries(lists).some(([kind, list]) => list !== null && name === `input ${kind}`);
  return { inputs, others: facts.filter((fact) => !isRead(fact)) };
}

/** Null for what is no list, or only the beginning of one. */
function listIn(text: string | undefined): unknown[] | null {
  try {
    const value: unknown = text === undefined ? null : JSON.parse(text);
    return Array.isArray(value) ? value : null;
  } catch {
    return null;
  }
}

function inputText(type: string, shape: Dims, strides: Dims, value: string): string {
  if (value !== "") return value;
  const dims = dimsText(shape);
  if (type === "" && dims === "") return "none";
  const laidOut = isContiguous(shape, strides) ? "" : `, strides ${dimsText(strides, ", ")}`;
  return `${[type, dims].filter((part) => part !== "").join(" ")}${laidOut}`;
}

/** "16 × 1000"; of a list of tensors, one after another. */
function dimsText(dims: Dims, between = " × "): string {
  if (typeof dims === "number") return String(dims);
  if (!Array.isArray(dims)) return "";
  return dims.map((each) => dimsText(each, between)).join(dims.some((each) => Array.isArray(each)) ? " and " : between);
}

/** As a tensor is that was just made, or not known otherwise. */
function isContiguous(shape: Dims, strides: Dims): boolean {
  if (!Array.isArray(shape) || !Array.isArray(strides) || strides.length !== shape.length) return true;
  let expected = 1;
  for (let i = shape.length - 1; i >= 0; --i) {
    const [size, stride] = [shape[i], strides[i]];
    if (typeof size !== "number" || typeof stride !== "number") return true;
    if (size !== 1 && stride !== expected) return false;
    expected *= size;
  }
  return true;
}
