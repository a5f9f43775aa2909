"""The data loaders of the process: with what each was made, as the session's pair `loader_workers`, which processes
their workers are, as `loader_worker_ids`, and a scope for the time in which one makes an iterator and starts its
workers.

What the pair holds is told in docs/record.md. No loader is kept alive for it.

Workers that epoch after epoch starts anew would leave hundreds of files that tell the same, and each costs its start:
those of a loader's first iterators are recorded. The others still tell what their batches take.
"""

from __future__ import annotations

import functools
import json
import sys
from collections import Counter
from types import FrameType
from typing import Any

from telltale import _recorder
from telltale._capture.code_paths import library_folders, own_folder, path_prefixes
from telltale._capture.compiling import is_compiling
from telltale._capture.source import Wanted

PAIR = "loader_workers"
IDS_PAIR = "loader_worker_ids"
SCOPE = "DataLoader.__iter__"
_RECORDED_ITERATORS = 2  # of each kind of loader
_MOST = 8  # kinds of loaders that are told of: a pair holds four kilobytes
_MOST_IDS = 400  # the newest, likewise


def _iterating_line(frame: FrameType | None) -> tuple[str, int, str]:
    """Where a loader is iterated: the innermost frame outside of installed packages and of Python's own."""
    others = ("<", own_folder(), *library_folders())
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(others):
            prefix = next((each for each in path_prefixes() if file.startswith(each)), "")
            return file[len(prefix) :], frame.f_lineno, frame.f_code.co_name
        frame = frame.f_back
    return "", 0, ""


def _described(loader: Any, frame: FrameType | None) -> str:
    context: Any = getattr(loader, "multiprocessing_context", None)
    workers = int(loader.num_workers)
    if context is None and workers > 0:
        import multiprocessing

        context = multiprocessing.get_context()
    batch_size = getattr(loader, "batch_size", None)
    file, line, function = _iterating_line(frame)
    told = {
        "workers": workers,
        "batch_size": batch_size if isinstance(batch_size, int) else None,
        "persistent_workers": bool(getattr(loader, "persistent_workers", False)),
        "prefetch_factor": getattr(loader, "prefetch_factor", None),
        "pin_memory": bool(getattr(loader, "pin_memory", False)),
        "start_method": context.get_start_method() if workers > 0 else None,
        "dataset": type(loader.dataset).__name__,
        "file": file[-200:],
        "line": line,
        "function": function[:100],
    }
    return json.dumps(told, separators=(",", ":"))


def _unrecorded(make: Any, loader: Any) -> Any:
    """Makes an iterator whose workers write no files."""
    before = _recorder.set_own_file_after_fork(False)
    try:
        return make(loader)
    finally:
        _recorder.set_own_file_after_fork(before)


class LoaderWatch:
    """Stands around the making of iterators while it is started."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._iterators: Counter[str] = Counter()  # by what their loader was made with
        self._ids: list[int] = []  # of workers' processes
        self._make: Any = None

    def start(self, wanted: Wanted) -> None:
        from torch.utils.data import DataLoader

        make = getattr(DataLoader, "_get_iterator", None)
        if make is None or self._make is not None:
            return

        @functools.wraps(make)
        def noting(loader: Any) -> Any:
            if is_compiling():
                return make(loader)
            number = self._note(loader, sys._getframe(1))
            if not (loader.num_workers and wanted.find_steps):  # torch's own profiler has no such scope
                return make(loader)
            _recorder.begin_scope(SCOPE)
            try:
                iterator = make(loader) if number <= _RECORDED_ITERATORS else _unrecorded(make, loader)
                self._note_workers(iterator)
                return iterator
            finally:
                _recorder.end_scope()

        self._make = make
        DataLoader._get_iterator = noting  # type: ignore[method-assign,assignment]

    def stop(self) -> None:
        if self._make is None:
            return
        from torch.utils.data import DataLoader

        DataLoader._get_iterator = self._make  # type: ignore[method-assign]
        self._make = None
        self._tell()

    def _note(self, loader: Any, frame: FrameType | None) -> int:
        """How many iterators loaders like this one have made with this one."""
        try:
            told = _described(loader, frame)
            self._iterators[told] += 1
            if self._iterators[told] == 1:
                self._tell()
            return self._iterators[told]
        except Exception:  # nothing of ours may break the user's program
            return 0

    def _note_workers(self, iterator: Any) -> None:
        try:
            ids = [worker.pid for worker in getattr(iterator, "_workers", ())]
            if ids and ids != self._ids[-len(ids) :]:
                self._ids = [*self._ids, *ids][-_MOST_IDS:]
                _recorder.metadata(IDS_PAIR, json.dumps(self._ids, separators=(",", ":")))
        except Exception:  # as above
            pass

    def _tell(self) -> None:
        """As soon as a loader is known, and in the end once more with how many iterators each made."""
        if self._iterators:
            loaders = [{**json.loads(told), "iterators": count} for told, count in self._iterators.most_common(_MOST)]
            _recorder.metadata(PAIR, json.dumps(loaders, separators=(",", ":")))
