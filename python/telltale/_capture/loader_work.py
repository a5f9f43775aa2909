"""What making batches takes, and on which lines: the session's pairs `loader_work`, of batches that the process makes
itself, and `worker_lines`, of those that its worker processes make.

A worker leaves a summary for its parent in the folder for marks, about once a second and at its end; the parent gathers
those of its children before its recording ends. So the file of the parent tells of both, and docs/record.md how.

A worker has no steps, between which a recording pauses: its batches are recorded in full as batch_duty.py says.
"""

from __future__ import annotations

import functools
import glob
import json
import multiprocessing
import os
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from telltale import _recorder
from telltale._capture.batch_duty import BatchDuty
from telltale._capture.source import Wanted
from telltale._inject.telltale_attachment import WORKER, Attachment

OWN_PAIR = "loader_work"
WORKERS_PAIR = "worker_lines"
WORKER_PAIR = "loader_worker"
MOST_LINES = 20
_PERIOD_NS = 1_000_000_000
_PAIR_BYTES = 3900  # a pair holds no more

Line = tuple[str, int, str, str]  # file, line, function, what it waits for
# What a worker waits for between two batches, in the code that runs it.
_IDLE_WAITS = frozenset({"poll", "pipe", "lock", "other"})


def _frames_outside() -> frozenset[tuple[str, int]]:
    """The lines below the worker's own loop: those of the program that forked it."""
    frame = sys._getframe(1)
    while frame is not None and frame.f_code.co_name != "_worker_loop":
        frame = frame.f_back  # type: ignore[assignment]
    found = set()
    while frame is not None:
        found.add((frame.f_code.co_filename, frame.f_lineno))
        frame = frame.f_back  # type: ignore[assignment]
    return frozenset(found)


def busy_lines(
    samples: Iterable[tuple[str, int, str, str, int]], outside: frozenset[tuple[str, int]]
) -> Counter[Line]:
    """How many samples saw each line make batches.

    A sample on a line outside of the worker's loop saw no line of the program's within it: the worker was idle, or in
    a library, which is told of as a line of no file.
    """
    found: Counter[Line] = Counter()
    for file, line, function, waits_for, count in samples:
        is_outside = not file or any(line == at and path.endswith(file) for path, at in outside)
        if not is_outside:
            found[file, line, function, waits_for] += count
        elif waits_for not in _IDLE_WAITS:
            found["", 0, "", waits_for] += count
    return found


class Work:
    """Batches made in one process."""

    def __init__(self, outside: frozenset[tuple[str, int]] = frozenset()) -> None:
        self.pid = os.getpid()
        self.batches = self.took_ns = self.processor_ns = 0
        self.told_ns = time.perf_counter_ns()
        self.duty = BatchDuty()
        self._outside = outside

    def add(self, took_ns: int, processor_ns: int) -> None:
        self.batches += 1
        self.took_ns += took_ns
        self.processor_ns += processor_ns

    def told(self) -> dict[str, Any]:
        return {"batches": self.batches, "took_ns": self.took_ns, "processor_ns": self.processor_ns}

    def summary(self, worker: int) -> str:
        """For the parent of a worker."""
        parent = multiprocessing.parent_process()
        lines = busy_lines(_recorder.sampled_lines(), self._outside)
        total = max(1, lines.total())
        shares = [[*line, count / total] for line, count in lines.most_common(MOST_LINES)]
        return json.dumps({"parent": parent.pid if parent else 0, "worker": worker, **self.told(), "lines": shares})


def gathered(summaries: Iterable[dict[str, Any]]) -> dict[str, Any]:
    """One summary of several; a worker's lines count as much as the time that it was busy."""
    found: dict[str, Any] = {"workers": 0, "batches": 0, "took_ns": 0, "processor_ns": 0}
    time_of: Counter[Line] = Counter()
    time_with_lines = 0  # not all workers are recorded
    for summary in summaries:
        found["workers"] += 1
        for name in ("batches", "took_ns", "processor_ns"):
            found[name] += summary[name]
        if summary["lines"]:
            time_with_lines += summary["took_ns"]
        for *line, share in summary["lines"]:
            time_of[tuple(line)] += share * summary["took_ns"]
    total = max(1, time_with_lines)
    found["lines"] = [[*line, round(spent / total, 4)] for line, spent in time_of.most_common(MOST_LINES)]
    while len(json.dumps(found)) > _PAIR_BYTES and found["lines"]:
        found["lines"].pop()
    return found


