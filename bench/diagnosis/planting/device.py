"""The device that cases run on. Importing this starts no CUDA: the parent forks, and a fork inherits no context."""

import gc

import torch

DEVICE = "cuda" if torch.backends.cuda.is_built() else "cpu"
ON_GPU = DEVICE == "cuda"


def name() -> str:
    return torch.cuda.get_device_name(0) if ON_GPU else "CPU"


def synchronize() -> None:
    if ON_GPU:
        torch.cuda.synchronize()


def forget_peak() -> None:
    if ON_GPU:
        torch.cuda.reset_peak_memory_stats()


def peak_mib() -> float:
    return torch.cuda.max_memory_allocated() / 2**20 if ON_GPU else 0.0


def release_everything() -> None:
    """Leaves the next measurement of this process as little of the last one as possible."""
    from torch._inductor import cudagraph_trees

    torch._dynamo.reset()
    cudagraph_trees.reset_cudagraph_trees()
    gc.unfreeze()
    gc.collect()
    if ON_GPU:
        torch.cuda.empty_cache()
