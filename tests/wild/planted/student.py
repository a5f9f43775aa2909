"""A deep, narrow network with a teacher whose weights follow its own slowly."""
import argparse
import copy
import time

import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.up = nn.Linear(width, width)
        self.down = nn.Linear(width, width)

    def forward(self, x):
        return x + self.down(torch.relu(self.up(self.norm(x))))


@torch.no_grad()
def follow(teacher, student, rate):
    for theirs, ours in zip(teacher.parameters(), student.parameters()):
        theirs.data = theirs.data * rate + ours.data * (1 - rate)


@torch.no_grad()
def follow_all(teacher, student, rate):
    torch._foreach_lerp_(list(teacher.parameters()), list(student.parameters()), 1 - rate)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=120)
    words = parser.parse_args()

    torch.manual_seed(0)
    student = nn.Sequential(*(Block(64) for _ in range(24)), nn.Linear(64, 64))
    teacher = copy.deepcopy(student)
    optimizer = torch.optim.SGD(student.parameters(), lr=0.01)
    update = follow_all if words.fixed else follow
    batch = torch.randn(16, 64)
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        with torch.no_grad():
            wanted = teacher(batch)
        loss = nn.functional.mse_loss(student(batch + 0.1 * torch.randn_like(batch)), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update(teacher, student, 0.99)
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
