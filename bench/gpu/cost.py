"""What recording costs beside what torch.profiler costs, in the same run: an operator on the GPU, and a decode whose
pace the host sets.

The host is not alone on its machine, so that blocks without and with a recording alternate, and each recorded one is
compared with the plain ones before and behind it. torch.profiler slows the rest of its process down: its plain blocks
come first, in a process of its own. A block counts with the least of its stretches. Processes share the time that there
is, and where that is little, each makes fewer turns.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import torch
from models import llama_decode

from check import DEVICE, IS_DRY, IS_QUICK, at_most, claim, figure, synchronize, time_left_s  # isort: skip

TURNS = {"operator": 16, "decode": 8}
LEAST_TURNS = 3
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
COMPARED = ("telltale.torch", "operators and kernels")  # with what torch.profiler costs


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


def turns(most: int, share: float = 1) -> Iterator[int]:
    """As many as there is time for in a share of what is left, by what the longest one took."""
    began, left, longest = time.monotonic(), share * time_left_s(), 0.0
    for turn in range(most):
        turn_began = time.monotonic()
        if turn >= LEAST_TURNS and turn_began - began + longest > left:
            return
        yield turn
        longest = max(longest, time.monotonic() - turn_began)


def one_process(what: str, who: str) -> None:
    """Prints blocks by name after each turn. Ours has a plain one more than turns: around each recorded one there are
    two."""
    loop, calls = operator_loop() if what == "operator" else decode_loop()
    most = 2 if IS_DRY else TURNS[what]
    block(loop, calls)
    blocks: dict[str, list[float]] = {"plain": []}
    if who == "torch":
        for _ in turns(most, share=0.2):
            blocks["plain"].append(block(loop, calls))
        blocks["torch.profiler"] = []
        for _ in turns(most):
            with torch.profiler.profile(activities=ACTIVITIES):
                blocks["torch.profiler"].append(block(loop, calls))
            print(json.dumps(blocks), flush=True)
        return
    blocks["plain"].append(block(loop, calls))
    for _ in turns(most):
        for name, recorder in OURS.items():
            with recorder():
                blocks.setdefault(name, []).append(block(loop, calls))
            blocks["plain"].append(block(loop, calls))
        print(json.dumps(blocks), flush=True)


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
        both = [pair for process in processes if process.get(name) for pair in pairs(process, name)]
        self.name = name
        self.plain = statistics.median(plain for plain, _ in both)
        self.added = statistics.median(recorded - plain for plain, recorded in both)
        self.slowdown = 100 * statistics.median(recorded / plain - 1 for plain, recorded in both)
        self.turns = len(both)


def measure(what: str) -> list[dict[str, list[float]]]:
    processes = []
    all_of_them = PROCESSES[what][:2] if IS_DRY or IS_QUICK else PROCESSES[what]
    for number, who in enumerate(all_of_them):
        own_s = time_left_s() / (len(all_of_them) - number)
        variables = {**os.environ, "GPU_CHECK_UNTIL": str(time.monotonic() + own_s)}
        with tempfile.TemporaryFile("w+") as output:
            process = subprocess.Popen([sys.executable, __file__, what, "--process", who], stdout=output, env=variables)
            try:
                status = process.wait(None if own_s == float("inf") else max(0.0, time_left_s()))
            except subprocess.TimeoutExpired:
                process.kill()
                status = process.wait()
            output.seek(0)
            said = output.read().splitlines()
        if status != 0:
            print(f"{who}: exit status {status}", flush=True)
        told = [line for line in said if line.startswith("{") and line.endswith("}")]
        if not told:
            print("\n".join(said), flush=True)
            continue
        processes.append(json.loads(told[-1]))
        for name, times in processes[-1].items():
            print(who, name, " ".join(f"{1e6 * each:.2f}" for each in times), "µs", flush=True)
    return processes


def at_most_share(what: str, ours: float | None, theirs: float | None, limit: float) -> None:
    """What is not there, or is measured as no cost at all, was not measured."""
    if ours is not None and theirs is not None and min(ours, theirs) > 0:
        at_most(what, ours / theirs, limit)
    else:
        claim(what, False, f"not measured: {ours} and {theirs}", f"≤ {limit:.3g}")


def report_operator(measured: dict[str, Figures]) -> None:
    for each in measured.values():
        figure(
            f"an operator on the GPU: {each.name} adds",
            f"{1e9 * each.added:.0f} ns to {1e9 * each.plain:.0f}, {each.turns} turns",
        )
    added = {name: round(1e9 * each.added) for name, each in measured.items()}
    for name in COMPARED:
        what = f"an operator on the GPU: {name}, to what torch.profiler adds"
        at_most_share(what, added.get(name), added.get("torch.profiler"), 1 / 3)


def report_decode(measured: dict[str, Figures]) -> None:
    for each in measured.values():
        figure(
            f"a decode of a Llama: slowed by {each.name}",
            f"{each.slowdown:.1f} % of {1e3 * each.plain:.2f} ms, {each.turns} turns",
        )
    slowed = {name: round(each.slowdown, 2) for name, each in measured.items()}
    if "operators and kernels" in slowed:
        at_most("a decode: slowed by operators and kernels", slowed["operators and kernels"], 15, " %", 1)
    for name in COMPARED:
        at_most_share(
            f"a decode: slowed by {name}, to torch.profiler", slowed.get(name), slowed.get("torch.profiler"), 0.25
        )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=PROCESSES)
    parser.add_argument("--process", choices=["ours", "torch"], help="one of them: this one")
    words = parser.parse_args()
    if words.process:
        one_process(words.what, words.process)
        return 0
    processes = measure(words.what)
    names = [name for name in ("torch.profiler", *OURS) if any(each.get(name) for each in processes)]
    report = report_operator if words.what == "operator" else report_decode
    report({name: Figures(processes, name) for name in names})
    return 0


if __name__ == "__main__":
    sys.exit(main())
