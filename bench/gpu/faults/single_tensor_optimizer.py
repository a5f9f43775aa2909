"""A model of many small tables, whose optimizer goes from one to the next."""

import loop
import torch
from torch import nn

TABLES, ROWS, WIDTH = (256, 32, 64) if loop.DEVICE == "cuda" else (32, 32, 16)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.tables = nn.ParameterList(torch.randn(ROWS, WIDTH) for _ in range(TABLES))
        self.head = nn.Linear(WIDTH, 1)

    def forward(self, features):
        rows = torch.cat(tuple(self.tables))[features]
        return self.head(rows.mean(1))


def make(fix):
    model = Model().to(loop.DEVICE)
    how = {"foreach": False} if fix is None else {"fused": True}
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-5, **how)
    features = torch.randint(0, TABLES * ROWS, (1024, 16), device=loop.DEVICE)

    def step():
        loss = model(features).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("fused_optimizer",), 90)

if __name__ == "__main__":
    PROGRAM.run()
