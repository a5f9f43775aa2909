"""Forks in the middle: the child computes on, the parent waits for it and reads what it found."""
import os

import torch

torch.set_num_threads(1)
x = torch.ones(64, 64)
for _ in range(20):
    x = x @ x / 64
read, write = os.pipe()
child = os.fork()
if child == 0:
    for _ in range(20):
        x = x @ x / 64
    os.write(write, f"{x.sum():.0f}".encode())
    raise SystemExit(7)
os.close(write)
_, status = os.waitpid(child, 0)
print("child said", os.read(read, 100).decode(), "and left with", os.waitstatus_to_exitcode(status))
