#!/usr/bin/env python3
"""Plants performance faults, measures what fixing them buys, and records traces of them.

For each case, unprofiled and in a process of its own: the faulty step, the planted fix, every other fix that
applies, each alone, and the faulty step again. Then, in a fresh process, the faulty step's time and its trace.
Writes CASE.json.gz, truth.json and, as they come, measurements.jsonl. A run that its deadline ends is continued by
another with --missing.
"""

import argparse
import json
import os
import sys
import tempfile
import time
from pathlib import Path

os.environ.setdefault("PYTORCH_NVML_BASED_CUDA_CHECK", "1")  # asking for CUDA must not start it before the forks
os.environ.setdefault("TORCHINDUCTOR_CACHE_DIR", str(Path(tempfile.gettempdir()) / "planted_faults_compiled"))
sys.path.insert(0, str(Path(__file__).resolve().parent))

import torch
import torch._dynamo
import torch._inductor.compile_fx
import torch._inductor.config

from planting import cases, device, processes  # noqa: F401
from planting.case import CASES, Case
from planting.fixes import COMPILING, GENERIC
from planting.measure import measured, recorded, rehearse, step_with
from planting.packing import pack
from planting.truth import FAULTY, FAULTY_AGAIN, RECORDED, RECORDED_NOSTACK, cases_in, merge_into, row_of

SECONDS_FOR_A_CASE = 100
SECONDS_TO_START_A_CASE = 35  # with less time left than this, the next case is not started
SECONDS_TO_COMPILE_AHEAD = 150
COMPILED = Path(os.environ["TORCHINDUCTOR_CACHE_DIR"])


class Notebook:
    """Every measurement goes to a file at once, so that a run that is killed loses nothing."""

    def __init__(self, path: Path):
        self.path = path

    def note(self, case: Case, what: str, result: dict) -> None:
        line = json.dumps({"case": case.name, "fix": what, **result})
        with self.path.open("a") as file:
            file.write(line + "\n")
        print(time.strftime("%H:%M:%S"), line, flush=True)

    def of(self, case: Case) -> dict[str, dict]:
        """The last word on each fix."""
        lines = map(json.loads, self.path.read_text().splitlines()) if self.path.exists() else []
        return {line.pop("fix"): line for line in lines if line["case"] == case.name}


def fixes_of(case: Case) -> list[str]:
    planted = [case.fix_id] if case.fix_id else []
    return list(dict.fromkeys([*planted, *case.also, *GENERIC]))


def measure_case(case: Case, notebook: Notebook, shrink: int, leave_out: set[str]) -> None:
    """The compiled variants come last: what they leave in the process is the hardest to clean up."""
    fixes = [fix for fix in fixes_of(case) if fix not in leave_out]
    reasons = rehearse(case, shrink)
    device.release_everything()
    for fix in [fix for fix in fixes if fix in reasons and fix != case.fix_id]:
        notebook.note(case, fix, {"skipped": reasons[fix]})
        fixes.remove(fix)
    notebook.note(case, FAULTY, measured(case, None, shrink))
    for fix in fixes:
        if fix not in COMPILING:
            notebook.note(case, fix, measured(case, fix, shrink))
    notebook.note(case, FAULTY_AGAIN, measured(case, None, shrink))
    for fix in fixes:
        if fix in COMPILING:
            notebook.note(case, fix, measured(case, fix, shrink))


def run_case(case: Case, out: Path, notebook: Notebook, options: argparse.Namespace, deadline: float) -> None:
    def alone(work, environment):
        until = min(deadline, time.monotonic() + SECONDS_FOR_A_CASE)
        if processes.finish([processes.start(work, environment)], until):
            print(f"{case.name}: a process failed or ran out of time", flush=True)

    leave_out = set(options.leave_out)
    if case.environment:  # its planted fix is a process without that environment
        fix = case.fix_id
        alone(lambda: notebook.note(case, fix, measured(case, fix, options.shrink)), {})
        leave_out.add(fix)
    alone(lambda: measure_case(case, notebook, options.shrink, leave_out), case.environment)
    alone(lambda: notebook.note(case, RECORDED, recorded(case, out, options.shrink)), case.environment)
    if case.nostack:
        result = lambda: recorded(case, out, options.shrink, stacks=False)  # noqa: E731
        alone(lambda: notebook.note(case, RECORDED_NOSTACK, result()), case.environment)


