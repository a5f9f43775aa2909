"""Trains without an end; each step is called after the time at which it began, which a killed process cannot tell any
more."""

import os
import time

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"
model = torch.nn.Linear(256, 256).to(device)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
batch = torch.randn(64, 256, device=device)
while True:
    with torch.profiler.record_function(f"beat {time.time_ns()}"):
        optimizer.zero_grad()
        model(batch).square().mean().backward()
        optimizer.step()
    if device == "cuda":
        torch.cuda.synchronize()
    print("beat", os.getpid(), flush=True)
    time.sleep(0.01)
