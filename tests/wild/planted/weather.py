"""Forecasts the next hour from the last day, and shows how far it is."""
import argparse
import sys
import time

import torch
from torch import nn


class Progress:
    def __init__(self, total, pause):
        self.total = total
        self.pause = pause

    def show(self, step, loss):
        print(f"\r{step + 1}/{self.total}  {loss:.4f}", end="", file=sys.stderr)
        if self.pause:
            time.sleep(self.pause)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=120)
    words = parser.parse_args()

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(24 * 16, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 16))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    days = torch.randn(256, 24 * 16)
    hours = torch.randn(256, 16)
    progress = Progress(words.steps, 0 if words.fixed else 0.012)

    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        loss = nn.functional.mse_loss(model(days), hours)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        progress.show(step, loss.item())
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
