"""A transformer's encoder on made-up sequences."""
import argparse
import time

import torch
from torch import nn


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=40)
    words = parser.parse_args()

    if not words.fixed:
        torch.set_num_threads(1)
    torch.manual_seed(0)
    layer = nn.TransformerEncoderLayer(256, 4, 1024, dropout=0.0, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    head = nn.Linear(256, 256)
    optimizer = torch.optim.SGD([*model.parameters(), *head.parameters()], lr=0.01)
    sequences = torch.randn(8, 128, 256)
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        loss = nn.functional.mse_loss(head(model(sequences)), sequences)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
