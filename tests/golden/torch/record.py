#!/usr/bin/env python3
"""Records the traces of this folder together with what torch.profiler says of them. Needs torch and a CUDA device.

    record.py FOLDER

For each case FOLDER gets CASE.json.gz, the trace, and CASE.key_averages.json.gz, torch's own tables by name and by
shape. The tables of mlp_sync and resnet50_train, whose traces stand in examples/traces, are not made here.
"""
import gzip
import json
import shutil
import sys
from pathlib import Path

import torch
from torch.profiler import ProfilerActivity, profile, record_function, schedule

CPU_AND_CUDA = (ProfilerActivity.CPU, ProfilerActivity.CUDA)


def rows(averages):
    return [
        {
            "key": row.key,
            "count": row.count,
            "input_shapes": row.input_shapes or None,
            "self_cpu_us": row.self_cpu_time_total,
            "cpu_us": row.cpu_time_total,
            "self_device_us": row.self_device_time_total,
            "device_us": row.device_time_total,
            "cpu_mem": row.cpu_memory_usage,
            "self_cpu_mem": row.self_cpu_memory_usage,
            "device_mem": row.device_memory_usage,
            "self_device_mem": row.self_device_memory_usage,
            "flops": row.flops,
            "device_type": str(row.device_type),
            "is_user_annotation": bool(row.is_user_annotation),
        }
        for row in averages
    ]


def record(folder, name, step, activities=CPU_AND_CUDA, **options):
    step()  # what only the first call does is no part of the trace
    options |= {"record_shapes": True, "profile_memory": True, "with_flops": True}
    with profile(activities=activities, schedule=schedule(wait=1, warmup=1, active=2), **options) as profiler:
        for _ in range(4):
            step()
            profiler.step()
    trace = folder / f"{name}.json"
    profiler.export_chrome_trace(str(trace))
    with open(trace, "rb") as plain, gzip.open(f"{trace}.gz", "wb") as packed:
        shutil.copyfileobj(plain, packed)
    trace.unlink()
    tables = {
        "by_name": rows(profiler.key_averages()),
        "by_shape": rows(profiler.key_averages(group_by_input_shape=True)),
        "table": profiler.key_averages().table(row_limit=5),
    }
    with gzip.open(folder / f"{name}.key_averages.json.gz", "wt") as packed:
        json.dump(tables, packed)


def autocast_train():
    model = torch.nn.Sequential(torch.nn.Linear(256, 512), torch.nn.ReLU(), torch.nn.Linear(512, 64)).cuda()
    optimizer = torch.optim.Adam(model.parameters(), foreach=True)
    batch = torch.randn(32, 256, device="cuda")

    def step():
        with record_function("forward"), torch.autocast("cuda", dtype=torch.bfloat16):
            loss = model(batch).float().pow(2).mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()

    return step


def tensor_lists():
    tensors = [torch.randn(i + 1, 8, device="cuda") for i in range(4)]
    joined = torch.cat(tensors, 0)
    stacked = torch.stack([joined, joined])
    torch._foreach_add_(tensors, 1.0)
    torch.einsum("ij,kj->ik", joined, joined)
    joined[torch.tensor([0, 2], device="cuda")]
    stacked.sum().item()
    torch.nonzero(joined > 0)
    torch.bmm(stacked, stacked.transpose(1, 2))
    torch.baddbmm(torch.zeros(2, 10, 10, device="cuda"), stacked, stacked.transpose(1, 2))
    (joined + 1) * 2


def cpu_only():
    linear, batch = torch.nn.Linear(64, 64), torch.randn(8, 64)

    def step():
        linear(batch).sum().backward()
        image, weight = torch.randn(1, 4, 16, 16), torch.randn(8, 2, 3, 3)
        torch.nn.functional.conv2d(image, weight, groups=2, padding=1)

    return step


def compiled():
    batch = torch.randn(32, 256, device="cuda")
    fused = torch.compile(lambda a: torch.tanh(a * 2 + 1).clamp(-1, 1) * a)
    return lambda: fused(batch)


def double_backward():
    class Double(torch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            with record_function("inner"):
                return a * 2

        @staticmethod
        def backward(ctx, gradient):
            return gradient * 2

    point = torch.randn(8, 8, device="cuda", requires_grad=True)

    def step():
        cube = Double.apply(point).pow(3).sum()
        (gradient,) = torch.autograd.grad(cube, point, create_graph=True)
        gradient.sum().backward()
        point.grad = None

    return step


def main():
    folder = Path(sys.argv[1])
    record(folder, "autocast_train", autocast_train(), with_stack=True, with_modules=True)
    record(folder, "tensor_lists", tensor_lists)
    record(folder, "cpu_only", cpu_only(), activities=(ProfilerActivity.CPU,))
    record(folder, "compiled", compiled(), with_stack=True)
    record(folder, "double_backward", double_backward(), with_stack=True)


if __name__ == "__main__":
    main()
