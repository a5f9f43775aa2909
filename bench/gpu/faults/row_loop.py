"""A classifier that goes through the rows of its batch one by one."""

import loop
import torch
from torch import nn

ROWS = 128 if loop.DEVICE == "cuda" else 32


class Classifier(nn.Module):
    def __init__(self, row_by_row):
        super().__init__()
        self.row_by_row = row_by_row
        self.scores = nn.Linear(512, 512)

    def forward(self, x):
        if self.row_by_row:
            return torch.stack([torch.softmax(self.scores(x[i]), -1).amax() for i in range(len(x))])
        return torch.softmax(self.scores(x), -1).amax(-1)


def make(fix):
    model = Classifier(fix is None).to(loop.DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    batch = torch.randn(ROWS, 512, device=loop.DEVICE)

    def step():
        loss = model(batch).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    return step


PROGRAM = loop.Program(make, ("batch_calls",), 60)

if __name__ == "__main__":
    PROGRAM.run()
