"""Fits a function of two variables, sampled with NumPy."""
import argparse
import time

import numpy as np
import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    words = parser.parse_args()

    torch.manual_seed(0)
    points = np.random.default_rng(0).uniform(-3, 3, (1024, 2))
    heights = np.sin(points[:, :1]) * np.cos(points[:, 1:])
    model = nn.Sequential(nn.Linear(2, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 256), nn.Tanh(), nn.Linear(256, 1))
    inputs, targets = torch.from_numpy(points), torch.from_numpy(heights)
    if words.fixed:
        inputs, targets = inputs.float(), targets.float()
    else:
        model = model.double()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        loss = nn.functional.mse_loss(model(inputs), targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
