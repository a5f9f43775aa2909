"""What the machine's gauges show: utilization, clocks, power and energy of GPUs, and the energy of processors."""

from __future__ import annotations

import contextlib
import os

from telltale._capture.cuda import can_have_gpu
from telltale._capture.cuda_begins import when_cuda_is_there
from telltale._capture.devices import DevicesUnavailable, load_devices
from telltale._capture.source import Wanted


class GaugeWatch:
    """Reads them ten times a second on a thread of its own. A machine without gauges is none to speak of.

    Which GPUs the program has, and by which numbers, is settled when CUDA is initialized: until then it may still set
    CUDA_VISIBLE_DEVICES. Where torch cannot use CUDA, somebody else may.
    """

    stops_for_pauses = False

    def __init__(self) -> None:
        self._process = 0  # in which they are wanted

    def start(self, wanted: Wanted) -> None:
        if not wanted.load or self._process == os.getpid():
            return
        self._process = os.getpid()
        waits_for_cuda = can_have_gpu()
        self._read(of_gpus=not waits_for_cuda)
        if waits_for_cuda:
            when_cuda_is_there("the power of the GPU", lambda: self._read(of_gpus=True))

    def stop(self) -> None:
        if self._process != os.getpid():
            return
        self._process = 0
        with contextlib.suppress(DevicesUnavailable):
            load_devices().stop_gauges()

    def _read(self, *, of_gpus: bool) -> None:
        if self._process != os.getpid():
            return
        with contextlib.suppress(DevicesUnavailable):
            load_devices().start_gauges(of_gpus=of_gpus)
