/** The tables of the page. */
import { tableView } from "./table_view";

const GROUPS = [
  { id: "name", title: "name" },
  { id: "shape", title: "shape" },
  { id: "stack", title: "stack" },
];

export const operators = tableView({
  id: "operators",
  title: "Operators",
  key: "3",
  rows: [
    { id: "operators", title: "Operators" },
    { id: "annotations", title: "Annotations" },
    { id: "python", title: "Python" },
  ],
  groups: GROUPS,
  hasDetails: true,
  missing: "The trace has none.",
  empty: {
    torch: "Operators need ProfilerActivity.CPU, Python calls with_stack=True, and annotations record_function.",
    ours: "Operators and Python calls come from PyTorch programs under telltale record; the scopes of a program that uses our library are Annotations.",
  },
});

export const kernels = tableView({
  id: "kernels",
  title: "Kernels",
  key: "4",
  rows: [{ id: "kernels", title: "Kernels" }],
  groups: GROUPS,
  hasDetails: true,
  missing: "The trace has no device work.",
  empty: {
    torch: "Record with ProfilerActivity.CUDA, on a machine with a GPU.",
    ours: "Record with telltale record, on a machine with an NVIDIA GPU.",
  },
});

export const lines = tableView({
  id: "lines",
  title: "Lines",
  key: "6",
  rows: [{ id: "lines", title: "Lines" }],
  groups: [],
  hasDetails: false,
  missing: "The trace does not say which line called what.",
  empty: {
    torch: "Record with with_stack=True, or with telltale record --stacks.",
    ours: "Lines come from Python programs under telltale record.",
  },
});
