"""Becomes a daemon, which computes without a terminal, a folder or standard streams of its own."""
import os
import sys

import torch

reader, writer = os.pipe()
if os.fork():
    os.close(writer)
    print(os.read(reader, 100).decode())
    sys.exit(0)
if os.fork():
    os._exit(0)
os.chdir("/")
os.umask(0)
nothing = os.open(os.devnull, os.O_RDWR)
for number in range(3):
    os.dup2(nothing, number)
layer = torch.nn.Linear(64, 64)
for _ in range(50):
    layer(torch.randn(8, 64)).sum().backward()
os.write(writer, b"the daemon has computed")
