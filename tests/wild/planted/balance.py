"""Teaches a small policy to balance a pole, from transitions kept in memory."""
import argparse
import time

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=2500)
    words = parser.parse_args()

    torch.manual_seed(0)
    states, values = torch.randn(4096, 4), torch.randn(4096, 2)
    policy = nn.Sequential(nn.Linear(4, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 2))
    optimizer = torch.optim.AdamW(policy.parameters(), lr=1e-3, fused=True if words.fixed else None)
    for step in range(words.steps):
        if step == 100:
            began = time.perf_counter()
        chosen = torch.randint(0, 4096, (32,))
        loss = nn.functional.smooth_l1_loss(policy(states[chosen]), values[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 100)
    print(f"{1e3 * took:.3f} ms per step")


main()
