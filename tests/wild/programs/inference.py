"""Batches go through a model, one after the other, as when somebody times it."""
import torch
from torch import nn

PASSES = 40

torch.manual_seed(0)
model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10)).eval()
batch = torch.randn(32, 64)
total = 0.0
with torch.no_grad():
    for _ in range(PASSES):
        total += model(batch).sum()
print(f"{total / PASSES:.3f}")
