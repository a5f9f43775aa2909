"""Learns ratings from a small set, epoch after epoch, with two workers that load."""
import argparse
import time

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Ratings(Dataset):
    def __init__(self, count):
        self.rows = torch.randn(count, 64)

    def __len__(self):
        return len(self.rows)

    def __getitem__(self, index):
        row = self.rows[index]
        return row, row.mean()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--epochs", type=int, default=12)
    words = parser.parse_args()

    torch.manual_seed(0)
    loader = DataLoader(Ratings(640), batch_size=64, shuffle=True, num_workers=2, persistent_workers=words.fixed)
    model = nn.Sequential(nn.Linear(64, 512), nn.ReLU(), nn.Linear(512, 512), nn.ReLU(), nn.Linear(512, 1))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for epoch in range(words.epochs):
        if epoch == 2:
            began = time.perf_counter()
        for rows, ratings in loader:
            loss = nn.functional.mse_loss(model(rows).squeeze(1), ratings)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    took = (time.perf_counter() - began) / ((words.epochs - 2) * len(loader))
    print(f"{1e3 * took:.3f} ms per step")


if __name__ == "__main__":
    main()
