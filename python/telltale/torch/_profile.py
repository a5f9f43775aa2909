"""``profile``: torch's, with our recorder inside."""

from __future__ import annotations

import gzip
import inspect
import json
import os
import shutil
import socket
from typing import Any

import torch
import torch.profiler
from torch.profiler import ProfilerAction, ProfilerActivity

import telltale
from telltale import _recorder
from telltale._capture.adapter import AdapterUnavailable, load_adapter
from telltale._inject.telltale_say import say_once
from telltale.torch import _memory_timeline
from telltale.torch._configuration import asks_for
from telltale.torch._cycle import Cycle, RecordedProfile
from telltale.torch._files import RecordingFiles, save_recording
from telltale.torch._reader import core
from telltale.torch._step_times import StepTimes

_SCHEMA_VERSION = 1  # of Kineto's JSON
_UNRECORDED_STEPS = "unrecorded_steps"
# Values of recordings are kept for ever: after so many cycles what is known of steps stays as it is.
_MOST_TOLD = 16


class _Recorded(torch.profiler._KinetoProfile):
    """What is ours: torch's class decides when to record, this one how, and what comes of it.

    Where our recorder does not work, everything is left to torch's own.
    """

    def __init__(self, *, memory_limit: int = 0, keep_all_cycles: bool = False, **arguments: Any) -> None:
        if memory_limit < 0:
            raise ValueError(f"memory_limit is a number of bytes, or 0 for the default; got {memory_limit}")
        self._memory_limit = memory_limit
        self._keep_all_cycles = keep_all_cycles
        self._kept: list[Cycle] = []
        self._files: RecordingFiles | None = None
        self._user_metadata: dict[str, str] = {}
        self._json_is_of: Any = None
        self._step_times = StepTimes()
        self._told = 0
        super().__init__(**arguments)
        self._is_ours = self._can_record()

    profiler: Any
    _has_told = False  # any profile, of any steps: the next one must take that back

    def _can_record(self) -> bool:
        if ProfilerActivity.CPU not in self.activities:
            return self._leave_to_torch("only a device is to be recorded")
        if getattr(self, "activity_filters", None):
            return self._leave_to_torch("activities are chosen by name")
        try:
            load_adapter()
        except AdapterUnavailable as reason:
            return self._leave_to_torch(str(reason))
        return True

    def _leave_to_torch(self, reason: str) -> bool:
        say_once(f"torch.profiler records instead of Telltale: {reason}")
        return False

    # ---- When torch's class decides to record ----

    def prepare_trace(self) -> None:
        if self._is_ours and self.profiler is None and _recorder.is_recording():
            self._is_ours = self._leave_to_torch("another recording of this process is going on")
            load_adapter().let_torch_record()
        if not self._is_ours:
            return super().prepare_trace()
        is_first = self.profiler is None
        accumulates = getattr(self, "acc_events", False)
        if self.profiler is not None and not accumulates:
            self._let_go_of_last_cycle()
        if self.profiler is None or not accumulates:
            self._files = self._files or RecordingFiles(self)
            self.profiler = RecordedProfile(
                self._files,
                self._memory_limit,
                use_cpu=True,
                use_device=self.use_device or ("cuda" if ProfilerActivity.CUDA in self.activities else None),
                record_shapes=self.record_shapes,
                with_flops=self.with_flops,
                profile_memory=self.profile_memory,
                with_stack=self.with_stack,
                with_modules=self.with_modules,
                use_kineto=True,
                experimental_config=self.experimental_config,
                acc_events=accumulates,
                custom_trace_id_callback=getattr(self, "custom_trace_id_callback", None),
                post_processing_timeout_s=getattr(self, "post_processing_timeout_s", None),
            )
        self.profiler._prepare_trace()
        if is_first and self.profiler.has_lost_gpu():
            self._is_ours = self._leave_to_torch("it can record the GPU")
            self.profiler = None
            return super().prepare_trace()
        return None

    def start_trace(self) -> None:
        """Tells the recording what steps took that were left alone before it."""
        self._tell_of_steps()
        super().start_trace()
        if not self._is_ours and self._step_times.text() != "[]":
            super().add_metadata_json(_UNRECORDED_STEPS, self._step_times.text())

    def _tell_of_steps(self) -> None:
        told = self._step_times.text()
        if not self._is_ours or self._told >= _MOST_TOLD or (told == "[]" and not _Recorded._has_told):
            return
        self._told += 1
        _Recorded._has_told = True
        _recorder.metadata(_UNRECORDED_STEPS, told)

    def _let_go_of_last_cycle(self) -> None:
        if self._keep_all_cycles:
            self._kept += self.profiler.cycles
            return
        warn_once = getattr(torch.profiler.profiler, "_warn_once", None)
        if warn_once is not None:
            warn_once("A new cycle discards the events of the last one; acc_events or keep_all_cycles keeps them.")
        if self._files is not None:
            for cycle in self.profiler.cycles:
                self._files.forget(cycle.path)

    # ---- Values for the trace ----

    def add_metadata(self, key: str, value: str) -> None:
        """A text that exported traces carry."""
        if not self._is_ours:
            return super().add_metadata(key, value)
        self._user_metadata[key] = json.dumps(value)
        return None

    def add_metadata_json(self, key: str, value: str) -> None:
        """A value, written as JSON, that exported traces carry."""
        if not self._is_ours:
            return super().add_metadata_json(key, value)
        self._user_metadata[key] = value
        return None

    # ---- Results ----

    @property
    def cycles(self) -> list[str]:
        """The recordings there are: that of the last cycle, or of all with ``keep_all_cycles`` or ``acc_events``."""
        if not self._is_ours or self.profiler is None:
            return []
        return [cycle.path for cycle in (*self._kept, *self.profiler.cycles)]

    def save(self, path: str | os.PathLike[str], cycle: int = -1) -> None:
        """Keeps a cycle's recording as a ``.tell`` file, for ``telltale.load`` and the command."""
        if not self._is_ours:
            raise telltale.TelltaleError("torch.profiler recorded this; use export_chrome_trace, which Telltale reads")
        save_recording(self._path(cycle), path)

    def load(self, cycle: int = -1) -> telltale.Trace:
        """A cycle's recording, to be asked anything that Telltale answers."""
        return telltale.load(self._path(cycle) if self._is_ours else self._json_of_torch())

    def _json_of_torch(self) -> str:
        """What torch.profiler recorded in our place; it writes that only once."""
        files = self._files = self._files or RecordingFiles(self)
        if self._json_is_of is not self.profiler:
            super().export_chrome_trace(os.path.join(files.folder, "torch.json"))
            self._json_is_of = self.profiler
        return os.path.join(files.folder, "torch.json")

    def analyze(self, **choices: Any) -> Any:
        """Why it is slow and what each fix would buy: :meth:`telltale.Trace.analyze` of the last cycle."""
        return self.load().analyze(**choices)

    def export_chrome_trace(self, path: str, use_python_export: bool = False) -> None:
        """The last cycle as Kineto's JSON, compressed where the name ends with ``.gz``."""
        if not self._is_ours:
            return _copy(self._json_of_torch(), path)
        values = {
            "schemaVersion": str(_SCHEMA_VERSION),
            "host_name": json.dumps(socket.gethostname()),
            "trace_id": json.dumps(getattr(self.profiler, "trace_id", "")),
            "displayTimeUnit": '"ms"',
            "traceName": json.dumps(os.fspath(path)),
            **self._user_metadata,
        }
        chosen = [
            asks_for(self.experimental_config, option)
            for option in ("record_python_gc_info", "adjust_profiler_step")
        ]
        core().write_kineto(os.fsencode(self._path(-1)), os.fsencode(path), list(values.items()), *chosen)
        return None

    def export_memory_timeline(self, path: str, device: str | None = None) -> None:
        """Memory by category over time: ``.html``, ``.json``, ``.json.gz`` or single changes as ``raw.json.gz``."""
        if not self._is_ours:
            return super().export_memory_timeline(path, device)
        if not self.profile_memory:
            raise ValueError("no memory was recorded: use profile_memory=True")
        if device is None:
            device = "cuda:0" if torch.cuda.is_available() else "cpu"
        cycle = self._cycle(-1)
        _memory_timeline.export(cycle.trace, cycle.notes, path, torch.device(device))
        return None

    def _cycle(self, number: int) -> Cycle:
        if self.profiler is None:
            raise AssertionError("nothing has been recorded yet")
        cycles: list[Cycle] = [*self._kept, *self.profiler.finished_cycles()]
        try:
            return cycles[number]
        except IndexError:
            raise telltale.TelltaleError(f"no cycle {number}; finished so far: {len(cycles)}") from None

    def _path(self, number: int) -> str:
        return self._cycle(number).path


