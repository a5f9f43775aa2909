"""What stands behind a profile: the recordings of its cycles, and torch's own results made from them when asked for."""

from __future__ import annotations

import inspect
import os
import time
from collections.abc import Iterable
from typing import Any, Literal

import torch
import torch.autograd.profiler as autograd_profiler
from torch.profiler import ProfilerActivity

from telltale._capture import Recording, Wanted
from telltale._capture.tensor_notes import TensorNotes
from telltale.torch import _rows
from telltale.torch._configuration import asks_for
from telltale.torch._files import RecordingFiles
from telltale.torch._reader import core

_ACCEPTED = set(inspect.signature(autograd_profiler.profile.__init__).parameters)


class Cycle:
    """One recording, read when something is asked of it for the first time."""

    def __init__(self, path: str, notes: TensorNotes | None) -> None:
        self.path = path
        self.notes = notes
        self._trace: Any = None

    @property
    def trace(self) -> Any:
        if self._trace is None:
            self._trace = core().load(os.fsencode(self.path), 0)
        return self._trace


class RecordedProfile(autograd_profiler.profile):
    """Torch's autograd profile as ``torch.profiler.profile`` and its users look at it, with our recorder inside.

    Without ``acc_events`` it holds the last cycle, with it all of them.
    """

    def __init__(self, files: RecordingFiles, memory_limit: int, **arguments: Any) -> None:
        super().__init__(**{name: value for name, value in arguments.items() if name in _ACCEPTED})
        self._function_events: Any = None
        self._files = files
        self._memory_limit = memory_limit
        self._accumulates = bool(arguments.get("acc_events"))
        self._recording: Recording | None = None
        self.cycles: list[Cycle] = []

    # ---- Recording ----

    def _prepare_trace(self) -> None:
        self.entered = True
        began = time.perf_counter_ns()
        if hasattr(self, "create_trace_id"):
            self.trace_id = self.create_trace_id()  # type: ignore[no-untyped-call]
        wanted = Wanted(
            shapes=self.record_shapes,
            memory=self.profile_memory,
            stacks=self.with_stack,
            modules=self.with_modules or self.with_stack,
            as_profiler=True,
            overloads=self._configured("capture_overload_names"),
            cuda=self.use_device == "cuda",
            cuda_calls="as called",
        )
        self._recording = Recording(self._files.next_path(), wanted, memory_limit=self._memory_limit)
        self._recording.prepare()
        self._note("profiler_prepare_call_duration_us", began)

    def _start_trace(self) -> None:
        self.entered = True
        if self._recording is None:  # a schedule that goes from RECORD to WARMUP
            self._prepare_trace()
        assert self._recording is not None
        if not self._accumulates:
            self.cycles = []
        self._process = os.getpid()
        _set_profiler_enabled(True)
        began = time.perf_counter_ns()
        notes = TensorNotes(keeps_numbers=True) if self.profile_memory else None
        is_told_of_modules = notes is not None and self._recording.watch_outermost_modules(notes.on_outermost)
        try:
            self._recording.start()
        except Exception:
            _set_profiler_enabled(False)
            raise
        if notes is not None:
            notes.start(with_hooks=not is_told_of_modules)
        self.cycles.append(Cycle(self._recording.path, notes))
        self._note("profiler_enable_call_duration_us", began)
        self.profiling_start_time_ns = time.perf_counter_ns()

    def __exit__(self, *_exception: Any) -> Literal[False]:
        recording, self._recording = self._recording, None
        if recording is None:
            raise RuntimeError("the recording must be started before it is stopped")
        began = self.profiling_end_time_ns = time.perf_counter_ns()
        notes = self.cycles[-1].notes
        if notes is not None:
            notes.stop()
        self._wait_for_device()
        try:
            recording.stop()
        except RuntimeError:
            if os.getpid() == self._process:  # a child that was forked meanwhile has nothing to stop
                raise
        finally:
            _set_profiler_enabled(False)
        self._function_events = None
        self._note("profiler_disable_call_duration_us", began)
        stats = getattr(self, "_stats", None)
        if stats is not None:
            stats.profiling_window_duration_sec = (began - self.profiling_start_time_ns) / 1e9
        return False

    def _wait_for_device(self) -> None:
        """As torch does at this place, whose tables have the call."""
        wait = getattr(getattr(torch, self.use_device or "", None), "synchronize", None)
        if wait is not None:
            wait()

    def _note(self, what: str, since: int) -> None:
        stats = getattr(self, "_stats", None)
        if stats is not None:
            setattr(stats, what, max(1, (time.perf_counter_ns() - since) // 1000))

    def toggle_collection_dynamic(self, enabled: bool, activities: Iterable[ProfilerActivity]) -> None:
        if self._recording is None:
            return
        wanted = set(activities)
        if ProfilerActivity.CPU in wanted:
            self._recording.toggle_operators(enabled)
        if ProfilerActivity.CUDA in wanted:
            self._recording.toggle_gpu(enabled)

    def _configured(self, option: str) -> bool:
        return asks_for(self.experimental_config, option)

    def has_lost_gpu(self) -> bool:
        """Whether the GPU is to be recorded, and it has turned out that it cannot be; nothing is prepared then."""
        if self._recording is None or not self._recording.why_no_gpu():
            return False
        self._recording.give_up()
        self._recording = None
        return True

    # ---- Results ----

    def finished_cycles(self) -> list[Cycle]:
        if self._recording is not None and self.cycles and self.cycles[-1].path == self._recording.path:
            return self.cycles[:-1]
        return self.cycles

    def _refuse_if_only_traced(self) -> None:
        if self._configured("trace_only"):
            raise RuntimeError(
                "events() is not available when trace_only=True in ExperimentalConfig. "
                "Use export_chrome_trace() instead."
            )

    # Before 2.5 torch made the events at the end of a recording and held them under this name.
    @property
    def function_events(self) -> Any:
        self._ensure_function_events()
        return self._function_events

    @function_events.setter
    def function_events(self, events: Any) -> None:
        self._function_events = events

    def _check_finish(self) -> None:
        """Results are made when they are asked for."""
        self._ensure_function_events()

    def _ensure_function_events(self) -> None:
        self._refuse_if_only_traced()
        if self._function_events is not None:
            return
        self._needs_processing = False
        began = time.perf_counter_ns()
        listed = self._listed(began)
        self._note("parse_kineto_call_duration_us", began)
        began = time.perf_counter_ns()
        self._function_events = self._list(listed)
        self._note("function_events_build_tree_call_duration_us", began)
        stats = getattr(self, "_stats", None)
        if stats is not None:
            stats.number_of_events = len(listed)

    def _listed(self, began: int) -> list[Any]:
        """All events, the newest cycle first, as in torch; with a timeout, those of the cycles that were in time."""
        timeout = getattr(self, "post_processing_timeout_s", None)
        with_numbers = self._configured("expose_kineto_event_metadata")
        listed: list[Any] = []
        for cycle in reversed(self.finished_cycles()):
            if timeout is not None and time.perf_counter_ns() - began >= timeout * 1e9:
                autograd_profiler.log.warning(
                    "Making events timed out after %.3f seconds, returning partial results with %d events",
                    timeout,
                    len(listed),
                )
                break
            listed += _rows.events(cycle.trace, self.with_flops, with_numbers, self.use_device)
        return listed

    def key_averages(
        self, group_by_input_shape: bool = False, group_by_stack_n: int = 0, group_by_overload_name: bool = False
    ) -> Any:
        self._refuse_if_only_traced()
        if group_by_overload_name or (group_by_input_shape and group_by_stack_n > 0):  # rare: torch's own way
            asked = (group_by_input_shape, group_by_stack_n, group_by_overload_name)
            return self.function_events.key_averages(*asked[: 3 if group_by_overload_name else 2])
        rows = [
            _rows.key_averages(cycle.trace, group_by_input_shape, group_by_stack_n, self.with_flops, self.use_device)
            for cycle in self.finished_cycles()
        ]
        return self._list(_rows.merged(rows) if rows else [])

    @property
    def self_cpu_time_total(self) -> float:
        total: float = self.key_averages().self_cpu_time_total
        return total

    def _list(self, rows: list[Any]) -> Any:
        return _rows.event_list(rows, self.use_device, self.profile_memory, self.with_flops)


def _set_profiler_enabled(is_enabled: bool) -> None:
    """Torch's own Python code annotates what it does while this is set."""
    run = getattr(autograd_profiler, "_run_on_profiler_start" if is_enabled else "_run_on_profiler_stop", None)
    if run is not None:
        run()
    else:
        autograd_profiler._set_is_profiler_enabled(is_enabled)
