"""Which tensors the program's modules and optimizers hold, as records: a source of a recording of memory."""

from __future__ import annotations

from typing import Any

from telltale._capture.source import Wanted


class TensorWatch:
    """torch's profile, in whose place another recording stands, has notes of its own."""

    stops_for_pauses = True  # what is noted is noted again in each recorded window

    def __init__(self) -> None:
        self._notes: Any = None

    def start(self, wanted: Wanted) -> None:
        if not wanted.memory or wanted.as_profiler or self._notes is not None:
            return
        from telltale._capture.tensor_notes import TensorNotes

        self._notes = TensorNotes()
        self._notes.start(with_hooks=True)

    def stop(self) -> None:
        if self._notes is not None:
            self._notes.stop()
            self._notes = None
