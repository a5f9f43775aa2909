"""The loop around a planted program: its steps as they are, or, with --measure, what they take with and without the
fault.

`make(fix)` returns the program's step: the faulty one for None, otherwise the one with that fix. The loop prints what
it measured as its last line, in JSON: milliseconds by fix, or when each step ended.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
Step = Callable[[], None]
ROUNDS = 3


@dataclass(frozen=True)
class Program:
    make: Callable[[str | None], Step]
    fixes: tuple[str, ...]
    steps: int
    in_turns: bool = True  # whether its steps with and without the fault can be measured in turns

    def run(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("--fixed", choices=self.fixes, help="run it with this fix")
        parser.add_argument("--measure", action="store_true", help="measure the step, with and without each fix")
        parser.add_argument("--steps", type=int, default=self.steps)
        words = parser.parse_args()
        torch.manual_seed(0)
        if words.measure:
            print(json.dumps(self.measure(words.steps)))
            return
        step, clock = self.make(words.fixed), Clock()
        for _ in range(words.steps):
            step()
            clock.mark()
        print(json.dumps(clock.times_ms()))

    def measure(self, steps: int) -> dict[str, float]:
        """Milliseconds of a step, by fix: the median of several means. What cannot take turns, as loaders that work
        ahead, is measured in a row."""
        means: dict[str, list[float]] = {fix or "faulty": [] for fix in (None, *self.fixes)}
        if self.in_turns:
            made = {fix: self.make(None if fix == "faulty" else fix) for fix in means}
            for step in made.values():
                mean_ms(step, 5)
            for _ in range(ROUNDS):
                for fix, step in made.items():
                    means[fix].append(mean_ms(step, max(3, steps // ROUNDS)))
        else:
            for fix, each in means.items():
                step = self.make(None if fix == "faulty" else fix)
                mean_ms(step, 20)
                each.append(mean_ms(step, steps))
        return {fix: statistics.median(each) for fix, each in means.items()}


class Clock:
    """When each step was done: on a GPU, that is when it has done all of it, however far the host is ahead."""

    def __init__(self) -> None:
        self.marks: list = []

    def mark(self) -> None:
        if DEVICE == "cpu":
            self.marks.append(time.perf_counter())
            return
        event = torch.cuda.Event(enable_timing=True)
        event.record()
        self.marks.append(event)

    def times_ms(self) -> list[float]:
        synchronize()
        if DEVICE == "cpu":
            return [1e3 * (mark - self.marks[0]) for mark in self.marks]
        return [self.marks[0].elapsed_time(mark) for mark in self.marks]


def synchronize() -> None:
    if DEVICE == "cuda":
        torch.cuda.synchronize()


def mean_ms(step: Step, steps: int) -> float:
    synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    synchronize()
    return 1e3 * (time.perf_counter() - began) / steps
