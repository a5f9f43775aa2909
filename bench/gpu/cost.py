"""What recording costs beside what torch.profiler costs, in the same run: an operator on the GPU, a decode whose pace
the host sets, and all decodes of a program that `telltale record` records, which leaves most of them out.

The host is not alone on its machine, so that blocks without and with a recording alternate, and each recorded one is
compared with the plain ones before and behind it. torch.profiler slows the rest of its process down: its plain blocks
come first, in a process of its own. A block counts with the least of its stretches. Processes share the time that there
is, and where that is little, each makes fewer turns.

What CUPTI takes by itself to tell of kernels and of their launches is measured in the same turns: nobody who asks it
gets below that, and some of what we aim at lies there (docs/decisions/0020-the-cost-of-kernels-is-cuptis.md).
"""

import argparse
import contextlib
import functools
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator

import torch
from cupti_floor import DRIVER_CALLBACKS, KERNELS, Cupti
from models import llama_decode
from planted import unrecorded_steps, usual_step_ms

from check import (  # isort: skip
    DEVICE,
    IS_DRY,
    IS_QUICK,
    TELLTALE,
    aim,
    at_most,
    claim,
    figure,
    run,
    synchronize,
    time_left_s,
    work_folder,
)

TURNS = {"operator": 16, "decode": 6}
LEAST_TURNS = 3
STRETCHES = 4  # in a block
PROCESSES = {"operator": ("ours", "torch"), "decode": ("ours", "torch")}
DECODES = 40 if IS_DRY else 400  # of a program
WARM_UP = 3  # of them
PROGRAM_S = 15  # what a process of it takes
PROGRAM_RUNS = 2
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


@contextlib.contextmanager
def cupti_alone() -> Iterator[None]:
    cupti = the_cupti()
    cupti.begin(kinds=(KERNELS,), callbacks=DRIVER_CALLBACKS)
    try:
        yield
    finally:
        cupti.end()


@functools.cache
def the_cupti() -> Cupti:
    return Cupti()


FLOOR = "CUPTI alone"
# By name, what is entered to record.
OURS: dict[str, Callable] = {
    "telltale.torch": drop_in,
    "operators and kernels": engine,
    "telltale record": lambda: engine(shapes=True, samples=True, load=True, find_steps=True),
    FLOOR: contextlib.nullcontext if IS_DRY else cupti_alone,
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
        kept_s = 2 * PROGRAM_S if what == "decode" else 0
        own_s = max(0.0, time_left_s() - kept_s) / (len(all_of_them) - number)
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


def share_of_torchs(what: str, ours: float | None, theirs: float | None, most: float, aimed_at: float) -> None:
    """What is not there, or is measured as no cost at all, was not measured."""
    if ours is None or theirs is None or min(ours, theirs) <= 0:
        claim(what, False, f"not measured: {ours} and {theirs}", f"≤ {most:.3g}")
        return
    at_most(what, ours / theirs, most)
    aim(f"{what}, as we aim at", ours / theirs <= aimed_at, f"{ours / theirs:.2f}", f"≤ {aimed_at:.3g}")


def report_operator(measured: dict[str, Figures]) -> None:
    for each in measured.values():
        figure(
            f"an operator on the GPU: {each.name} adds",
            f"{1e9 * each.added:.0f} ns to {1e9 * each.plain:.0f}, {each.turns} turns",
        )
    added = {name: round(1e9 * each.added) for name, each in measured.items()}
    for name in COMPARED:
        what = f"an operator on the GPU: {name}, to what torch.profiler adds"
        share_of_torchs(what, added.get(name), added.get("torch.profiler"), most=0.5, aimed_at=1 / 3)


def report_decode(measured: dict[str, Figures]) -> None:
    for each in measured.values():
        figure(
            f"a decode that is recorded: slowed by {each.name}",
            f"{each.slowdown:.1f} % of {1e3 * each.plain:.2f} ms, {each.turns} turns",
        )
    slowed = {name: round(each.slowdown, 2) for name, each in measured.items()}
    if "operators and kernels" in slowed:
        ours = slowed["operators and kernels"]
        aim("a decode that is recorded: slowed by operators and kernels", ours <= 15, f"{ours:.1f} %", "≤ 15 %")
    for name in COMPARED:
        what = f"a decode that is recorded: slowed by {name}, to torch.profiler"
        share_of_torchs(what, slowed.get(name), slowed.get("torch.profiler"), most=0.5, aimed_at=0.25)
    report_program(slowed.get("torch.profiler"))


# ---- All decodes of a program ----


def program() -> None:
    """When each decode was over, in milliseconds. Each is marked: a program whose steps nothing tells apart is recorded
    throughout."""
    decode = llama_decode()
    ends = []
    for _ in range(DECODES):
        with torch.profiler.record_function("decode"):
            decode()
        ends.append(1e3 * time.perf_counter())  # the host sets the pace
    synchronize()
    print(json.dumps({"ends_ms": ends}), flush=True)


def program_ends(*record: str) -> list[float]:
    done = run([*record, sys.executable, __file__, "decode", "--process", "program"], min(60, time_left_s()))
    told = [line for line in done.stdout.splitlines() if line.startswith('{"ends_ms"')]
    return json.loads(told[-1])["ends_ms"] if done.returncode == 0 and told else []


def mean_ms(ends: list[float]) -> float:
    """Of all but the first few, which load kernels."""
    return (ends[-1] - ends[WARM_UP - 1]) / (len(ends) - WARM_UP)


def report_program(by_torch: float | None) -> None:
    """As `telltale record` runs it by default. Processes of one program differ by more than what is looked for, so that
    all its decodes are compared with those of the same process that the file leaves out, by the program's own clock."""
    import telltale

    what = f"a program of {DECODES} decodes under telltale record"
    slowed, means, kept = [], [], 0
    for turn in range(1 if IS_DRY else PROGRAM_RUNS):
        if turn > 0 and time_left_s() < PROGRAM_S:
            break
        file = work_folder() / f"decodes_{turn}.tell"
        ends = program_ends(TELLTALE, "record", "--no-analyze", "-o", str(file), "--")
        left_out = unrecorded_steps(file, len(ends)) if ends else []
        unrecorded, count = usual_step_ms(ends, left_out)
        if not count:
            claim(f"{what} comes to its end", False, f"{len(ends)} decodes, {len(left_out)} of them unrecorded")
            return
        kept = len(telltale.load(file).steps)
        means.append(mean_ms(ends))
        slowed.append(100 * (means[-1] / unrecorded - 1))
    claim(f"{what}: decodes in the file", kept >= 5, f"{kept}", "≥ 5")
    at_most(f"{what}: all of them together slowed by", statistics.median(slowed), 15, " %", 1)
    if by_torch:
        share = statistics.median(slowed) / by_torch
        at_most(f"{what}: slowed, to a decode that torch.profiler records", share, 0.25)
    plain = program_ends() if time_left_s() > PROGRAM_S else []
    figure(
        f"{what}: in each run",
        ", ".join(f"{each:+.1f} % ({mean:.2f} ms)" for each, mean in zip(slowed, means, strict=True))
        + (f"; {mean_ms(plain):.2f} ms in a process of its own without us" if plain else ""),
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=PROCESSES)
    parser.add_argument("--process", choices=["ours", "torch", "program"], help="one of them: this one")
    words = parser.parse_args()
    if words.process == "program":
        program()
        return 0
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
