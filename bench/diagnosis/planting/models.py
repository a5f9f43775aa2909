"""The few small networks that most cases share, made on the device."""

from itertools import pairwise

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from planting.device import DEVICE


def mlp(*widths: int) -> nn.Sequential:
    """Linear layers of the given widths with GELU in between."""
    layers = [layer for a, b in pairwise(widths) for layer in (nn.Linear(a, b, device=DEVICE), nn.GELU())]
    return nn.Sequential(*layers[:-1])


def residual_tower(depth: int, width: int) -> nn.Sequential:
    return nn.Sequential(*(ResidualLayer(width) for _ in range(depth)))


class ResidualLayer(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.norm = nn.LayerNorm(width, device=DEVICE)
        self.linear = nn.Linear(width, width, device=DEVICE)

    def forward(self, x: Tensor) -> Tensor:
        return x + F.gelu(self.linear(self.norm(x)))


def on_device(*shape: int, dtype: torch.dtype = torch.float32) -> Tensor:
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def labels(count: int, classes: int, device: str = DEVICE) -> Tensor:
    return torch.randint(classes, (count,), device=device)


def energy(model: nn.Module, x: Tensor) -> Tensor:
    return model(x).square().mean()


def classification(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
    return F.cross_entropy(model(x), y)
