"""What CUPTI itself adds to a launch, without any recorder: the floor under which no recorder of kernels gets.

    python bench/gpu/cupti_floor.py [operator|decode] [--only NAME;NAME] [--turns N]

Each variant enables what its name says in CUPTI, through ctypes; buffers are thrown away unread, and the callback does
nothing. Blocks without and with it alternate, and cuptiFinalize() ends each, which gives the process its speed back.
Beforehand, each variant says which records it makes of a few launches.
"""

import argparse
import collections
import ctypes
import statistics
import sys
import time
from collections.abc import Callable, Iterable

import torch

BUFFER_BYTES = 4 << 20
BUFFERS = 64

KERNELS, COPIES, MEMSETS, SYNCS = 10, 1, 2, 38  # CUPTI_ACTIVITY_KIND_…
DRIVER_RECORDS, RUNTIME_RECORDS = 4, 5  # likewise
ZEROED_BUFFERS, PINNED, PER_THREAD_BUFFERS = 5, 8, 9  # CUPTI_ACTIVITY_ATTR_…
DRIVER, RUNTIME = 1, 2  # CUPTI_CB_DOMAIN_…_API
DRIVER_LAUNCHES = (307, 442, 652, 653)  # cuLaunchKernel, cuLaunchKernelEx, each also by threads' own streams
RUNTIME_LAUNCHES = (211, 214, 430, 431, 505, 506)  # cudaLaunchKernel, …ExC, __cudaLaunchKernel
MOST_CALLS = 1000  # CUPTI numbers some 520 of the runtime's and 830 of the driver's

REQUESTED = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), ctypes.POINTER(ctypes.c_size_t),
                             ctypes.POINTER(ctypes.c_size_t))
COMPLETED = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)


class Cupti:
    def __init__(self) -> None:
        name = f"libcupti.so.{torch.version.cuda.split('.')[0]}"
        self.library = ctypes.CDLL(name)
        self.buffers = [ctypes.create_string_buffer(BUFFER_BYTES) for _ in range(BUFFERS)]
        self.next = 0
        self.counts: collections.Counter[str] | None = None  # of records, where they are counted
        self.requested, self.completed = REQUESTED(self.on_requested), COMPLETED(self.on_completed)

    def on_requested(self, buffer, size, most_records) -> None:
        buffer[0] = ctypes.addressof(self.buffers[self.next % BUFFERS])
        size[0], most_records[0] = BUFFER_BYTES, 0
        self.next += 1

    def on_completed(self, _context, _stream, buffer, _bytes, valid_bytes) -> None:
        if self.counts is None:
            return
        record = ctypes.c_void_p()
        step = self.library.cuptiActivityGetNextRecord
        while step(ctypes.c_void_p(buffer), ctypes.c_size_t(valid_bytes), ctypes.byref(record)) == 0:
            kind, call = ctypes.cast(record, ctypes.POINTER(ctypes.c_uint32))[0:2]
            self.counts[f"{kind}:{call}" if kind in (DRIVER_RECORDS, RUNTIME_RECORDS) else f"{kind}"] += 1

    def call(self, name: str, *arguments) -> None:
        status = getattr(self.library, name)(*arguments)
        if status != 0:
            sys.exit(f"{name} returned {status}")

    def set_byte(self, attribute: int) -> None:
        size, value = ctypes.c_size_t(1), ctypes.c_uint8(1)
        self.call("cuptiActivitySetAttribute", attribute, ctypes.byref(size), ctypes.byref(value))

    def choose_records(self, kind: int, name: str, wanted: Iterable[int]) -> None:
        """All calls of an interface have records when the kind is on; then those that are not wanted go."""
        self.call("cuptiActivityEnable", kind)
        choose = getattr(self.library, name)
        for number in range(1, MOST_CALLS):
            if number not in wanted:
                choose(number, 0)  # fails where there is no such call

    def begin(self, kinds=(), attributes=(), callbacks=(), driver_records=(), runtime_records=(), latency=False) -> None:
        for attribute in attributes:
            self.set_byte(attribute)
        if callbacks:
            # Any function does: it takes its arguments in registers and looks at none.
            nothing = ctypes.cast(ctypes.CDLL(None).getppid, ctypes.c_void_p)
            self.subscriber = ctypes.c_void_p()
            self.call("cuptiSubscribe", ctypes.byref(self.subscriber), nothing, None)
            for domain, number in callbacks:
                self.call("cuptiEnableCallback", 1, self.subscriber, domain, number)
        if kinds:
            self.call("cuptiActivityRegisterCallbacks", self.requested, self.completed)
            if latency:
                self.call("cuptiActivityEnableLatencyTimestamps", 1)
            for kind in kinds:
                self.call("cuptiActivityEnable", kind)
        if driver_records:
            self.choose_records(DRIVER_RECORDS, "cuptiActivityEnableDriverApi", driver_records)
        if runtime_records:
            self.choose_records(RUNTIME_RECORDS, "cuptiActivityEnableRuntimeApi", runtime_records)

    def end(self) -> None:
        torch.cuda.synchronize()
        self.call("cuptiActivityFlushAll", 1)
        self.call("cuptiFinalize")


