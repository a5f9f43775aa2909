"""The library that records devices, loaded into this process: what include/telltale/devices.h offers."""

from __future__ import annotations

import ctypes
import functools
import os
from pathlib import Path

_LIBRARY = Path(os.path.abspath(__file__)).parent.parent / "lib" / "libtelltale_devices.so"
_DEVICE_FILES = ("/dev/nvidiactl", "/dev/dxg")  # of NVIDIA's driver, and of the one under Windows
_OK, _ALREADY_STARTED, _NOT_STARTED = 0, 2, 3  # telltale_status

CALLS = ("chosen", "as called", "all")  # of CUDA that are recorded, in the order of telltale_cuda_calls


class DevicesUnavailable(Exception):
    """Why devices cannot be recorded here, in a few words."""


class _CudaOptions(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("calls", ctypes.c_uint32),
        ("buffer_mib", ctypes.c_uint32),
        ("stacks", ctypes.c_void_p),
        ("continues", ctypes.c_uint32),
        ("reserved", ctypes.c_uint32),
    )


class _GaugeOptions(ctypes.Structure):
    _fields_ = (
        ("size", ctypes.c_size_t),
        ("hertz", ctypes.c_double),
        ("nvml", ctypes.c_uint32),
        ("rapl", ctypes.c_uint32),
    )


class Devices:
    """What starts raises DevicesUnavailable where it cannot; starting and stopping twice is as good as once.

    None of these needs the GIL, and other threads run meanwhile.
    """

    def __init__(self) -> None:
        import telltale._recorder  # noqa: F401  brings the recorder's library along, which this one shares

        try:
            self._library = ctypes.CDLL(str(_LIBRARY))
            self._error_text = self._library.telltale_devices_error_text
        except (OSError, AttributeError) as error:
            raise DevicesUnavailable(f"the library for devices does not load: {error}") from None
        self._error_text.restype = ctypes.c_char_p

    def check_cuda(self) -> None:
        """Raises where this library was built without what CUDA needs."""
        self.stop_cuda()

    def start_cuda(self, calls: str, stack_source: int, *, continues: bool) -> None:
        """`continues`: in the file in which it was stopped for a while."""
        options = self._cuda_options(calls, stack_source)
        options.continues = int(continues)
        self._do("telltale_cuda_start", ctypes.byref(options))

    def stop_cuda(self) -> str:
        """What should be known of it, if anything."""
        return self._do("telltale_cuda_stop")

    def watch_graphs(self, stack_source: int) -> None:
        """Notes what CUDA graphs are captured from, until ``start_cuda``."""
        self._do("telltale_cuda_watch_graphs", ctypes.byref(self._cuda_options("chosen", stack_source)))

    def start_gauges(self, *, of_gpus: bool) -> None:
        """With those of GPUs it may follow a start without them."""
        options = _GaugeOptions()
        self._library.telltale_default_gauge_options(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.nvml = int(of_gpus)
        self._do("telltale_gauges_start", ctypes.byref(options))

    def stop_gauges(self) -> None:
        self._do("telltale_gauges_stop")

    def stop_injected(self) -> None:
        """Ends what was begun here when CUDA was initialized before torch was imported, as by CuPy."""
        self._do("telltale_injected_stop")

    def _cuda_options(self, calls: str, stack_source: int) -> _CudaOptions:
        options = _CudaOptions()
        self._library.telltale_default_cuda_options(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))
        options.calls = CALLS.index(calls)
        options.stacks = stack_source or None
        return options

    def _do(self, function: str, *arguments: object) -> str:
        status = getattr(self._library, function)(*arguments)
        said = str(self._error_text().decode(errors="replace"))
        if status not in (_OK, _ALREADY_STARTED, _NOT_STARTED):
            raise DevicesUnavailable(said)
        return said if status == _OK else ""


@functools.cache
def load_devices() -> Devices:
    """The library of this process."""
    return Devices()


def has_gpu() -> bool:
    """Whether a GPU of NVIDIA's is there that CUDA_VISIBLE_DEVICES does not hide; CUDA itself is not asked."""
    if os.environ.get("CUDA_VISIBLE_DEVICES", "0").strip() in ("", "-1"):
        return False
    return any(map(os.path.exists, _DEVICE_FILES))
