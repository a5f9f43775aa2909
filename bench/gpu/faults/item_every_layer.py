"""A network that reads a statistic of every layer back to the host."""

import loop
import torch
from torch import nn

BATCH, WIDTH, LAYERS = (8192, 1024, 32) if loop.DEVICE == "cuda" else (8, 64, 4)


class Network(nn.Module):
    def __init__(self, reads_back):
        super().__init__()
        self.reads_back = reads_back
        self.layers = nn.ModuleList(
            nn.Sequential(nn.Linear(WIDTH, WIDTH), nn.LayerNorm(WIDTH), nn.GELU()) for _ in range(LAYERS)
        )
        self.seen = []

    def forward(self, x):
        self.seen = []
        for layer in self.layers:
            x = layer(x)
            mean = x.detach().abs().mean()
            self.seen.append(mean.item() if self.reads_back else mean)
        return x


def make(fix):
    model = Network(fix is None).to(loop.DEVICE, torch.bfloat16)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-5)
    batch = torch.randn(BATCH, WIDTH, device=loop.DEVICE, dtype=torch.bfloat16)

    def step():
        loss = model(batch).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("remove_sync",), 120)

if __name__ == "__main__":
    PROGRAM.run()
