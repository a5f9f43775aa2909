"""A small network on a small table, for a few epochs."""
import argparse
import time

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=0)
    words = parser.parse_args()
    batch_size = 256 if words.fixed else 4
    epochs = words.epochs or (60 if words.fixed else 6)

    torch.manual_seed(0)
    inputs, labels = torch.randn(2048, 20), torch.randint(0, 3, (2048,))
    model = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 3))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        if epoch == 1:
            began = time.perf_counter()
        order = torch.randperm(len(inputs))
        for chosen in order.split(batch_size):
            loss = nn.functional.cross_entropy(model(inputs[chosen]), labels[chosen])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    took = (time.perf_counter() - began) / ((epochs - 1) * len(inputs))
    print(f"{1e6 * took:.3f} us per sample, {1e6 * took * batch_size:.1f} us per step")


main()
