"""Reads sequences of unequal length with a GRU and judges each by its last word."""
import argparse
import time

import torch
from torch import nn


class Tagger(nn.Module):
    def __init__(self, fixed):
        super().__init__()
        self.fixed = fixed
        self.embed = nn.Embedding(1000, 64)
        self.cells = nn.GRU(64, 64, batch_first=True)
        self.head = nn.Linear(64, 5)

    def forward(self, words, lengths):
        states, _ = self.cells(self.embed(words))
        if self.fixed:
            last = states[torch.arange(len(words)), lengths - 1]
        else:
            last = torch.stack([states[i, lengths[i] - 1] for i in range(len(words))])
        return self.head(last)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    words = parser.parse_args()

    torch.manual_seed(0)
    model = Tagger(words.fixed)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    batch, lengths = torch.randint(0, 1000, (256, 20)), torch.randint(1, 21, (256,))
    labels = torch.randint(0, 5, (256,))
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        loss = nn.functional.cross_entropy(model(batch, lengths), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
