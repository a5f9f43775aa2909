"""Runs a function that torch.compile made."""
import torch


@torch.compile
def scaled(x, y):
    return torch.sin(x) * y + 1.0


x, y = torch.linspace(0, 1, 1000), torch.ones(1000)
for _ in range(30):
    result = scaled(x, y)
print(f"{result.sum():.2f}")
