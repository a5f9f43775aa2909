"""What the machine's gauges show: utilization, clocks, power and energy of GPUs, and the energy of processors."""

from __future__ import annotations

import os

from telltale._capture.devices import DevicesUnavailable, load_devices
from telltale._capture.source import Wanted


class GaugeWatch:
    """Reads them ten times a second on a thread of its own. A machine without gauges is none to speak of."""

    stops_for_pauses = False

    def __init__(self) -> None:
        self._process = 0  # in which they are read

    def start(self, wanted: Wanted) -> None:
        if not wanted.load or self._process == os.getpid():
            return
        try:
            load_devices().start_gauges()
            self._process = os.getpid()
        except DevicesUnavailable:
            return

    def stop(self) -> None:
        if self._process == os.getpid():
            self._process = 0
            load_devices().stop_gauges()
