"""What recording costs beside what torch.profiler costs, in the same run: an operator on the GPU, and a decode whose
pace the host sets.

The host is not alone on its machine, so that blocks without and with a recording alternate, and each recorded one is
compared with the plain ones before and behind it. torch.profiler slows the rest of its process down: its plain blocks
come first, in a process of its own. A block counts with the least of its stretches.
"""

import argparse
import contextlib
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import torch
from models import llama_decode

from check import DEVICE, IS_DRY, IS_QUICK, at_most, claim, figure, synchronize  # isort: skip

TURNS = {"operator": 16, "decode": 8}
STRETCHES = 4  # in a block
PROCESSES = {"operator": ("ours", "torch", "ours", "torch"), "decode": ("ours", "torch")}
ACTIVITIES = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
Loop = Callable[[], None]


def operator_loop() -> tuple[Loop, int]:
    x = torch.ones(64, device=DEVICE)
    calls = 200 if IS_DRY else 1000

    def loop() -> None:
        for _ in range(calls):
            x.add(1)

    return loop, calls


def decode_loop() -> tuple[Loop, int]:
    decode, calls = llama_decode(), 4

    def loop() -> None:
        for _ in range(calls):
            decode()

    return loop, calls


@contextlib.contextmanager
def engine(**wanted: bool) -> Iterator[None]:
    """A recording as `telltale record` makes it, with what is wanted of it."""
    from telltale._capture import Recording, Wanted

    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(f"{folder}/cost.tell", Wanted(cuda=True, **wanted))
        recording.prepare()
        recording.start()
        try:
            yield
        finally:
            recording.stop()


def drop_in():
    import telltale.torch

    return telltale.torch.profile(activities=ACTIVITIES)


# By name, what is entered to record.
OURS: dict[str, Callable] = {
    "telltale.torch": drop_in,
    "operators and kernels": engine,
    "telltale record": lambda: engine(shapes=True, samples=True, load=True, find_steps=True),
}


def block(loop: Loop, calls: int) -> float:
    """Seconds of a call: the least of some stretches, the first of which warms up."""
    times = []
    for _ in range(1 + STRETCHES):
        synchronize()
        began = time.perf_counter()
        loop()
        synchronize()
        times.append((time.perf_counter() - began) / calls)
    return min(times[1:])


def one_process(what: str, who: str) -> dict[str, list[float]]:
    """Blocks by name. Ours has a plain one more than turns: around each recorded one there are two."""
    loop, calls = operator_loop() if what == "operator" else decode_loop()
    turns = 2 if IS_DRY else TURNS[what]
    block(loop, calls)
    blocks: dict[str, list[float]] = {"plain": []}
    if who == "torch":
        blocks["plain"] = [block(loop, calls) for _ in range(turns)]
        blocks["torch.profiler"] = []
        for _ in range(turns):
            with torch.profiler.profile(activities=ACTIVITIES):
                blocks["torch.profiler"].append(block(loop, calls))
        return blocks
    for _ in range(turns):
        for name, recorder in OURS.items():
            blocks["plain"].append(block(loop, calls))
            with recorder():
                blocks.setdefault(name, []).append(block(loop, calls))
    blocks["plain"].append(block(loop, calls))
    return blocks


def pairs(process: dict[str, list[float]], name: str) -> list[tuple[float, float]]:
    """Plain and recorded, for each recorded block."""
    plain = process["plain"]
    if name == "torch.profiler":
        return [(statistics.median(plain), each) for each in process[name]]
    place = list(OURS).index(name)
    around = [place + len(OURS) * turn for turn in range(len(process[name]))]
    return [((plain[at] + plain[at + 1]) / 2, each) for at, each in zip(around, process[name], strict=True)]


class Figures:
    """Of one recorder, over all processes."""

    def __init__(self, processes: list[dict[str, list[float]]], name: str) -> None:
        both = [pair for process in processes if name in process for pair in pairs(process, name)]
        self.name = name
        self.plain = statistics.median(plain for plain, _ in both)
        self.added = statistics.median(recorded - plain for plain, recorded in both)
        self.slowdown = 100 * statistics.median(recorded / plain - 1 for plain, recorded in both)


def measure(what: str) -> list[dict[str, list[float]]]:
    processes = []
    for who in PROCESSES[what][:2] if IS_DRY or IS_QUICK else PROCESSES[what]:
        done = subprocess.run([sys.executable, __file__, what, "--process", who], stdout=subprocess.PIPE, text=True)
        if done.returncode != 0:
            print(f"{who}: exit status {done.returncode}\n{done.stdout}", flush=True)
            continue
        processes.append(json.loads(done.stdout.splitlines()[-1]))
        for name, times in processes[-1].items():
            print(who, name, " ".join(f"{1e6 * each:.2f}" for each in times), "µs", flush=True)
    return processes


def report_operator(theirs: Figures, ours: dict[str, Figures]) -> None:
    for each in (theirs, *ours.values()):
        figure(f"an operator on the GPU: {each.name} adds", f"{1e9 * each.added:.0f} ns to {1e9 * each.plain:.0f}")
    for name in ("telltale.torch", "operators and kernels"):
        share = ours[name].added / theirs.added if theirs.added > 0 else float("inf")
        at_most(f"an operator on the GPU: {name}, to what torch.profiler adds", share, 1 / 3)


def report_decode(theirs: Figures, ours: dict[str, Figures]) -> None:
    for each in (theirs, *ours.values()):
        figure(f"a decode of a Llama: slowed by {each.name}", f"{each.slowdown:.1f} % of {1e3 * each.plain:.2f} ms")
    at_most("a decode: slowed by operators and kernels", ours["operators and kernels"].slowdown, 15, " %", 1)
    for name in ("telltale.torch", "operators and kernels"):
        share = ours[name].slowdown / theirs.slowdown if theirs.slowdown > 0 else float("inf")
        at_most(f"a decode: slowed by {name}, to torch.profiler", share, 0.25)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=PROCESSES)
    parser.add_argument("--process", choices=["ours", "torch"], help="one of them: this one")
    words = parser.parse_args()
    if words.process:
        print(json.dumps(one_process(words.what, words.process)))
        return 0
    processes = measure(words.what)
    if not all(any(name in each for each in processes) for name in ("torch.profiler", *OURS)):
        claim(f"cost of {words.what}: both were measured", False, str([list(each) for each in processes]))
        return 1
    report = report_operator if words.what == "operator" else report_decode
    report(Figures(processes, "torch.profiler"), {name: Figures(processes, name) for name in OURS})
    return 0


if __name__ == "__main__":
    sys.exit(main())
