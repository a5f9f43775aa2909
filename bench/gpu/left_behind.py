"""What a recording leaves behind: the step before the first one and after the last, beside torch.profiler's own figure.

Each round has two processes with the same steps, of which one is never recorded. They take turns, block by block, while
the other one waits, so that what the machine does meanwhile is in both: what counts is how much longer the one's step
takes than the other's, before the one was recorded and after. A recording is three of ours, and one of torch.profiler
behind it.
"""

import argparse
import os
import random
import statistics
import subprocess
import sys
import time
from collections.abc import Callable

from models import small_training

from check import IS_DRY, IS_QUICK, claim, figure, synchronize, time_left_s  # isort: skip

ROUNDS = 1 if IS_DRY or IS_QUICK else 2
TURNS, STEPS = (2, 5) if IS_DRY else (15, 10)  # in each of the five stretches; of a block, of which a turn has four
FEWEST_TURNS, SETTLING = 4, 3  # the latter do not count
OURS = 3  # recordings
LIMIT_PERCENT = 3
DRAWS = 1000


def serve() -> None:
    """Does what standard input says, line by line, and answers each with a number: what a step took, in ms."""
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print is no answer

    import telltale.torch
    import torch

    if IS_DRY:
        torch.set_num_threads(1)  # both processes are on this processor
    step = small_training()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]

    def took_ms() -> float:
        times = []
        for _ in range(STEPS):
            synchronize()
            began = time.perf_counter()
            step()
            synchronize()
            times.append(time.perf_counter() - began)
        return 1e3 * statistics.median(times)

    def ten_steps() -> None:
        for _ in range(10):
            step()
        synchronize()

    def recorded_ms(profiler) -> float:
        with profiler.profile(activities=activities):
            ten_steps()
        return 0.0

    def unrecorded_ms() -> float:
        ten_steps()
        return 0.0

    acts: dict[str, Callable[[], float]] = {
        "measure": took_ms,
        "ours": lambda: recorded_ms(telltale.torch),
        "torch's": lambda: recorded_ms(torch.profiler),
        "nobody's": unrecorded_ms,
    }
    for line in sys.stdin:
        print(acts[line.strip()](), file=answers, flush=True)


class Program:
    """One of the two processes."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, __file__, "--serve"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def ask(self, what: str) -> None:
        self.process.stdin.write(what + "\n")
        self.process.stdin.flush()

    def answer(self) -> float:
        line = self.process.stdout.readline()
        if not line:
            sys.exit(f"a process of steps ended with exit status {self.process.wait()}")
        return float(line)

    def end(self) -> None:
        self.process.stdin.close()
        self.process.wait()


Ratios = list[float]  # of the recorded process's step to that of the other one, turn by turn


def one_round() -> tuple[list[float], dict[str, Ratios]]:
    """The steps of the process that is never recorded, and by stretch."""
    plain, recorded = both = Program(), Program()
    for program in both:
        program.ask("measure")  # they begin beside each other
    for program in both:
        program.answer()
    steps_ms: list[float] = []

    def stretch(turns: int) -> Ratios:
        ratios = []
        for _ in range(turns):
            took = {plain: 0.0, recorded: 0.0}
            # A block is slower behind one of the other process: each has one of those and one behind its own.
            for program in (plain, recorded, recorded, plain):
                program.ask("measure")
                took[program] += program.answer()
            ratios.append(took[recorded] / took[plain])
            steps_ms.append(took[plain] / 2)
        return ratios

    def record(whose: str, times: int) -> None:
        for program, what in ((plain, "nobody's"), (recorded, whose)):
            for _ in range(times):
                program.ask(what)
                program.answer()

    began = time.monotonic()
    stretch(SETTLING)
    turn_s = (time.monotonic() - began) / SETTLING
    # Five stretches, and what settles and is recorded between them.
    turns = int(min(TURNS, max(FEWEST_TURNS, time_left_s() / turn_s / 7)))
    ratios = {"first": stretch(turns), "second": stretch(turns)}
    record("ours", OURS)
    stretch(SETTLING)
    ratios["after ours"] = stretch(2 * turns)
    record("torch's", 1)
    stretch(SETTLING)
    ratios["after torch.profiler's"] = stretch(turns)
    for program in both:
        program.end()
    return steps_ms, ratios


def change(rounds: list[tuple[Ratios, Ratios]]) -> float:
    """By how much the step of the later stretches is longer, in percent: the mean of the rounds."""
    return 100 * statistics.mean(statistics.median(later) / statistics.median(earlier) - 1 for earlier, later in rounds)


def range_of(rounds: list[tuple[Ratios, Ratios]]) -> tuple[float, float]:
    """What 95 of 100 changes lie in that come of drawing the same turns again, each perhaps more than once."""
    drawn = random.Random(1)
    draws = sorted(
        change([tuple(drawn.choices(each, k=len(each)) for each in stretches) for stretches in rounds])
        for _ in range(DRAWS)
    )
    return draws[DRAWS * 25 // 1000], draws[DRAWS * 975 // 1000]


def words(rounds: list[tuple[Ratios, Ratios]]) -> str:
    low, high = range_of(rounds)
    return f"{change(rounds):+.1f} % ({low:+.1f} to {high:+.1f}), {len(rounds)} rounds"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--serve", action="store_true", help="one of the two processes")
    if parser.parse_args().serve:
        serve()
        return 0
    rounds: list[dict[str, Ratios]] = []
    steps_ms: list[float] = []
    longest = 0.0
    while len(rounds) < ROUNDS and (not rounds or longest < time_left_s()):
        began = time.monotonic()
        plain_ms, ratios = one_round()
        steps_ms += plain_ms
        rounds.append(ratios)
        for name, each in ratios.items():
            print(name, *(f"{ratio:.4f}" for ratio in each), flush=True)
        longest = max(longest, time.monotonic() - began)

    def of(earlier: tuple[str, ...], later: str) -> list[tuple[Ratios, Ratios]]:
        return [([ratio for name in earlier for ratio in each[name]], each[later]) for each in rounds]

    before = ("first", "second")
    quarters = statistics.quantiles(steps_ms, n=4)
    figure("a step that nobody records", f"{quarters[1]:.3f} ms, half of them {quarters[0]:.3f} to {quarters[2]:.3f}")
    figure("a step without a recording, twice", words(of(("first",), "second")))
    ours = of(before, "after ours")
    low, high = range_of(ours)
    # On a host that is not alone the range is wider than the limit now and then: what lies outside as a whole is ours.
    claim(
        "a step after our recordings, to before",
        low <= LIMIT_PERCENT and high >= -LIMIT_PERCENT,
        words(ours),
        f"± {LIMIT_PERCENT} %, or in the range",
    )
    figure("a step after torch.profiler's, to after ours", words(of(("after ours",), "after torch.profiler's")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