class LoaderWorkWatch:
    """Times the making of batches while it is started."""

    stops_for_pauses = False

    def __init__(self) -> None:
        # Leaves what is dear out of a worker's recording for a while, or takes it in again; where that may be done.
        self.toggle: Callable[[bool], None] | None = None
        self._attachment = Attachment({})
        self._fetches: list[tuple[Any, Any]] = []
        self._work: Work | None = None

    def start(self, wanted: Wanted) -> None:
        if self._fetches:
            return
        from torch.utils.data._utils import fetch

        self._attachment = Attachment({"marks": wanted.marks})
        for name in ("_MapDatasetFetcher", "_IterableDatasetFetcher"):
            fetcher = getattr(fetch, name, None)
            if fetcher is not None and "fetch" in vars(fetcher):
                self._fetches.append((fetcher, fetcher.fetch))
                fetcher.fetch = self._timed(fetcher.fetch)

    def stop(self) -> None:
        for fetcher, fetch in self._fetches:
            fetcher.fetch = fetch
        was_started, self._fetches = bool(self._fetches), []
        if not was_started:
            return
        if self._work is not None and self._work.pid == os.getpid():
            if self._worker() is not None:
                self._leave_summary(self._work)
                return
            _recorder.metadata(OWN_PAIR, json.dumps(self._work.told()))
        summaries = list(self._summaries_of_children())
        if summaries:
            _recorder.metadata(WORKERS_PAIR, json.dumps(gathered(summaries), separators=(",", ":")))

    def _timed(self, fetch: Any) -> Any:
        @functools.wraps(fetch)
        def timed(fetcher: Any, index: Any) -> Any:
            began, ran = time.perf_counter_ns(), time.thread_time_ns()
            try:
                return fetch(fetcher, index)
            finally:
                self._note(time.perf_counter_ns() - began, time.thread_time_ns() - ran)

        return timed

    @staticmethod
    def _worker() -> int | None:
        """Which of a loader's workers this process is, if it is one."""
        from torch.utils.data import get_worker_info

        about = get_worker_info()
        return None if about is None else int(about.id)

    def _note(self, took_ns: int, processor_ns: int) -> None:
        try:
            work = self._work
            if work is None or work.pid != os.getpid():  # or it is the parent's, before the fork
                worker = self._worker()
                work = self._work = Work(frozenset() if worker is None else _frames_outside())
                if worker is not None:
                    _recorder.metadata(WORKER_PAIR, str(worker))
            work.add(took_ns, processor_ns)
            self._prepare_next_batch(work, processor_ns)
            now = time.perf_counter_ns()
            if now - work.told_ns >= _PERIOD_NS:
                work.told_ns = now
                self._leave_summary(work)
        except Exception:  # nothing of ours may break the user's program
            pass

    def _prepare_next_batch(self, work: Work, processor_ns: int) -> None:
        if self.toggle is None or self._worker() is None or not _recorder.is_recording():
            return
        was_recorded = work.duty.is_recorded
        if work.duty.end_batch(processor_ns) != was_recorded:
            self.toggle(not was_recorded)

    def _leave_summary(self, work: Work) -> None:
        worker = self._worker()
        if worker is not None:
            self._attachment.write_mark(WORKER, work.summary(worker))

    def _summaries_of_children(self) -> Iterable[dict[str, Any]]:
        if not self._attachment.marks:
            return
        for path in glob.glob(os.path.join(glob.escape(self._attachment.marks), f"{WORKER}_*")):
            try:
                with open(path, encoding="utf-8") as file:
                    summary = json.load(file)
            except (OSError, ValueError):
                continue
            if summary["parent"] == os.getpid():
                yield summary
