"""One step of training or inference, kept in parts so that a fix can replace a part without knowing the program."""

import contextlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn

from planting.device import DEVICE


@dataclass
class Workload:
    model: nn.Module  # on the device
    batches: Iterable[tuple[Tensor, ...]]  # gone through again and again; those on the host are copied in the step
    loss: Callable[..., Tensor]  # (model, *batch) -> scalar
    optimizer: type[torch.optim.Optimizer] = torch.optim.AdamW
    optimizer_options: dict[str, Any] = field(default_factory=dict)
    fused: bool = False
    autocast: torch.dtype | None = None
    tf32: bool = False  # for matrix products; convolutions may use it anyway, as is torch's default
    compiled: str | None = None  # the mode of torch.compile
    dynamic: bool | None = None  # torch.compile's
    set_to_none: bool = True
    non_blocking: bool = False
    trains: bool = True  # otherwise a step is `loss`, whatever it returns, in inference mode
    after: Callable[[Tensor, nn.Module], None] | None = None  # (loss, model), at the end of a step

    @property
    def has_convolutions(self) -> bool:
        return any(isinstance(module, nn.Conv2d) for module in self.model.modules())

    @property
    def computes_in_16_bits(self) -> bool:
        return self.autocast is not None or next(self.model.parameters()).dtype.itemsize == 2


def endless(batches: Iterable[tuple[Tensor, ...]]) -> Iterator[tuple[Tensor, ...]]:
    while True:
        yield from batches


def step_of(work: Workload) -> Callable[[], None]:
    """The step as a function. What it needs beforehand (optimizer, compiler) is set up here."""
    torch.backends.cuda.matmul.allow_tf32 = work.tf32
    model, mode = work.model, work.compiled
    called = torch.compile(model, mode=mode, dynamic=work.dynamic) if mode else model
    batches = endless(work.batches)
    autocast = contextlib.nullcontext
    if work.autocast is not None:
        autocast = lambda: torch.autocast(DEVICE, work.autocast)  # noqa: E731

    def infer_step() -> None:
        if mode == "reduce-overhead":
            torch.compiler.cudagraph_mark_step_begin()
        with torch.inference_mode(), autocast():
            work.loss(called, *(tensor.to(DEVICE, non_blocking=work.non_blocking) for tensor in next(batches)))

    if not work.trains:
        return infer_step
    options = work.optimizer_options | ({"fused": True} if work.fused else {})
    optimizer = work.optimizer(model.parameters(), lr=1e-5, **options)

    def train_step() -> None:
        if mode == "reduce-overhead":
            torch.compiler.cudagraph_mark_step_begin()
        batch = [
            tensor.to(DEVICE, non_blocking=work.non_blocking)  # fault: pageable_batch many_small_copies
            for tensor in next(batches)
        ]
        with autocast():
            loss = work.loss(called, *batch)
        optimizer.zero_grad(set_to_none=work.set_to_none)  # fault: gradients_set_to_zero
        loss.backward()
        optimizer.step()
        if work.after:
            work.after(loss, model)

    return train_step
