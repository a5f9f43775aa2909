"""What CUPTI itself adds to a launch, without any recorder: the floor under which no recorder of kernels gets.

    python bench/gpu/cupti_floor.py

Each variant enables what its name says in CUPTI, through ctypes; buffers are thrown away unread, and the callback does
nothing. Blocks without and with it alternate, and cuptiFinalize() ends each, which gives the process its speed back.
"""

import ctypes
import statistics
import sys
import time
from collections.abc import Callable

import torch

BUFFER_BYTES = 4 << 20
BUFFERS = 64
TURNS = 12
CALLS = 1000

KERNELS, COPIES, MEMSETS, SYNCS = 10, 1, 2, 38  # CUPTI_ACTIVITY_KIND_…
ZEROED_BUFFERS, PINNED, PER_THREAD_BUFFERS = 5, 8, 9  # CUPTI_ACTIVITY_ATTR_…
DRIVER = 1  # CUPTI_CB_DOMAIN_DRIVER_API
LAUNCHES = (307, 652)  # cuLaunchKernel, cuLaunchKernelEx

REQUESTED = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                             ctypes.POINTER(ctypes.c_size_t))
COMPLETED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class Cupti:
    def __init__(self) -> None:
        name = f"libcupti.so.{torch.version.cuda.split('.')[0]}"
        self.library = ctypes.CDLL(name)
        self.buffers = [ctypes.create_string_buffer(BUFFER_BYTES) for _ in range(BUFFERS)]
        self.next = 0
        self.requested, self.completed = REQUESTED(self.on_requested), COMPLETED(lambda *_: None)

    def on_requested(self, buffer, size, most_records) -> None:
        buffer[0] = ctypes.addressof(self.buffers[self.next % BUFFERS])
        size[0], most_records[0] = BUFFER_BYTES, 0
        self.next += 1

    def call(self, name: str, *arguments) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"{name} returned {status}")

    def set_byte(self, attribute: int) -> None:
        size, value = ctypes.c_size_t(1), ctypes.c_uint8(1)
        self.call("cuptiActivitySetAttribute", attribute, ctypes.byref(size), ctypes.byref(value))

    def begin(self, kinds=(), attributes=(), callbacks=()) -> None:
        for attribute in attributes:
            self.set_byte(attribute)
        if callbacks:
            # Any function does: it takes its arguments in registers and looks at none.
            nothing = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p)
            self.subscriber = ctypes.c_void_p()
            self.call("cuptiSubscribe", ctypes.byref(self.subscriber), nothing, None)
            for number in callbacks:
                self.call("cuptiEnableCallback", 1, self.subscriber, DRIVER, number)
        if kinds:
            self.call("cuptiActivityRegisterCallbacks", self.requested, self.completed)
            for kind in kinds:
                self.call("cuptiActivityEnable", kind)

    def end(self) -> None:
        torch.cuda.synchronize()
        self.call("cuptiActivityFlushAll", 1)
        self.call("cuptiFinalize")


VARIANTS: dict[str, dict] = {
    "kernels": {"kinds": (KERNELS,)},
    "kernels, zeroed buffers": {"kinds": (KERNELS,), "attributes": (ZEROED_BUFFERS,)},
    "kernels, pinned": {"kinds": (KERNELS,), "attributes": (PINNED,)},
    "kernels, buffers by thread": {"kinds": (KERNELS,), "attributes": (PER_THREAD_BUFFERS,)},
    "launch callbacks": {"callbacks": LAUNCHES},
    "kernels, callbacks": {"kinds": (KERNELS,), "callbacks": LAUNCHES},
    "all device work, callbacks": {"kinds": (KERNELS, COPIES, MEMSETS, SYNCS), "callbacks": LAUNCHES},
}


def nanoseconds(loop: Callable[[], None]) -> float:
    """Of a call: the least of some stretches, the first of which warms up."""
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        loop()
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - began) / CALLS)
    return min(times[1:])


def main() -> None:
    x = torch.ones(64, device="cuda")

    def loop() -> None:
        for _ in range(CALLS):
            x.add(1)

    cupti = Cupti()
    added: dict[str, list[float]] = {name: [] for name in VARIANTS}
    plain = [nanoseconds(loop)]
    for _ in range(TURNS):
        for name, wanted in VARIANTS.items():
            cupti.begin(**wanted)
            with_it = nanoseconds(loop)
            cupti.end()
            plain.append(nanoseconds(loop))
            added[name].append(with_it - (plain[-2] + plain[-1]) / 2)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'an operator takes':28}      {statistics.median(plain):6.0f} ns")
    for name, each in added.items():
        low, middle, high = statistics.quantiles(each, n=4)
        print(f"{name:28} adds {middle:6.0f} ns ({low:.0f} to {high:.0f})")


if __name__ == "__main__":
    main()
