"""Faults in how memory is used. Most cost memory, not time."""

import itertools
import math

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.checkpoint import checkpoint

from planting.case import Plan, case
from planting.device import DEVICE, ON_GPU
from planting.models import labels, mlp, on_device
from planting.workload import Workload


@case(
    "allocator_churn",
    "stable_shapes",
    "lengths rounded up to a few that come again",
    also=("expandable_segments",),
    without={"compile_graphs": "each length would be a graph of its own"},
    warmups=4,
    steps=6,
    rows=3,
)
def longer_every_step(plan: Plan) -> Workload:
    """Every activation grows by 2 MiB a step, the allocator's grain: no block of the last step fits."""
    if ON_GPU:
        torch.cuda.memory._set_allocator_settings(f"expandable_segments:{plan.has('expandable_segments')}")
    width, steps = 256, 40
    first, growth = plan.batch(272 * 1024), plan.batch(4 * 1024)
    lengths = itertools.count(first, growth)
    grain = 8 * growth if plan.has("stable_shapes") else 1

    def loss(model: nn.Module, x: Tensor) -> Tensor:
        rows = math.ceil(next(lengths) / grain) * grain
        return model(x[:rows]).square().mean()  # fault: longer_every_step

    layers = [layer for _ in range(8) for layer in (nn.Linear(width, width, bias=False), nn.GELU())]
    model = nn.Sequential(*layers).to(DEVICE, torch.bfloat16)
    x = on_device(first + steps * growth, width, dtype=torch.bfloat16)
    return Workload(model, [(x,)], loss, fused=True)


class WithFeatures(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = mlp(1024, 4096, 4096, 1024)
        self.head = nn.Linear(1024, 1000, device=DEVICE)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        features = self.body(x)
        return features, self.head(F.gelu(features))


@case(
    "memory_leak",
    "detach",
    "metric.detach(); costs memory, not time",
    without={"compile_graphs": "the metric keeps what the next replay overwrites"},
)
def metric_keeps_its_graph(plan: Plan) -> Workload:
    history = []

    def loss(model: nn.Module, x: Tensor, y: Tensor) -> Tensor:
        features, logits = model(x)
        metric = features.square().mean()
        history.append(metric.detach() if plan.has("detach") else metric)  # fault: metric_keeps_its_graph
        return F.cross_entropy(logits, y)

    rows = plan.batch(8192)
    return Workload(WithFeatures(), [(on_device(rows, 1024), labels(rows, 1000))], loss, autocast=torch.bfloat16)


class LanguageHead(nn.Module):
    """Logits and loss of a large vocabulary, for all rows together or piece by piece."""

    def __init__(self, width: int, vocabulary: int, pieces: int):
        super().__init__()
        self.body = mlp(width, width, width)
        self.head = nn.Linear(width, vocabulary, bias=False, device=DEVICE)
        self.pieces = pieces

    def loss(self, x: Tensor, y: Tensor) -> Tensor:
        return F.cross_entropy(self.head(x).float(), y, reduction="sum")  # fault: logits_all_at_once

    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        x = self.body(x)
        if self.pieces == 1:
            return self.loss(x, y) / len(x)
        parts = zip(x.chunk(self.pieces), y.chunk(self.pieces))
        return sum(checkpoint(self.loss, a, b, use_reentrant=False) for a, b in parts) / len(x)


@case("memory_spike", "chunk", "the loss in eight pieces, each recomputed in the backward pass; costs memory, not time")
def logits_all_at_once(plan: Plan) -> Workload:
    rows, width, vocabulary = plan.batch(8192), 1024, 50304
    model = LanguageHead(width, vocabulary, pieces=8 if plan.has("chunk") else 1)
    batch = (on_device(rows, width), labels(rows, vocabulary))
    return Workload(model, [batch], lambda model, x, y: model(x, y), autocast=torch.bfloat16)
