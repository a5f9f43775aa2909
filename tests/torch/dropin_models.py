"""Small models of different kinds, each with everything that a training step needs."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import nn

Step = Callable[[], None]


def _step(model: nn.Module, inputs: Callable[[], tuple], target: Callable[[], torch.Tensor]) -> Step:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
    loss = nn.CrossEntropyLoss()

    def step() -> None:
        outputs = model(*inputs())
        loss(outputs, target()).backward()
        optimizer.step()
        # Last, so that a recorded step frees what it allocated and nothing else: torch.profiler counts what was there
        # before only where an earlier recording happened to see it.
        optimizer.zero_grad()

    return step


class Recurrent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.LSTM(8, 16, num_layers=2, batch_first=True)
        self.head = nn.Linear(16, 4)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(batch)[0][:, -1])


class Embedded(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.bag = nn.EmbeddingBag(50, 16, mode="mean")
        self.head = nn.Linear(16, 4)

    def forward(self, words: torch.Tensor, offsets: torch.Tensor) -> torch.Tensor:
        return self.head(self.bag(words, offsets))


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
        self.head = nn.Linear(16, 4)

    def forward(self, batch: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(batch).mean(1))


def _classes() -> torch.Tensor:
    return torch.randint(0, 4, (6,))


def models() -> dict[str, Step]:
    torch.manual_seed(1)
    dense = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
    convolutional = nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(72, 4)
    )
    return {
        "MLP": _step(dense, lambda: (torch.randn(6, 8),), _classes),
        "convolutional net": _step(convolutional, lambda: (torch.randn(6, 3, 8, 8),), _classes),
        "transformer encoder": _step(Encoder(), lambda: (torch.randn(6, 5, 16),), _classes),
        "embedding bag": _step(Embedded(), lambda: (torch.randint(0, 50, (18,)), torch.arange(0, 18, 3)), _classes),
        "RNN": _step(Recurrent(), lambda: (torch.randn(6, 5, 8),), _classes),
    }
