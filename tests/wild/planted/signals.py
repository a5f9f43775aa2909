"""A recurrent classifier of signals, trained with autograd's anomaly detection on, as it was left after a search for NaN."""
import argparse
import time

import torch
from torch import nn


class Classifier(nn.Module):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(32, 96)
        self.head = nn.Sequential(nn.LayerNorm(96), nn.Linear(96, 96), nn.ReLU(), nn.Linear(96, 5))

    def forward(self, signal):
        state = signal.new_zeros(signal.shape[0], 96)
        for moment in signal.unbind(1):
            state = self.cell(moment, state)
        return self.head(state)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=240)
    words = parser.parse_args()

    torch.manual_seed(0)
    torch.autograd.set_detect_anomaly(not words.fixed)
    model = Classifier()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    signals, labels = torch.randn(words.steps, 48, 20, 32), torch.randint(0, 5, (words.steps, 48))
    for step in range(words.steps):
        if step == 10:
            began = time.perf_counter()
        optimizer.zero_grad()
        nn.functional.cross_entropy(model(signals[step]), labels[step]).backward()
        optimizer.step()
    print(f"{1e3 * (time.perf_counter() - began) / (words.steps - 10):.3f} ms per step")


main()
