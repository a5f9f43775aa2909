#!/usr/bin/env python3
"""A case as the training loop that somebody would write, for a recorder to look at from outside.

Knows of no profiler. Ends with a line of JSON: how many steps came after the warm-up, and the median of their times.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path

sys.path[0] = str(Path(__file__).resolve().parents[1])  # not this folder: its modules have names that others have

from planting import cases, device  # noqa: E402, F401
from planting.case import CASES  # noqa: E402
from planting.measure import step_with, warm_up  # noqa: E402

SECONDS = 6.0  # PyTorch's profiler asks once a second what to record, and needs some steps before and after


def run(step: Callable[[], None], steps: int | None, seconds: float) -> list[float]:
    """The time from the end of each step to that of the next, as the host sees it."""
    ends = [time.perf_counter()]
    while len(ends) <= steps if steps else ends[-1] - ends[0] < seconds:
        step()
        ends.append(time.perf_counter())
    device.synchronize()
    return [end - begin for begin, end in pairwise(ends)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("case", choices=CASES, metavar="CASE", help="one of plant_faults.py --list")
    parser.add_argument("--steps", type=int, metavar="N", help="steps after the warm-up, instead of --seconds")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of steps after the warm-up (%(default)g)")
    parser.add_argument("--shrink", type=int, default=1, help="divide batches, to try it without a GPU")
    options = parser.parse_args()
    case = CASES[options.case]
    step = step_with(case, None, options.shrink)
    warm_up(case, step)
    times = run(step, options.steps, options.seconds)
    print(json.dumps({"case": case.name, "steps": len(times), "median_ms": round(1e3 * statistics.median(times), 4)}))


if __name__ == "__main__":
    main()