class _KinetoProfile(_Recorded):
    """As ``torch.profiler._KinetoProfile``: start and stop, without a schedule."""


class profile(_Recorded, torch.profiler.profile):
    """As ``torch.profiler.profile``, whose arguments it takes, with results that take no time and more of them.

    Besides torch's:

    memory_limit
        The bytes that recording may use; what does not fit is dropped and counted. 0: as much as is usual.
    keep_all_cycles
        Keeps the recording of every cycle of the schedule: ``p.cycles``, ``p.save(path, cycle)``, ``p.load(cycle)``.
    """

    def start(self) -> None:
        super().start()
        self._step_times.begin()

    def step(self) -> None:
        """Ends a step and begins the next one, as torch's does; steps that the schedule leaves alone are timed."""
        # In its warm-up torch's own profiler is at work already, and so is what records the GPU.
        is_quiet = self.current_action == ProfilerAction.NONE or (
            self.current_action == ProfilerAction.WARMUP and self._is_ours and self.profiler.use_device is None
        )
        self._step_times.end(self.step_num, is_quiet)
        super().step()
        self._step_times.begin()


def _signature_of(wrapped: Any) -> inspect.Signature:
    own = inspect.signature(_Recorded.__init__).parameters
    added = [own[name] for name in ("memory_limit", "keep_all_cycles")]
    torchs = inspect.signature(wrapped.__init__)
    return torchs.replace(
        parameters=[*list(torchs.parameters.values())[1:], *added], return_annotation=inspect.Signature.empty
    )


profile.__signature__ = _signature_of(torch.profiler.profile)  # type: ignore[attr-defined]


def _copy(source: str, target: str | os.PathLike[str]) -> None:
    is_compressed = os.fspath(target).endswith(".gz")
    with open(source, "rb") as read, (gzip.open if is_compressed else open)(target, "wb") as written:
        shutil.copyfileobj(read, written)
