#!/usr/bin/env python3
"""A folder of planted faults as if less had been recorded: how often is the advice right then?

with_less.py FOLDER OUTPUT --python sampled    of Python what `telltale record` sees by default
with_less.py FOLDER OUTPUT --python none       no Python calls, as torch.profiler without with_stack

Annotations of the programs themselves are left out too, since few programs have any, and the measured step is told to
the diagnosis as our recorder tells it, so that what is wrong is wrong of fixes alone. `check OUTPUT` judges it. Times stay
as they were recorded with stacks: between operators, they are longer than without.
"""

import argparse
import gzip
import json
import re
import shutil
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parent))

from rows import BadInput, rows_of  # noqa: E402

Event = dict[str, Any]
TOLD_STEPS = 12

KEPT_ANNOTATIONS = re.compile(r"ProfilerStep#|Optimizer\.|enumerate\(DataLoader|DataLoader")  # torch's own
# Between operators and launches; our recorder leaves them out.
QUERIES = re.compile(
    r"cuda(GetDevice|SetDevice|StreamIsCapturing|FuncGetAttributes|OccupancyMax|PeekAtLastError|DeviceGetAttribute"
    r"|GetLastError|StreamGetCaptureInfo|EventQuery|PointerGetAttributes|FuncSetAttribute)|cu(FuncGet|Occupancy|TensorMap|GetProc)"
)
BUILT_IN = ("<built-in", "<method")
# Between the mark of a module and its forward.
PASSED_OVER = re.compile(r"torch/nn/modules/(module|container)\.py|torch/profiler/|contextlib")
LIBRARIES = re.compile(r"torch/|transformers/|threading|random|collections|copy|functools|<")


def as_sampled(calls: list[Event]) -> list[Event]:
    """Of one thread: the program's own functions, modules, and of calls into libraries the outermost."""
    kept, open_calls = [], []  # the latter with their end, and whether they are of a library
    for call in sorted(calls, key=lambda each: (each["ts"], -each["dur"])):
        while open_calls and open_calls[-1][0] <= call["ts"]:
            open_calls.pop()
        name, is_in_library = call["name"], bool(open_calls) and open_calls[-1][1]
        is_of_library = is_in_library
        if name.startswith("nn.Module"):
            is_of_library = False
            kept.append(call)
        elif not name.startswith(BUILT_IN) and not PASSED_OVER.match(name):
            is_of_library = bool(LIBRARIES.match(name))
            if not (is_of_library and is_in_library):
                kept.append(call)
        open_calls.append((call["ts"] + call["dur"], is_of_library))
    return kept


def is_kept(event: Event) -> bool:
    category, name = event.get("cat"), str(event.get("name", ""))
    if category in ("user_annotation", "gpu_user_annotation"):
        return bool(KEPT_ANNOTATIONS.match(name))
    return category not in ("cuda_runtime", "cuda_driver") or not QUERIES.match(name)


def with_less(trace: dict[str, Any], python: str, step_ms: float) -> dict[str, Any]:
    events, calls = [], defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("cat") == "python_function":
            calls[event["tid"]].append(event)
        elif is_kept(event):
            events.append(event)
    if python == "sampled":
        for of_thread in calls.values():
            events += as_sampled(of_thread)
    told = [{"when": "before", "first": 50, "took_ns": [round(1e6 * step_ms)] * TOLD_STEPS}]
    return {"unrecorded_steps": told, **trace, "traceEvents": events}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("output", type=Path, metavar="OUTPUT")
    parser.add_argument("--python", choices=("sampled", "none"), required=True)
    words = parser.parse_args()
    try:
        rows = [row for row in rows_of(words.folder) if row.trace.name.endswith(".json.gz")]
    except BadInput as error:
        print(f"with_less: {error}", file=sys.stderr)
        return 2
    words.output.mkdir(parents=True, exist_ok=True)
    for row in rows:
        with gzip.open(row.trace, "rt", encoding="utf-8") as file:
            trace = json.load(file)
        with gzip.open(words.output / row.trace.name, "wt", 1, encoding="utf-8") as file:
            json.dump(with_less(trace, words.python, row.truth["step_ms"]), file)
    shutil.copyfile(words.folder / "truth.json", words.output / "truth.json")
    return 0


if __name__ == "__main__":
    sys.exit(main())
