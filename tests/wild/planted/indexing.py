"""Classifies texts with words that are looked up in an index, all in the loop that trains."""
import argparse
import json
import os
import random
import tempfile
import time

import torch
from torch import nn

WORDS, LENGTH, BATCH = 20_000, 40, 64


def read_index(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=160)
    words = parser.parse_args()

    torch.manual_seed(0)
    random.seed(0)
    index = {f"word{number}": number for number in range(WORDS)}
    names = list(index)
    folder = tempfile.TemporaryDirectory()
    path = os.path.join(folder.name, "index.json")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(index, file)

    model = nn.Sequential(nn.EmbeddingBag(WORDS, 128), nn.Linear(128, 512), nn.ReLU(), nn.Linear(512, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        texts = [random.choices(names, k=LENGTH) for _ in range(BATCH)]
        known = index if words.fixed else read_index(path)
        tokens = torch.tensor([[known[word] for word in text] for text in texts])
        loss = nn.functional.cross_entropy(model(tokens), tokens[:, 0] % 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    folder.cleanup()
    print(f"{1e3 * took:.3f} ms per step")


main()
