"""When the program uses torch's own profiler, which gets along with no other user of CUPTI."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class TorchProfilerWatch:
    """Acts before torch's profiler prepares to record, and after it has stopped."""

    def __init__(self, before: Callable[[], None], after: Callable[[], None]) -> None:
        self._before = before
        self._after = after
        self._is_at_work = False
        self._originals: dict[str, Any] = {}
        self._ours: dict[str, Any] = {}

    def begin(self) -> None:
        """May be called again."""
        if self._originals:
            return
        from torch.autograd import profiler

        # Everything goes through these two. What only marks NVTX ranges does without the first.
        for name, surrounded in (("_prepare_profiler", self._preparing), ("_disable_profiler", self._disabling)):
            original = getattr(profiler, name, None)
            if original is not None:
                self._originals[name] = original
                self._ours[name] = surrounded(original)
                setattr(profiler, name, self._ours[name])

    def end(self) -> None:
        from torch.autograd import profiler

        for name, original in self._originals.items():
            if getattr(profiler, name) is self._ours[name]:  # else somebody came after us, and calls us on
                setattr(profiler, name, original)
        self._originals, self._ours = {}, {}

    def _preparing(self, original: Any) -> Any:
        @functools.wraps(original)
        def prepare(*arguments: Any, **named: Any) -> Any:
            if not self._is_at_work:
                self._is_at_work = True
                self._before()
            return original(*arguments, **named)

        return prepare

    def _disabling(self, original: Any) -> Any:
        @functools.wraps(original)
        def disable(*arguments: Any, **named: Any) -> Any:
            try:
                return original(*arguments, **named)
            finally:
                if self._is_at_work:
                    self._is_at_work = False
                    self._after()

        return disable