def compile_once(case: Case, shrink: int) -> None:
    torch._inductor.config.compile_threads = 2
    for fix in COMPILING:
        start = time.monotonic()
        try:
            step = step_with(case, fix, shrink)
            step()
            step()
            device.synchronize()
            print(f"compiled {case.name} {fix} in {time.monotonic() - start:.0f} s", flush=True)
        except Exception as error:  # the measurement will say so
            print("compiling", case.name, fix, type(error).__name__, flush=True)
        device.release_everything()
    compiled_mark(case).touch()


def compiled_mark(case: Case) -> Path:
    return COMPILED / f"{case.name}.compiled"


def fill_compiler_caches(wanted: list[Case], shrink: int, at_a_time: int, deadline: float) -> None:
    """Compiles every case once, several at a time; later, one at a time, the compiler finds its results on disk."""
    COMPILED.mkdir(parents=True, exist_ok=True)
    queue = [case for case in wanted if not set(COMPILING) <= set(case.without) and not compiled_mark(case).exists()]
    start = time.monotonic()
    running: list[int] = []
    while (queue or running) and time.monotonic() < deadline:
        while queue and len(running) < at_a_time:
            running.append(processes.start(lambda case=queue.pop(0): compile_once(case, shrink), {}))
        running = processes.still_running(running)
        time.sleep(0.05)
    processes.finish(running, deadline)
    said = f"compiled ahead in {time.monotonic() - start:.0f} s"
    print(f"{said}; {len(running)} not finished, {len(queue)} not started", flush=True)


def machine() -> dict[str, str]:
    """Asked in a child: the parent must not start CUDA."""
    return {"device": processes.result_of(device.name, {}, time.monotonic() + 60), "torch": torch.__version__}


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, nargs="?", help="folder for the traces and truth.json")
    parser.add_argument("cases", nargs="*", help="all, if none is named")
    parser.add_argument("--list", action="store_true", help="list the cases and stop")
    parser.add_argument("--deadline", type=float, default=3600, help="seconds for everything")
    parser.add_argument("--compile-ahead", type=int, default=0, metavar="N", help="first compile N cases at a time")
    parser.add_argument("--missing", action="store_true", help="only cases that truth.json has no row of")
    parser.add_argument("--pack", type=Path, metavar="FOLDER", help="at the end, pack the results into tar files there")
    parser.add_argument("--leave-out", nargs="*", default=[], metavar="FIX", help="fixes not to measure")
    parser.add_argument("--shrink", type=int, default=1, help="divide batches, to try a case without a GPU")
    options = parser.parse_intermixed_args()  # cases may follow options
    unknown = set(options.cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    if not options.list and options.out is None:
        parser.error("say where the traces should go")
    return options


def main() -> None:
    options = parse_arguments()
    if options.list:
        for case in CASES.values():
            print(f"{case.name:28} {case.cause:22} {case.fix_id or '-':22} {case.fix}")
        return
    deadline = time.monotonic() + options.deadline
    wanted = [CASES[name] for name in options.cases or CASES]
    options.out.mkdir(parents=True, exist_ok=True)
    if options.missing:
        known = cases_in(options.out / "truth.json")
        wanted = [case for case in wanted if case.name not in known]
    torch._inductor.config.autotune_local_cache = False  # choices made while others ran are not to be trusted
    notebook = Notebook(options.out / "measurements.jsonl")
    about = machine()
    print(f"{about['device']}, torch {about['torch']}, {len(wanted)} cases", flush=True)
    if options.compile_ahead:
        until = time.monotonic() + min(options.deadline / 3, SECONDS_TO_COMPILE_AHEAD)
        fill_compiler_caches(wanted, options.shrink, options.compile_ahead, until)
    for place, case in enumerate(wanted, 1):
        if deadline - time.monotonic() < SECONDS_TO_START_A_CASE:
            print(f"{case.name}: not started for lack of time", flush=True)
            continue
        start = time.monotonic()
        run_case(case, options.out, notebook, options, deadline)
        if row := row_of(case, notebook.of(case)):
            merge_into(options.out / "truth.json", about, [row])
        said = f"{case.name}, {place} of {len(wanted)}: {time.monotonic() - start:.0f} s"
        print(said if row else said + ", no row", flush=True)
    if options.pack:
        print(*pack(options.out, options.pack), flush=True)


if __name__ == "__main__":
    main()
