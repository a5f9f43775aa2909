"""What GPUs do, by CUPTI: a source of a recording.

CUDA is the program's to initialize: a process that forks before it does can use it in its children, which it could not
any more if we had. So everything waits for the moment at which torch does so.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

from telltale import _recorder
from telltale._capture.cuda_begins import when_cuda_is_there
from telltale._capture.device_marks import DeviceMarks
from telltale._capture.devices import Devices, DevicesUnavailable, has_gpu, load_devices
from telltale._capture.source import Wanted
from telltale._capture.torch_profiler import TorchProfilerWatch
from telltale._inject.telltale_say import say_once

_UNRECORDED_WAIT, _LAST_UNRECORDED_WAIT = "UnrecordedWait", "unrecorded_wait_ns"  # see src/trace/unrecorded_steps.h
_LONGEST_WAIT_NS = 5_000_000_000  # for what never ends
_BETWEEN_LOOKS_S = 0.0001


def can_have_gpu() -> bool:
    """Whether torch can use one here."""
    import torch

    return torch.version.cuda is not None and has_gpu()


class CudaWatch:
    """Kernels, copies and waits of GPUs, the calls of CUDA that ask for them, and what graphs are captured from.

    It may be stopped by one thread while another one starts it. Where torch's own profiler comes along, which needs
    CUPTI for itself, it steps aside. While the thread captures a graph, in which much is forbidden, all stays as it is
    until the next start or stop.
    """

    stops_for_pauses = True

    def __init__(self) -> None:
        self._aim: Callable[[Devices], None] | None = None  # what is to be done once CUDA is there
        self._process = 0  # in which it was done
        self._is_aside = self._is_over = self._has_recorded = False
        self.has_one_file = False  # all that it records goes there, however often it is stopped meanwhile
        self._why_not = ""
        self._marks = DeviceMarks()  # of the pause that is under way
        self._torchs = TorchProfilerWatch(self._step_aside, self._come_back)

    def start(self, wanted: Wanted) -> None:
        """Takes some 10 ms, and may be called before anything is recorded, to have that done."""
        calls, stacks = wanted.cuda_calls, _stack_source(wanted)

        def record(devices: Devices) -> None:
            devices.start_cuda(calls, stacks, continues=self._has_recorded and self.has_one_file)
            self._has_recorded = True

        self._turn_to(wanted, record)

    def watch_graphs(self, wanted: Wanted) -> None:
        """Until the next start: graphs may be captured where nothing is recorded, and replayed where something is."""
        stacks = _stack_source(wanted)
        if self._aim is None:
            self._turn_to(wanted, lambda devices: devices.watch_graphs(stacks))

    def stop(self) -> None:
        """What the GPU has been asked for until now is recorded when it returns."""
        if self._process == os.getpid() and _is_capturing() and not self._is_over:
            return
        self._aim = None
        self._detach()

    def begin_pause(self) -> None:
        self._marks.clear()

    def mark_paused_step(self, wanted: Wanted) -> None:
        import torch

        if wanted.cuda and not self._why_not and torch.cuda.is_initialized() and not _is_capturing():
            self._marks.mark()

    def await_device(self, wanted: Wanted, is_end: bool = False) -> None:
        """Behind a pause, or where one ends the recording: what the GPU still has to do belongs to the steps that were
        not recorded, and is noted. At the end the program itself may have waited for it, behind its last step."""
        import torch

        if not wanted.cuda or self._why_not or not torch.cuda.is_initialized() or _is_capturing():
            return
        began = time.perf_counter_ns()
        _recorder.begin_scope(_UNRECORDED_WAIT)
        try:
            stream = torch.cuda.current_stream()
            while not stream.query() and time.perf_counter_ns() - began < _LONGEST_WAIT_NS:
                time.sleep(_BETWEEN_LOOKS_S)
        except RuntimeError:  # an error of the program's own, which it will see by itself
            return
        finally:
            _recorder.end_scope()
        if is_end:
            waited = time.perf_counter_ns() - began
            _recorder.metadata(_LAST_UNRECORDED_WAIT, str(max(waited, self._marks.behind_ns())))

    def end(self) -> None:
        """It does not start again."""
        self._is_over = True
        self.stop()
        self._torchs.end()

    def why_not(self) -> str:
        """Why the GPU is not recorded, if that has turned out."""
        return self._why_not

    def _turn_to(self, wanted: Wanted, aim: Callable[[Devices], None]) -> None:
        if not wanted.cuda or self._is_over or not can_have_gpu():
            return
        self._aim = aim
        self._torchs.begin()
        when_cuda_is_there("the GPU", self._attach)

    def _attach(self, what_if_not: str = "the GPU is not recorded") -> None:
        aim = self._aim
        if aim is None or self._is_aside or self._why_not or _is_capturing():
            return
        try:
            aim(load_devices())
            self._process = os.getpid()
            if self._aim is None or self._is_over:  # another thread stops it meanwhile
                self._detach()
        except DevicesUnavailable as reason:
            self._why_not = str(reason)
            say_once(f"{what_if_not}: {reason}")

    def _detach(self) -> None:
        if self._process != os.getpid():  # not in a forked child, which has nothing of it
            return
        self._process = 0
        try:
            if said := load_devices().stop_cuda():
                say_once(f"when the recording of the GPU stopped: {said}")
        except DevicesUnavailable as reason:
            say_once(f"what the GPU did last may be missing: {reason}")

    def _step_aside(self) -> None:
        self._is_aside = True
        if self._process == os.getpid():
            say_once("PyTorch's profiler was started by the program; the GPU is not recorded here until it has stopped")
        self._detach()

    def _come_back(self) -> None:
        self._is_aside = False
        import torch

        if torch.cuda.is_initialized():
            self._attach("the GPU is recorded no more, since PyTorch's profiler has stopped but not let go of it")


def _is_capturing() -> bool:
    import torch

    return torch.cuda.is_initialized() and torch.cuda.is_current_stream_capturing()


def _stack_source(wanted: Wanted) -> int:
    """0 where nobody can tell stacks, as for operators."""
    sees_stacks = wanted.samples or (wanted.stacks and _recorder.can_read_stacks())
    return _recorder.stack_source_without_gil() if sees_stacks else 0
