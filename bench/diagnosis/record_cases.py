#!/usr/bin/env python3
"""Cases as `telltale record` records them, with its default options, for `check` to judge.

For each case, the faulty step is timed unprofiled, in a process of its own; then planting/run_case.py, which knows of
no profiler, is recorded. Writes CASE.json.gz (or CASE.tell, where telltale's own engine records), CASE.log and
truth.json: the rows of another truth.json, whose gains they keep, with the times of these runs. Prints no diagnosis.
"""

import argparse
import gzip
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking for CUDA must not start it before the forks
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch

from planting import cases, device, processes  # noqa: F401
from planting.case import CASES, Case, Plan
from planting.measure import step_ms
from planting.packing import pack
from planting.truth import merge_into
from planting.workload import step_of

HERE = Path(__file__).resolve().parent
RUN_CASE = HERE / "planting" / "run_case.py"
SECONDS_TO_TIME = 60
SECONDS_TO_RECORD = 120
# Those that are recorded without stacks too, but for the one that does not train, and one of reinforcement learning.
CHOSEN = [case.name for case in CASES.values() if case.nostack and case.name != "decode_with_fixed_cache"]
CHOSEN.append("poles_moved_in_python")


class Failed(Exception):
    """A sentence that says why a case has no recording."""


def timed(case: Case, shrink: int) -> dict:
    torch.manual_seed(0)
    work = case.make(Plan(None, shrink))
    if not work.trains:
        return {"trains": False}
    return {"trains": True, "ms": step_ms(case, step_of(work))}


def run_recorded(case: Case, into: Path, log: Path, options: argparse.Namespace) -> float:
    """The median of the step's times as the recorded program has seen them itself."""
    engine = ["--engine", options.engine] if options.engine else []
    program = [sys.executable, RUN_CASE, case.name, "--shrink", options.shrink]
    command = [options.telltale, "record", "--no-analyze", *engine, "-o", into, "--", *program]
    with log.open("w") as file:
        child = subprocess.Popen([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=file,
                                 stderr=subprocess.STDOUT, start_new_session=True, env=os.environ | case.environment)
        try:
            status = child.wait(SECONDS_TO_RECORD)
        except subprocess.TimeoutExpired:
            os.killpg(child.pid, signal.SIGKILL)
            child.wait()
            raise Failed(f"recording took more than {SECONDS_TO_RECORD} s, see {log}") from None
    said = [line for line in log.read_text().splitlines() if line.startswith('{"case"')]
    if status != 0 or not said:
        raise Failed(f"telltale record ended with {status}, see {log}")
    return json.loads(said[-1])["median_ms"]


def keep(folder: Path, case: Case, out: Path) -> Path:
    """The recording under the case's name; of several processes, that which has most to tell."""
    written = sorted(folder.iterdir(), key=lambda path: path.stat().st_size)
    if not written:
        raise Failed(f"nothing was recorded, see {out / case.name}.log")
    largest = written[-1]
    if largest.suffix != ".json":
        return Path(shutil.move(largest, out / f"{case.name}{largest.suffix}"))
    packed = out / f"{case.name}.json.gz"
    with largest.open("rb") as text, gzip.open(packed, "wb", 6) as file:
        shutil.copyfileobj(text, file)
    return packed


def record_case(case: Case, truth: dict, options: argparse.Namespace) -> dict:
    until = time.monotonic() + SECONDS_TO_TIME
    step = processes.result_of(lambda: timed(case, options.shrink), case.environment, until)
    if step is None:
        raise Failed("the step could not be timed")
    if not step["trains"]:
        raise Failed("does not train, and PyTorch's profiler counts steps of optimizers")
    with tempfile.TemporaryDirectory() as folder:
        run_step_ms = run_recorded(case, Path(folder), options.out / f"{case.name}.log", options)
        trace = keep(Path(folder), case, options.out)
    unlike_here = ("source", "nostack_step_ms", "peak_mib")  # no stacks are recorded, so that no function can be named
    kept = {key: value for key, value in truth.items() if key not in unlike_here}
    return kept | {"step_ms": round(step["ms"], 3), "run_step_ms": round(run_step_ms, 3), "trace": trace.name}


def command_of_package() -> Path:
    """That of the Python package where there is one, as in a wheel; else of the build tree."""
    package = find_spec("telltale")
    in_package = Path(package.origin).parent / "bin" / "telltale" if package and package.origin else None
    return in_package if in_package and in_package.exists() else HERE.parents[1] / "build" / "bin" / "telltale"


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, help="folder for the recordings and truth.json")
    parser.add_argument("cases", nargs="*", help=f"cases of plant_faults.py; if none is named: {', '.join(CHOSEN)}")
    parser.add_argument("--truth", type=Path, required=True, metavar="FILE", help="a truth.json with the cases' gains")
    parser.add_argument("--telltale", type=Path, default=command_of_package(), metavar="PATH", help="the command")
    parser.add_argument("--engine", choices=("telltale", "kineto"), help="what records, if not telltale's own choice")
    parser.add_argument("--pack", type=Path, metavar="FOLDER", help="at the end, pack the results into tar files there")
    parser.add_argument("--shrink", type=int, default=1, help="divide batches, to try a case without a GPU")
    options = parser.parse_intermixed_args()
    options.cases = options.cases or CHOSEN
    if unknown := set(options.cases) - set(CASES):
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    options.rows = {row["case"]: row for row in json.loads(options.truth.read_text())["cases"]}
    return options


def main() -> int:
    options = parse_arguments()
    options.out.mkdir(parents=True, exist_ok=True)
    machine = {"device": processes.result_of(device.name, {}, time.monotonic() + 60), "torch": torch.__version__}
    failed = 0
    for name in options.cases:
        start = time.monotonic()
        try:
            if name not in options.rows:
                raise Failed(f"{options.truth} has no row of it")
            row = record_case(CASES[name], options.rows[name], options)
        except Failed as why:
            failed += 1
            print(f"{name}: {why}", flush=True)
            continue
        merge_into(options.out / "truth.json", machine, [row])
        print(f"{name}: step {row['step_ms']} ms, {row['run_step_ms']} in the recorded run, {row['trace']}, "
              f"{time.monotonic() - start:.0f} s", flush=True)
    if options.pack:
        print(*pack(options.out, options.pack), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
