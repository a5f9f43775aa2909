"""What threads do, by samples: stacks that cost little, and how busy the machine is."""

from __future__ import annotations

import os

from telltale import _recorder
from telltale._capture.code_paths import describe_code
from telltale._capture.source import Wanted

_PER_SECOND = 200.0

_is_registered = False


class SampleWatch:
    """Samples of what all Python threads do, and of the load of the machine."""

    stops_for_pauses = False  # it rests by itself while nothing is recorded

    def __init__(self) -> None:
        self._is_started = False

    def start(self, wanted: Wanted) -> None:
        global _is_registered
        if not wanted.load and not wanted.samples:
            return
        if wanted.samples:
            describe_code()
        if not _is_registered:
            os.register_at_fork(after_in_child=_recorder.restart_samples_after_fork)
            _is_registered = True
        _recorder.start_samples(_PER_SECOND, wanted.samples)
        self._is_started = True

    def stop(self) -> None:
        if self._is_started:
            _recorder.stop_samples()
            self._is_started = False
