"""Images that are copied to the GPU from ordinary memory in every step."""

import loop
import torch
from torch import nn

IMAGES, SIZE = (128, 224) if loop.DEVICE == "cuda" else (2, 64)


def make(fix):
    model = nn.Sequential(
        nn.Conv2d(3, 64, 16, 16),
        nn.GELU(),
        nn.Conv2d(64, 128, 3, 2),
        nn.GELU(),
        nn.AdaptiveAvgPool2d(1),
        nn.Flatten(),
        nn.Linear(128, 100),
    ).to(loop.DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    images, labels = torch.randn(IMAGES, 3, SIZE, SIZE), torch.randint(0, 100, (IMAGES,))
    if fix and loop.DEVICE == "cuda":
        images, labels = images.pin_memory(), labels.pin_memory()

    def step():
        batch, wanted = (
            images.to(loop.DEVICE, non_blocking=fix is not None),
            labels.to(loop.DEVICE, non_blocking=fix is not None),
        )
        with torch.autocast(loop.DEVICE, torch.bfloat16):
            loss = nn.functional.cross_entropy(model(batch), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("pin_memory",), 90)

if __name__ == "__main__":
    PROGRAM.run()
