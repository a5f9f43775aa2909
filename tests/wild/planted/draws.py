"""Classifies rows that a generator draws at random from a large array."""
import argparse
import time

import numpy as np
import torch
from torch import nn

ROWS, FEATURES, BATCH = 400_000, 24, 256


def batches(table, labels, with_repeats):
    while True:
        if with_repeats:
            rows = np.random.randint(0, ROWS, BATCH)
        else:
            rows = np.random.choice(ROWS, BATCH, replace=False)  # shuffles the numbers of all rows for each batch
        yield torch.from_numpy(table[rows]), torch.from_numpy(labels[rows])


def normalized(source):
    for batch, labels in source:
        yield (batch - batch.mean(0)) / (batch.std(0) + 1e-5), labels


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=160)
    words = parser.parse_args()

    torch.manual_seed(0)
    np.random.seed(0)
    table = np.random.default_rng(1).standard_normal((ROWS, FEATURES), dtype=np.float32)
    labels = (table[:, 0] > 0).astype(np.int64)
    model = nn.Sequential(nn.Linear(FEATURES, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    stream = normalized(batches(table, labels, words.fixed))
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        batch, wanted = next(stream)
        loss = nn.functional.cross_entropy(model(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
