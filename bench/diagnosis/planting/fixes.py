"""Fixes that need no knowledge of the program: each changes one part of a Workload, or says why it cannot.

The ids are those of the findings' fixes, so that advice can be compared with what it would have bought.
"""

from collections.abc import Callable

import torch

from planting.workload import Workload


class NotApplicable(Exception):
    """The fix has nothing to do here; the message says why."""


GENERIC: dict[str, Callable[[Workload], None]] = {}


def generic(fix: Callable[[Workload], None]) -> Callable[[Workload], None]:
    GENERIC[fix.__name__] = fix
    return fix


@generic
def tf32(work: Workload) -> None:
    if work.tf32:
        raise NotApplicable("already allowed")
    if work.computes_in_16_bits:
        raise NotApplicable("computes in 16 bits")
    work.tf32 = True


@generic
def bf16(work: Workload) -> None:
    if work.computes_in_16_bits:
        raise NotApplicable("computes in 16 bits")
    work.autocast = torch.bfloat16


@generic
def fused_optimizer(work: Workload) -> None:
    if not work.trains:
        raise NotApplicable("no optimizer")
    if work.fused:
        raise NotApplicable("already fused")
    work.fused = True


@generic
def channels_last(work: Workload) -> None:
    if not work.has_convolutions:
        raise NotApplicable("no convolutions")
    if not isinstance(work.batches, list):
        raise NotApplicable("left to the loader")
    work.model = work.model.to(memory_format=torch.channels_last)
    work.batches = [
        tuple(t.contiguous(memory_format=torch.channels_last) if t.dim() == 4 else t for t in batch)
        for batch in work.batches
    ]


@generic
def pin_memory(work: Workload) -> None:
    if not isinstance(work.batches, list):
        raise NotApplicable("left to the loader")
    if all(tensor.is_cuda for batch in work.batches for tensor in batch):
        raise NotApplicable("no batches from the host")
    work.batches = [tuple(tensor.pin_memory() for tensor in batch) for batch in work.batches]
    work.non_blocking = True


@generic
def larger_batch(work: Workload) -> None:
    """The plan has doubled the batch already."""


@generic
def compile(work: Workload) -> None:  # named after the fix
    if work.compiled:
        raise NotApplicable("already compiled")
    work.compiled = "default"


@generic
def compile_graphs(work: Workload) -> None:
    if work.compiled == "reduce-overhead":
        raise NotApplicable("already compiled with graphs")
    work.compiled = "reduce-overhead"


COMPILING = ("compile", "compile_graphs")
