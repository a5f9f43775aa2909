"""Small models whose steps are many small operators: where the cost of recording shows most."""

import torch
from torch import nn


class Block(nn.Module):
    """Two convolutions around a short cut."""

    def __init__(self, channels_in: int, channels: int, stride: int) -> None:
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels_in, channels, 3, stride, 1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(),
            nn.Conv2d(channels, channels, 3, 1, 1, bias=False), nn.BatchNorm2d(channels))
        same = stride == 1 and channels_in == channels
        self.short_cut = nn.Identity() if same else nn.Conv2d(channels_in, channels, 1, stride, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.body(x) + self.short_cut(x))


def resnet() -> tuple[nn.Module, torch.Tensor]:
    """The eight blocks of ResNet-18, narrow."""
    widths = [16, 16, 32, 32, 64, 64, 128, 128]
    blocks = [Block(before, width, 2 if width > before else 1) for before, width in zip([16, *widths], widths)]
    model = nn.Sequential(nn.Conv2d(3, 16, 3, 1, 1), nn.BatchNorm2d(16), nn.ReLU(), *blocks, nn.AdaptiveAvgPool2d(1),
                          nn.Flatten(), nn.Linear(128, 10))
    return model, torch.randn(2, 3, 8, 8)


def transformer() -> tuple[nn.Module, torch.Tensor]:
    """Four layers of an encoder."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, dropout=0.0, batch_first=True)
    return nn.TransformerEncoder(layer, 4), torch.randn(4, 16, 64)


MODELS = {"transformer": transformer, "resnet": resnet}


class Training:
    """step() does one step of training on the device."""

    def __init__(self, name: str, device: str) -> None:
        torch.manual_seed(1)
        model, inputs = MODELS[name]()
        self.model, self.inputs = model.to(device), inputs.to(device)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=1e-3)

    def step(self) -> None:
        self.optimizer.zero_grad()
        self.model(self.inputs).square().mean().backward()
        self.optimizer.step()
