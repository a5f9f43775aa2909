"""A training loop as many begin: correct, and slower than it need be. Telltale says why:

    telltale record -- python examples/python/train.py
"""

import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset


class Pictures(Dataset):
    """Pictures made up from their number, each changed a little before it is used."""

    def __len__(self):
        return 2048

    def __getitem__(self, number):
        picture = torch.rand(3, 32, 32, generator=torch.Generator().manual_seed(number))
        for _ in range(20):
            picture = (picture.roll(1, dims=2) * 0.9 + picture * 0.1).clamp(0, 1)
        return picture, number % 10


def main():
    device = "cuda" if torch.cuda.is_available() else "cpu"
    model = nn.Sequential(nn.Flatten(), nn.Linear(3 * 32 * 32, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3)
    loader = DataLoader(Pictures(), batch_size=32)
    for epoch in range(3):
        for pictures, labels in loader:
            loss = nn.functional.cross_entropy(model(pictures.to(device)), labels.to(device))
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        print(f"epoch {epoch}: loss {loss.item():.3f}")


if __name__ == "__main__":
    main()
