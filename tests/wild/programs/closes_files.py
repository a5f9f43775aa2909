"""Closes all files that it does not know before it goes on, as daemons do."""
import os

import torch

layer, batch = torch.nn.Linear(256, 256), torch.randn(64, 256)
for _ in range(40):
    layer(batch).sum().backward()
os.closerange(3, 4096)
files = [open(os.devnull) for _ in range(20)]
for _ in range(40):
    layer(batch).sum().backward()
for file in files:
    file.close()
print("done", [os.path.exists(f"/proc/self/fd/{number}") for number in range(3)])