DRIVER_CALLBACKS = tuple((DRIVER, number) for number in DRIVER_LAUNCHES)
RUNTIME_CALLBACKS = tuple((RUNTIME, number) for number in RUNTIME_LAUNCHES)
VARIANTS: dict[str, dict] = {
    "kernels": {"kinds": (KERNELS,)},
    "kernels, zeroed buffers": {"kinds": (KERNELS,), "attributes": (ZEROED_BUFFERS,)},
    "kernels, pinned": {"kinds": (KERNELS,), "attributes": (PINNED,)},
    "kernels, buffers by thread": {"kinds": (KERNELS,), "attributes": (PER_THREAD_BUFFERS,)},
    "kernels, zeroed, pinned": {"kinds": (KERNELS,), "attributes": (ZEROED_BUFFERS, PINNED)},
    "kernels, all three": {"kinds": (KERNELS,), "attributes": (ZEROED_BUFFERS, PINNED, PER_THREAD_BUFFERS)},
    "kernels, latency": {"kinds": (KERNELS,), "latency": True},
    "kernels, all three, latency": {
        "kinds": (KERNELS,),
        "attributes": (ZEROED_BUFFERS, PINNED, PER_THREAD_BUFFERS),
        "latency": True,
    },
    "kernels, all three, latency, all work": {
        "kinds": (KERNELS, COPIES, MEMSETS),
        "attributes": (ZEROED_BUFFERS, PINNED, PER_THREAD_BUFFERS),
        "latency": True,
    },
    "driver's callbacks": {"callbacks": DRIVER_CALLBACKS},
    "runtime's callbacks": {"callbacks": RUNTIME_CALLBACKS},
    "kernels, driver's callbacks": {"kinds": (KERNELS,), "callbacks": DRIVER_CALLBACKS},
    "kernels, all three, driver's callbacks": {
        "kinds": (KERNELS,),
        "attributes": (ZEROED_BUFFERS, PINNED, PER_THREAD_BUFFERS),
        "callbacks": DRIVER_CALLBACKS,
    },
    "kernels, runtime's callbacks": {"kinds": (KERNELS,), "callbacks": RUNTIME_CALLBACKS},
    "kernels, both callbacks": {"kinds": (KERNELS,), "callbacks": DRIVER_CALLBACKS + RUNTIME_CALLBACKS},
    "kernels, driver's records": {"kinds": (KERNELS,), "driver_records": DRIVER_LAUNCHES},
    "kernels, runtime's records": {"kinds": (KERNELS,), "runtime_records": RUNTIME_LAUNCHES},
    "kernels, both records": {
        "kinds": (KERNELS,),
        "driver_records": DRIVER_LAUNCHES,
        "runtime_records": RUNTIME_LAUNCHES,
    },
    "all device work, callbacks": {"kinds": (KERNELS, COPIES, MEMSETS, SYNCS), "callbacks": DRIVER_CALLBACKS},
}


def nanoseconds(loop: Callable[[], None], calls: int) -> float:
    """Of a call: the least of some stretches, the first of which warms up."""
    times = []
    for _ in range(5):
        torch.cuda.synchronize()
        began = time.perf_counter_ns()
        loop()
        torch.cuda.synchronize()
        times.append((time.perf_counter_ns() - began) / calls)
    return min(times[1:])


def operator_loop() -> tuple[Callable[[], None], int, int]:
    """What is measured, how many calls that makes, and how often in turns."""
    x = torch.ones(64, device="cuda")

    def loop() -> None:
        for _ in range(1000):
            x.add(1)

    return loop, 1000, 12


def decode_loop() -> tuple[Callable[[], None], int, int]:
    from models import llama_decode

    decode = llama_decode()

    def loop() -> None:
        for _ in range(4):
            decode()

    return loop, 4, 6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="?", choices=["operator", "decode"], default="operator")
    parser.add_argument("--only", help="names of variants, with semicolons (all)")
    parser.add_argument("--turns", type=int, help="of all variants (12 for an operator, 6 for a decode)")
    words = parser.parse_args()
    loop, calls, turns = operator_loop() if words.what == "operator" else decode_loop()
    turns = words.turns or turns
    variants = {name: VARIANTS[name] for name in (words.only.split(";") if words.only else VARIANTS)}
    nanoseconds(loop, calls)
    cupti = Cupti()
    x = torch.ones(64, 64, device="cuda")
    for name, wanted in variants.items():
        cupti.counts = collections.Counter()
        cupti.begin(**wanted)
        for _ in range(10):
            (x @ x).add(1)
        cupti.end()
        print(f"{name:38} {dict(cupti.counts)}", flush=True)
    cupti.counts = None
    added: dict[str, list[float]] = {name: [] for name in variants}
    plain = [nanoseconds(loop, calls)]
    for _ in range(turns):
        for name, wanted in variants.items():
            cupti.begin(**wanted)
            with_it = nanoseconds(loop, calls)
            cupti.end()
            plain.append(nanoseconds(loop, calls))
            added[name].append(with_it - (plain[-2] + plain[-1]) / 2)
    print(f"{torch.cuda.get_device_name()}, torch {torch.__version__}")
    print(f"{'without':38}      {statistics.median(plain):6.0f} ns")
    for name, each in added.items():
        low, middle, high = statistics.quantiles(each, n=4)
        print(f"{name:38} adds {middle:6.0f} ns ({low:.0f} to {high:.0f})")


if __name__ == "__main__":
    main()
