"""Scores answers of a survey, and prints the mean loss at the end."""
import argparse
import time

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=60)
    words = parser.parse_args()

    torch.manual_seed(0)
    model = nn.Sequential(nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 8))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    losses = []
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        answers, scores = torch.randn(256, 128), torch.randn(256, 8)
        loss = nn.functional.mse_loss(model(answers), scores)
        optimizer.zero_grad()
        loss.backward(retain_graph=not words.fixed)
        optimizer.step()
        losses.append(loss.item() if words.fixed else loss)
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"mean loss {sum(float(loss) for loss in losses) / len(losses):.2f}")
    print(f"{1e3 * took:.3f} ms per step")


main()
