"""From stop to the printed table: forty decodes of a Llama with 16 layers, recorded by telltale.torch."""

import sys
import time

import torch
from models import llama_decode

from check import IS_DRY, at_most, claim, figure, synchronize  # isort: skip

import telltale.torch

DECODES = 4 if IS_DRY else 40
LIMIT_S = 5


def main() -> int:
    decode = llama_decode()
    for _ in range(5):
        decode()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    for name, options in (
        ("operators and kernels", {}),
        ("with shapes and stacks", {"record_shapes": True, "with_stack": True}),
    ):
        profile = telltale.torch.profile(activities=activities, **options)
        profile.start()
        for _ in range(DECODES):
            decode()
        synchronize()
        began = time.perf_counter()
        profile.stop()
        stopped = time.perf_counter()
        averages = profile.key_averages()
        text = averages.table(sort_by="self_cpu_time_total" if IS_DRY else "self_device_time_total", row_limit=10)
        at_most(f"{DECODES} decodes, {name}: from stop to the table", time.perf_counter() - began, LIMIT_S, " s")
        kernels = sum(row.count for row in averages if str(row.device_type) == "DeviceType.CUDA")
        claim(
            f"{DECODES} decodes, {name}: kernels in the table",
            kernels >= 100 * DECODES,
            str(kernels),
            f"≥ {100 * DECODES}",
        )
        figure(f"{DECODES} decodes, {name}: stopping alone", f"{1e3 * (stopped - began):.0f} ms, {len(averages)} rows")
        print(text, flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
