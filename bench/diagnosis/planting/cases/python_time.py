"""Faults in what Python does in a step."""

import gc
import json
import os
import tempfile

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import energy, on_device, residual_tower
from planting.workload import Workload


def weight_number_by_number() -> float:
    weight = 1.0
    for i in range(80_000):  # fault: python_between_launches python_behind_the_device
        weight += 1e-9 * (i % 7)
    return weight


def weight_at_once() -> Tensor:
    return 1.0 + 1e-9 * (torch.arange(80_000, device=DEVICE) % 7).sum()


def weighted_in_python(plan: Plan, rows: int, width: int) -> Workload:
    weight = weight_at_once if plan.has("vectorize") else weight_number_by_number

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        y = model(x)
        return weight() * y.square().mean()

    x = on_device(plan.batch(rows), width)
    return Workload(residual_tower(6, width), [(x,)], loss, autocast=torch.bfloat16)


@case("python_overhead", "vectorize", "the loop as one tensor expression")
def python_between_launches(plan: Plan) -> Workload:
    return weighted_in_python(plan, rows=1024, width=1024)


@case("python_overhead", "vectorize", "the loop as one tensor expression; costs nothing: the device is behind anyway")
def python_behind_the_device(plan: Plan) -> Workload:
    return weighted_in_python(plan, rows=32768, width=2048)


@case("logging_in_step", "log_less", "log every 20th step", also=("remove_sync",))
def log_every_step(plan: Plan) -> Workload:
    log = tempfile.TemporaryFile("w")
    steps, late = 0, []

    def write(norms: list[float]) -> None:
        entry = {"step": steps, **{f"norm/{i}": f"{norm:.6f}" for i, norm in enumerate(norms)}}
        print(json.dumps(entry), file=log, flush=True)
        os.fsync(log.fileno())

    def write_now(loss: Tensor, model: nn.Module) -> None:
        write([loss.item(), *(p.grad.norm().item() for p in model.parameters())])  # fault: log_every_step

    def write_every_20th(loss: Tensor, model: nn.Module) -> None:
        if steps % 20 == 0:
            write_now(loss, model)

    def write_a_step_late(loss: Tensor, model: nn.Module) -> None:
        """Without a wait for this step: the values of the one before have long arrived."""
        norms = torch.stack([loss.detach().float(), *(p.grad.norm() for p in model.parameters())])
        host = torch.empty(len(norms), pin_memory=DEVICE == "cuda")
        host.copy_(norms, non_blocking=True)
        late.append(host)
        if len(late) > 1:
            write(late.pop(0).tolist())

    how = {"log_less": write_every_20th, "remove_sync": write_a_step_late}.get(plan.fix, write_now)

    def after(loss: Tensor, model: nn.Module) -> None:
        nonlocal steps
        steps += 1
        how(loss, model)

    x = on_device(plan.batch(8192), 2048)
    return Workload(residual_tower(6, 2048), [(x,)], energy, autocast=torch.bfloat16, after=after)


@case("garbage_collection", "freeze_gc", "gc.freeze() once the long-lived objects exist")
def collect_every_step(plan: Plan) -> Workload:
    gc.collect()
    gc.freeze()  # what the interpreter and torch hold is no part of the case
    index = [[i, i % 10] for i in range(100_000)]
    if plan.has("freeze_gc"):
        gc.freeze()

    def after(loss: Tensor, model: nn.Module, held=index) -> None:
        gc.collect()  # fault: collect_every_step

    x = on_device(plan.batch(2048), 1024)
    return Workload(residual_tower(8, 1024), [(x,)], energy, autocast=torch.bfloat16, after=after)


@case("small_batch", "larger_batch", "twice the batch, counted per sample")
def one_sequence_a_step(plan: Plan) -> Workload:
    layer = nn.TransformerEncoderLayer(512, 8, 2048, dropout=0.0, batch_first=True, norm_first=True, device=DEVICE)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    x = on_device(plan.batch(1), 128, 512)

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        return F.mse_loss(model(x), x)

    return Workload(model, [(x,)], loss, autocast=torch.bfloat16)
