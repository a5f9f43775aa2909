"""What steps take while a profile with a schedule leaves them alone, for the recordings of its cycles."""

from __future__ import annotations

import json
import time

_MOST = 64  # steps that are kept, the newest ones


class StepTimes:
    """From the end of one ``step()`` to the beginning of the next, so that starting and ending a cycle do not count."""

    def __init__(self) -> None:
        self._began = 0
        self._times: list[tuple[int, int]] = []

    def begin(self) -> None:
        self._began = time.perf_counter_ns()

    def end(self, number: int, is_unrecorded: bool) -> None:
        """``number``: of the step that ends, counted from the start of the profile."""
        if is_unrecorded and self._began > 0:
            self._times.append((number, time.perf_counter_ns() - self._began))
            del self._times[:-_MOST]

    def text(self) -> str:
        """As the value ``unrecorded_steps`` of a trace has it: stretches of consecutive steps."""
        stretches: list[dict[str, object]] = []
        took: list[int] = []
        last = -2
        for number, time_ns in self._times:
            if number != last + 1:
                took = []
                stretches.append({"when": "before", "first": number, "took_ns": took})
            took.append(time_ns)
            last = number
        return json.dumps(stretches, separators=(",", ":"))
