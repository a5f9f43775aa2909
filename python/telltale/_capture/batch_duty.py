"""Which batches of a loader's worker are recorded in full: few, where that makes them slower.

Samples go on in all of them, and tell which lines are slow; the diagnosis needs no more of a worker.
"""

from __future__ import annotations

from collections import deque
from statistics import median

_RECENT = 8  # batches of each kind that count
_DEAR = 1.05  # times the processor time
_EVERY, _LEFT_OUT = 16, (2, 3)  # of so many batches these are left out, so that it is known what they take
_EVERY_DEAR = 64  # one of so many is recorded where that is dear


class BatchDuty:
    """Batch by batch. Knows no clock."""

    def __init__(self) -> None:
        self._batch = 0
        self._with: deque[int] = deque(maxlen=_RECENT)
        self._without: deque[int] = deque(maxlen=_RECENT)
        self.is_recorded = True  # the batch at hand

    def end_batch(self, processor_ns: int) -> bool:
        """It kept a processor busy for so long. Whether the next one is to be recorded in full."""
        if self._batch > 0:  # in the first one a worker loads what it needs
            (self._with if self.is_recorded else self._without).append(processor_ns)
        self._batch += 1
        if self._is_dear():
            self.is_recorded = self._batch % _EVERY_DEAR == 0
        else:
            self.is_recorded = self._batch % _EVERY not in _LEFT_OUT
        return self.is_recorded

    def _is_dear(self) -> bool:
        return bool(self._with and self._without) and median(self._with) > _DEAR * median(self._without)
