"""Programs that end because memory ran out: the recording says so, and with which words.

Whoever handled exceptions before still does, first and alone; nothing is printed here.
"""

from __future__ import annotations

import json
import sys
import threading
from typing import Any

from telltale import _recorder
from telltale._capture.source import Wanted

PAIR = "out_of_memory"
PEAK_PAIR = "peak_resident_bytes"
_MOST_CHARACTERS = 1000
# How torch's allocator of the host says it, on Linux and elsewhere.
_HOST_WORDS = ("not enough memory", "can't allocate memory")


def what_ran_out(error: BaseException | None) -> str:
    """"device", "host", or nothing where the error is another one.

    Imports nothing: the interpreter may be ending, and a program without torch has no such error.
    """
    places = (sys.modules.get("torch"), sys.modules.get("torch.cuda"))
    kinds = [getattr(place, "OutOfMemoryError", None) for place in places]
    if isinstance(error, tuple(kind for kind in kinds if isinstance(kind, type))):
        return "device"
    if isinstance(error, MemoryError):
        return "host"
    is_host = isinstance(error, RuntimeError) and any(words in str(error) for words in _HOST_WORDS)
    return "host" if is_host else ""


class OutOfMemoryWatch:
    """Stands behind the program's handlers of exceptions that nobody caught."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._is_started = self._tells_peak = False
        self._of_process: tuple[Any, Any] | None = None  # what stood there before, and what stands there now
        self._of_threads: tuple[Any, Any] | None = None

    def start(self, wanted: Wanted) -> None:
        if wanted.as_profiler or self._is_started:
            return
        self._is_started, self._tells_peak = True, wanted.memory
        before, threads_before = sys.excepthook, threading.excepthook

        def handle(kind: Any, error: Any, trace: Any) -> None:
            before(kind, error, trace)
            _note(error)

        def handle_in_thread(arguments: Any) -> None:
            threads_before(arguments)
            _note(arguments.exc_value)

        self._of_process, self._of_threads = (before, handle), (threads_before, handle_in_thread)
        sys.excepthook, threading.excepthook = handle, handle_in_thread

    def stop(self) -> None:
        if not self._is_started:
            return
        self._is_started = False
        if self._of_process is not None and sys.excepthook is self._of_process[1]:
            sys.excepthook = self._of_process[0]
        if self._of_threads is not None and threading.excepthook is self._of_threads[1]:
            threading.excepthook = self._of_threads[0]
        self._of_process = self._of_threads = None
        if self._tells_peak:
            _tell_peak()


def _note(error: BaseException | None) -> None:
    try:
        if where := what_ran_out(error):
            words = str(error)[:_MOST_CHARACTERS]
            _recorder.metadata(PAIR, json.dumps({"where": where, "error": type(error).__name__, "message": words}))
    except Exception:  # nothing of ours may disturb the program's last words
        pass


def _tell_peak() -> None:
    """The most memory that the process ever had."""
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as file:
            for line in file:
                if line.startswith("VmHWM:"):
                    _recorder.metadata(PEAK_PAIR, str(int(line.split()[1]) * 1024))
    except (OSError, ValueError, IndexError):
        pass
