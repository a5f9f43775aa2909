"""Images that a single worker prepares."""

import loop
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset

BATCH, SIZE, WORKERS = (16, 160, 8) if loop.DEVICE == "cuda" else (4, 32, 2)


class Images(Dataset):
    def __len__(self):
        return 1 << 20

    def __getitem__(self, index):
        image = torch.randint(0, 255, (1, 3, 2 * SIZE, 2 * SIZE), dtype=torch.uint8).float() / 255
        image = nn.functional.interpolate(image, size=(SIZE, SIZE), mode="bilinear", align_corners=False)[0]
        return (image - 0.45) / 0.22, index % 100


def make(fix):
    model = nn.Sequential(
        nn.Conv2d(3, 64, 16, 16), nn.GELU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(64, 100)
    ).to(loop.DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    workers = 1 if fix is None else WORKERS
    batches = iter(
        DataLoader(Images(), BATCH, num_workers=workers, pin_memory=loop.DEVICE == "cuda", persistent_workers=True)
    )

    def step():
        images, labels = (each.to(loop.DEVICE, non_blocking=True) for each in next(batches))
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("loader_workers",), 60)

if __name__ == "__main__":
    PROGRAM.run()
