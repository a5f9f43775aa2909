"""A small convolutional network on gray pictures that are read, cropped and normalized one by one."""
import argparse
import time

import numpy as np
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

SIDE = 28


class Pictures(Dataset):
    def __init__(self, count, fixed):
        self.pixels = np.random.default_rng(0).integers(0, 256, (count, SIDE * SIDE), dtype=np.uint8)
        self.normalize = normalized_at_once if fixed else normalized

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        picture = self.normalize(self.pixels[index])
        return picture.reshape(1, SIDE, SIDE), index % 10


def normalized(pixels):
    values = []
    for pixel in pixels:
        value = (float(pixel) / 255.0 - 0.1307) / 0.3081
        values.append(value)
    return torch.tensor(values)


def normalized_at_once(pixels):
    return (torch.from_numpy(pixels).float() / 255.0 - 0.1307) / 0.3081


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=5)
    words = parser.parse_args()

    torch.manual_seed(0)
    loader = DataLoader(Pictures(1920, words.fixed), batch_size=64, shuffle=True)
    model = nn.Sequential(
        nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(16, 32, 3, padding=1), nn.ReLU(),
        nn.AdaptiveAvgPool2d(4), nn.Flatten(), nn.Linear(512, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for epoch in range(words.epochs):
        if epoch == 1:
            began = time.perf_counter()
        for pictures, labels in loader:
            optimizer.zero_grad()
            loss = nn.functional.cross_entropy(model(pictures), labels)
            loss.backward()
            optimizer.step()
    took = (time.perf_counter() - began) / ((words.epochs - 1) * len(loader))
    print(f"{1e3 * took:.3f} ms per step")


main()
