"""Recordings that start and stop a hundred times in a process: nothing is lost inside them, nothing grows, nothing
breaks while other threads launch."""

import argparse
import ctypes
import os
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pyarrow
import pyarrow.compute
import torch
from check import DEVICE, IS_DRY, IS_QUICK, MIB, at_most, claim, figure, keep, resident_bytes, synchronize, work_folder
from traces import launches_without_kernels

import telltale
import telltale.torch

WINDOWS = 30 if IS_QUICK or IS_DRY else 100
SETTLED = WINDOWS // 5
KERNELS = 137  # in a window: no round number, so that a lost buffer shows
MOST_GROWTH_MIB = 24
THREADS = 4
Window = Callable[[Path, Callable[[], None]], None]  # records the work to a file


def by_torch(path: Path, work: Callable[[], None]) -> None:
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with telltale.torch.profile(activities=activities) as profile:
        work()
    profile.save(path)


class Options(ctypes.Structure):
    """telltale_options of telltale.h: what this needs of it, and room for the rest."""

    _fields_ = [("size", ctypes.c_size_t), ("path", ctypes.c_char_p), ("rest", ctypes.c_char * 480)]


def library(name: str) -> ctypes.CDLL:
    folder = Path(telltale.__file__).parent
    found = sorted(folder.rglob(f"{name}.so*"))
    if not found:
        raise FileNotFoundError(f"no {name}.so under {folder}")
    return ctypes.CDLL(str(found[0]), mode=os.RTLD_GLOBAL)


def by_interface() -> Window:
    """Through the C interface, as a native program would."""
    recorder = library("libtelltale")
    devices = library("libtelltale_devices")
    devices.telltale_devices_error_text.restype = ctypes.c_char_p
    recorder.telltale_error_text.restype = ctypes.c_char_p

    def window(path: Path, work: Callable[[], None]) -> None:
        options = Options()
        recorder.telltale_default_options(ctypes.byref(options), ctypes.c_size_t(SIZE_OF_OPTIONS))
        options.path = os.fsencode(path)
        must(recorder.telltale_start(ctypes.byref(options)), recorder.telltale_error_text)
        if not IS_DRY:
            must(devices.telltale_cuda_start(None), devices.telltale_devices_error_text)
        work()
        if not IS_DRY:
            must(devices.telltale_cuda_stop(), devices.telltale_devices_error_text)
        must(recorder.telltale_stop(), recorder.telltale_error_text)

    return window


SIZE_OF_OPTIONS = 16 + 480


def must(status: int, why: Callable[[], bytes]) -> None:
    if status != 0:
        raise RuntimeError(f"status {status}: {why().decode()}")


def kernels_in(path: Path) -> int:
    kinds = pyarrow.table(telltale.load(path).events())["kind"].cast(pyarrow.string())
    return pyarrow.compute.sum(pyarrow.compute.equal(kinds, "kernel")).as_py() or 0


def check_windows(name: str, window: Window) -> None:
    x = torch.ones(64, device=DEVICE)

    def work() -> None:
        for _ in range(KERNELS):
            x.add_(1)

    folder, sizes, costs = work_folder(), {}, []
    work()
    synchronize()
    paths = [folder / f"{name}_{number}.tell" for number in range(WINDOWS)]
    for number, path in enumerate(paths, 1):
        began = time.perf_counter()
        window(path, work)
        costs.append(time.perf_counter() - began)
        synchronize()
        sizes[number] = resident_bytes()
    at_most(
        f"{name}: memory that {WINDOWS - SETTLED} more recordings add to the first {SETTLED}",
        (sizes[WINDOWS] - sizes[SETTLED]) / MIB,
        MOST_GROWTH_MIB,
        " MiB",
        1,
    )
    lacking = {number: found for number, path in enumerate(paths) if (found := kernels_in(path)) != KERNELS}
    claim(
        f"{name}: recordings without one of their {KERNELS} kernels",
        not lacking,
        f"{len(lacking)} of {WINDOWS}" + (f", as {list(lacking.items())[:5]}" if lacking else ""),
        "0",
    )
    figure(
        f"{name}: a recording from start to file",
        f"{sorted(costs)[WINDOWS // 2] * 1e3:.1f} ms, the longest {max(costs) * 1e3:.0f}",
    )


def check_amid_threads() -> None:
    """Others launch without a pause, across starts and stops."""
    is_over, launched = threading.Event(), [0] * THREADS

    def launch(number: int) -> None:
        x = torch.ones(64, device=DEVICE)
        with torch.cuda.stream(None if IS_DRY else torch.cuda.Stream()):
            while not is_over.is_set():
                for _ in range(50):
                    x.add_(1)
                launched[number] += 50
                synchronize()

    running = [threading.Thread(target=launch, args=(number,)) for number in range(THREADS)]
    for thread in running:
        thread.start()
    paths = [work_folder() / f"amid_{number}.tell" for number in range(10 if IS_QUICK else 30)]
    lengths = []
    for path in paths:
        began = time.perf_counter()
        by_torch(path, lambda: time.sleep(0.02))
        lengths.append(time.perf_counter() - began)
    is_over.set()
    for thread in running:
        thread.join()
    calls = lacking = fewest = 0
    for number, path in enumerate(paths):
        launches, unserved = launches_without_kernels(telltale.load(path))
        calls, lacking, fewest = calls + launches, lacking + unserved, min(launches, fewest) if number else launches
        if unserved:
            keep(path)
    claim(
        "amid threads: launches without their kernel",
        lacking == 0 and calls > 0,
        f"{lacking} of {calls}, at least {fewest} a recording",
        "0",
    )
    figure(
        "amid threads: a recording of 20 ms took",
        f"{sorted(lengths)[len(lengths) // 2] * 1e3:.1f} ms, the longest {max(lengths) * 1e3:.0f}",
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("way", choices=["torch", "interface", "threads"])
    way = parser.parse_args().way
    if way == "torch":
        check_windows("start and stop by telltale.torch", by_torch)
    elif way == "interface":
        check_windows("start and stop by the C interface", by_interface())
    else:
        check_amid_threads()
    return 0


if __name__ == "__main__":
    sys.exit(main())
