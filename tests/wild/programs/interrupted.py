"""Trains until Ctrl-C, whose traceback is the user's."""
import time

import torch

model = torch.nn.Linear(8, 8)
print("ready", flush=True)
try:
    for _ in range(600):
        model(torch.ones(2, 8)).square().sum().backward()
        time.sleep(0.1)
finally:
    print("cleaned up")
