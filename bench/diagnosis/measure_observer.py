#!/usr/bin/env python3
"""What recording costs: for each case and each way to record it, the step unprofiled and a trace of it.

Each pair has a process of its own: it times the step, then records it. Writes CASE.OPTION.json.gz and pairs.jsonl, whose rows
have the case, the option and the unprofiled step in milliseconds.
"""

import argparse
import json
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking for CUDA must not start it before the forks
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch  # noqa: F401  (once, before the forks)

from planting import cases, processes  # noqa: F401
from planting.case import CASES, Case
from planting.measure import Recording, record, step_ms, step_with

OPTIONS = {
    "plain": Recording(shapes=False, memory=False, stacks=False),
    "shapes": Recording(shapes=True, memory=False, stacks=False),
    "memory": Recording(shapes=True, memory=True, stacks=False),
    "stacks": Recording(shapes=True, memory=True, stacks=True),
}
SECONDS_FOR_A_PAIR = 60


def measure(case: Case, option: str, out: Path) -> None:
    step = step_with(case, None, 1)
    ms = step_ms(case, step)
    record(step, out / f"{case.name}.{option}.json.gz", OPTIONS[option])
    with (out / "pairs.jsonl").open("a") as file:
        file.write(json.dumps({"case": case.name, "option": option, "step_ms": round(ms, 4)}) + "\n")
    print(f"{case.name} {option}: {ms:.3f} ms", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for the traces and pairs.jsonl")
    parser.add_argument("cases", nargs="+", help="cases of plant_faults.py")
    parser.add_argument("--options", nargs="*", default=list(OPTIONS), choices=OPTIONS)
    options = parser.parse_intermixed_args()
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    options.out.mkdir(parents=True, exist_ok=True)
    for name in options.cases:
        for option in options.options:
            child = processes.start(lambda case=CASES[name], how=option: measure(case, how, options.out), {})
            if processes.finish([child], time.monotonic() + SECONDS_FOR_A_PAIR):
                print(f"{name} {option}: failed or ran out of time", flush=True)


if __name__ == "__main__":
    main()
