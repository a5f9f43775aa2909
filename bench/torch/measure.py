"""One measurement of what recording with torch.profiler or with telltale.torch costs, in a process of its own.

Prints one JSON object. bench/torch/run calls it for each of the two in turn and compares.
"""

import argparse
import importlib
import json
import os
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import torch
from models import Training

PROFILERS = {"torch": "torch.profiler", "telltale": "telltale.torch"}


def settle(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


class Recorder:
    """The same calls for both: only the import differs."""

    def __init__(self, words: argparse.Namespace) -> None:
        module = importlib.import_module(PROFILERS[words.profiler])
        activities = [module.ProfilerActivity.CPU]
        if words.device == "cuda" and words.profiler == "torch" and words.kernels:
            activities.append(module.ProfilerActivity.CUDA)
        self.profile = module.profile(activities=activities, record_shapes=words.shapes)

    def __enter__(self) -> "Recorder":
        self.profile.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.profile.stop()


def clock_for(device: str) -> Callable[[], int]:
    """Nanoseconds of the training thread: of its processor time, which other programs do not add to; with a GPU, of all
    time."""
    return time.thread_time_ns if device == "cpu" else time.perf_counter_ns


def operators(words: argparse.Namespace) -> dict:
    """Nanoseconds that an operator takes: before, while and after it is recorded."""
    a, b = torch.ones(4, 4, device=words.device), torch.ones(4, 4, device=words.device)
    clock = clock_for(words.device)

    def loop(calls: int = 2000) -> float:
        settle(words.device)
        began = clock()
        for _ in range(calls):
            torch.add(a, b)
        took = clock() - began
        settle(words.device)
        return took / calls

    def best(loops: int = 40) -> float:
        return min(loop() for _ in range(loops))

    best()
    plain = best()
    with Recorder(words):
        recorded = best()
    return {"plain_ns": plain, "recorded_ns": recorded, "after_ns": best()}


def steps(words: argparse.Namespace) -> dict:
    """Milliseconds of a step, in recordings of so many steps; half of all steps take less.

    Stretches with and without a recording take turns, since a program's steps drift by more than a recording costs. On a
    GPU there is one of each: what torch.profiler leaves behind there would count as the program's own.
    """
    training, clock = Training(words.model, words.device), clock_for(words.device)

    def take(count: int, times: list[int]) -> None:
        for _ in range(count):
            settle(words.device)
            began = clock()
            training.step()
            settle(words.device)
            times.append(clock() - began)

    take(200, [])
    turns = max(1, 200 // words.steps) if words.device == "cpu" else 1
    plain, recorded, after = [], [], []
    for _ in range(turns):
        take(words.steps, plain)
        with Recorder(words):
            take(words.steps, recorded)
        take(words.steps, after)
    figures = {"plain_ms": plain, "recorded_ms": recorded, "after_ms": after}
    return {name: statistics.median(times) / 1e6 for name, times in figures.items()}


def table(words: argparse.Namespace) -> dict:
    """Seconds from the last step to a stopped profiler, and from there to the table; bytes of the file it leaves."""
    training = Training("transformer", words.device)
    training.step()
    recorder = Recorder(words)
    with recorder:
        for _ in range(words.steps):
            training.step()
        settle(words.device)
        began = time.perf_counter()
    stopped = time.perf_counter()
    text = recorder.profile.key_averages().table(sort_by="self_cpu_time_total")
    done = time.perf_counter()
    assert "aten::linear" in text
    return {"stop_s": stopped - began, "table_s": done - stopped, **size_of(recorder.profile, words.profiler)}


def size_of(profile: object, profiler: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / ("run.tell" if profiler == "telltale" else "run.json.gz")
        began = time.perf_counter()
        profile.save(str(path)) if profiler == "telltale" else profile.export_chrome_trace(str(path))
        took = time.perf_counter() - began
        count = sum(row.count for row in profile.key_averages())
        return {"file_bytes": path.stat().st_size, "operators": count, "export_s": took}


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 2**20


def memory(words: argparse.Namespace) -> dict:
    """Resident memory, in MiB beyond that before the recording, after each tenth of the steps."""
    training = Training("transformer", words.device)
    for _ in range(20):
        training.step()
    before, curve = resident_mib(), []
    with Recorder(words):
        for step in range(1, words.steps + 1):
            training.step()
            if step % (words.steps // 10) == 0:
                curve.append(round(resident_mib() - before, 1))
    return {"mib": curve}


def main() -> None:
    kinds = {work.__name__: work for work in (operators, steps, table, memory)}
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=kinds)
    parser.add_argument("--profiler", choices=PROFILERS, required=True)
    parser.add_argument("--device", choices=["cpu", "cuda"], default="cpu")
    parser.add_argument("--shapes", action="store_true")
    parser.add_argument("--kernels", action="store_true", help="torch.profiler also records the GPU")
    parser.add_argument("--model", default="transformer")
    parser.add_argument("--steps", type=int, default=100)
    words = parser.parse_args()
    torch.set_num_threads(1)
    print(json.dumps(kinds[words.what](words)))


if __name__ == "__main__":
    main()
