"""Faults in when the host waits for the device."""

import torch
from torch import Tensor, nn

from planting.case import Plan, case
from planting.device import DEVICE
from planting.models import energy, mlp, on_device, residual_tower
from planting.workload import Workload


class CheckedTower(nn.Module):
    """A tower that looks for NaN after every layer, there and then or once for all."""

    def __init__(self, depth: int, width: int, at_once: bool):
        super().__init__()
        self.layers = residual_tower(depth, width)
        self.at_once = at_once
        self.register_buffer("broken", torch.zeros((), dtype=torch.bool, device=DEVICE), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
            broken = torch.isnan(x).any()
            if self.at_once:
                self.broken |= broken
            elif broken:  # fault: nan_check_every_layer
                raise FloatingPointError("NaN")
        return x


@case("host_sync", "remove_sync", "the flags gathered on the device")
def nan_check_every_layer(plan: Plan) -> Workload:
    model = CheckedTower(8, 2048, at_once=plan.has("remove_sync"))
    x = on_device(plan.batch(6144), 2048)
    return Workload(model, [(x,)], energy, autocast=torch.bfloat16, fused=True)


@case("host_sync", "remove_sync", "the loss summed on the device; saves next to nothing: one refill in a long step")
def item_at_the_end(plan: Plan) -> Workload:
    total = 0.0

    def after(loss: Tensor, model: nn.Module) -> None:
        nonlocal total
        total += loss.detach() if plan.has("remove_sync") else loss.item()  # fault: item_at_the_end

    x = on_device(plan.batch(32768), 2048)
    return Workload(residual_tower(6, 2048), [(x,)], energy, autocast=torch.bfloat16, after=after)


class Experts(nn.Module):
    """A mixture in which each expert picks its rows; how many there are is known beforehand."""

    def __init__(self, count: int, width: int, counted: bool):
        super().__init__()
        self.experts = nn.ModuleList(mlp(width, 4 * width, width) for _ in range(count))
        self.counted = counted

    def forward(self, x: Tensor, choice: Tensor) -> Tensor:
        outputs, share = [], len(x) // len(self.experts)
        for i, expert in enumerate(self.experts):
            mine = choice == i
            if self.counted:
                rows = torch.nonzero_static(mine, size=share).squeeze(1)
            else:
                rows = mine.nonzero().squeeze(1)  # fault: experts_pick_rows
            outputs.append(expert(x.index_select(0, rows)))
        return torch.cat(outputs)


@case("host_sync", "remove_sync", "torch.nonzero_static with the known count")
def experts_pick_rows(plan: Plan) -> Workload:
    count, width = 8, 1024
    rows = count * plan.batch(6144)
    choice = torch.arange(rows, device=DEVICE) % count

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        return model(x, choice).square().mean()

    model = Experts(count, width, counted=plan.has("remove_sync"))
    return Workload(model, [(on_device(rows, width),)], loss, autocast=torch.bfloat16, fused=True)


@case(
    "launch_blocking",
    "unset_launch_blocking",
    "CUDA_LAUNCH_BLOCKING unset",
    environment={"CUDA_LAUNCH_BLOCKING": "1"},
)
def launches_that_block(plan: Plan) -> Workload:
    x = on_device(plan.batch(8192), 1024)
    return Workload(residual_tower(5, 1024), [(x,)], energy, autocast=torch.bfloat16)
