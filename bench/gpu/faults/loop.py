"""The loop around a planted program: its steps, with the fault or with one of its fixes.

`make(fix)` returns the program's step: the faulty one for None, otherwise the one with that fix. The loop prints when
each step ended as its last line, in JSON: milliseconds from the end of the first.
"""

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass

import torch

DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
Step = Callable[[], None]


@dataclass(frozen=True)
class Program:
    make: Callable[[str | None], Step]
    fixes: tuple[str, ...]
    steps: int

    def run(self) -> None:
        parser = argparse.ArgumentParser()
        parser.add_argument("--fixed", choices=self.fixes, help="run it with this fix")
        parser.add_argument("--steps", type=int, default=self.steps)
        words = parser.parse_args()
        print(json.dumps(self.ends_ms(words.fixed, words.steps)))

    def ends_ms(self, fix: str | None, steps: int) -> list[float]:
        torch.manual_seed(0)
        step, clock = self.make(fix), Clock()
        for _ in range(steps):
            step()
            clock.mark()
        return clock.times_ms()


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
        if DEVICE == "cpu":
            return [1e3 * (mark - self.marks[0]) for mark in self.marks]
        torch.cuda.synchronize()
        return [self.marks[0].elapsed_time(mark) for mark in self.marks]
