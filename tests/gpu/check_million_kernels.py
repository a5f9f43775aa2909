"""A million kernels in one recording: all are there, and neither memory nor the file grows beyond what was promised."""

import sys
import time

import pyarrow
import pyarrow.compute
import torch
from check import (
    DEVICE,
    IS_DRY,
    IS_QUICK,
    MIB,
    at_most,
    claim,
    figure,
    forget_peak,
    peak_bytes,
    resident_bytes,
    synchronize,
    work_folder,
)

import telltale
import telltale.torch

KERNELS = 20_000 if IS_DRY else 200_000 if IS_QUICK else 1_000_000
MOST_MEMORY_MIB = (
    160  # the recorder's limit (64), CUPTI's buffers (32), and what CUPTI and the allocator need beside them
)
MOST_BYTES_A_KERNEL = 100  # with its operator and its launch


def main() -> int:
    x = torch.ones(64, device=DEVICE)

    def launch(count: int) -> None:
        for _ in range(count):
            x.add_(1)
        synchronize()

    launch(2000)
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    with telltale.torch.profile(activities=activities):
        launch(2000)
    before = resident_bytes()
    forget_peak()
    began = time.perf_counter()
    with telltale.torch.profile(activities=activities) as profile:
        launch(KERNELS)
        took = time.perf_counter() - began
        stopping = time.perf_counter()
    figure("million kernels: launching them", f"{took:.1f} s; stopping {time.perf_counter() - stopping:.2f} s")
    grown = (peak_bytes() - before) / MIB
    path = work_folder() / "million.tell"
    profile.save(path)

    began = time.perf_counter()
    trace = telltale.load(path)
    events = pyarrow.table(trace.events()).select(["name", "kind", "cause"])
    figure("million kernels: reading the file", f"{time.perf_counter() - began:.1f} s")
    kinds = events["kind"].cast(pyarrow.string())
    kernels = events.filter(pyarrow.compute.equal(kinds, "kernel"))
    adds = pyarrow.compute.sum(pyarrow.compute.equal(events["name"].cast(pyarrow.string()), "aten::add_")).as_py()
    claim(
        "million kernels: in the file", len(kernels) == KERNELS, f"{len(kernels)} of {KERNELS}, {adds} operators", "all"
    )
    untied = kernels["cause"].null_count
    claim("million kernels: without their launch", untied == 0, str(untied), "0")
    at_most("million kernels: memory at its highest beyond before", grown, MOST_MEMORY_MIB, " MiB", 0)
    at_most("million kernels: bytes in the file for each", path.stat().st_size / KERNELS, MOST_BYTES_A_KERNEL, " B", 1)
    told = dict(zip(*pyarrow.table(trace.metadata).to_pydict().values()))
    claim(
        "million kernels: records that CUPTI dropped",
        told.get("cupti_dropped_records", "").strip('"') == "0",
        told.get("cupti_dropped_records", "not told"),
        "0, and told",
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
