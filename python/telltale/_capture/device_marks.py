"""How much longer a GPU takes for steps than the host does, by its own clock.

A host that is ahead of its GPU may wait for it only when all steps are over, and then for what belongs to them.
"""

from __future__ import annotations

import time
from typing import Any


class DeviceMarks:
    """Of steps on the current stream, one after the other; a mark costs about 3 µs."""

    def __init__(self) -> None:
        self._first: Any = None
        self._last: Any = None
        self._first_ns = self._last_ns = 0

    def clear(self) -> None:
        self._first = self._last = None

    def mark(self) -> None:
        import torch

        try:
            if self._first is None:
                self._first = self._recorded(torch.cuda.Event(enable_timing=True))
                self._first_ns = time.perf_counter_ns()
            else:
                self._last = self._recorded(self._last or torch.cuda.Event(enable_timing=True))
                self._last_ns = time.perf_counter_ns()
        except RuntimeError:  # an error of the program's own, which it will see by itself
            self.clear()

    def behind_ns(self) -> int:
        """From the first mark to the last, where the GPU has come to that; else 0."""
        if self._last is None:
            return 0
        try:
            if not self._last.query():
                return 0
            took_ns = int(1e6 * self._first.elapsed_time(self._last))
        except RuntimeError:
            return 0
        return max(0, took_ns - (self._last_ns - self._first_ns))

    @staticmethod
    def _recorded(event: Any) -> Any:
        event.record()
        return event
