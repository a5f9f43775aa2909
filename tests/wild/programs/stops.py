"""Trains until it is told to stop, then finishes what it does. A second signal would make it leave at once."""
import signal
import sys
import time

import torch

told = 0


def stop(*_):
    global told
    told += 1
    if told > 1:
        sys.exit("forced")


signal.signal(signal.SIGTERM, stop)
signal.signal(signal.SIGINT, stop)
model = torch.nn.Linear(8, 8)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
began = time.monotonic()
print("ready", flush=True)
while not told and time.monotonic() - began < 60:
    loss = model(torch.ones(2, 8)).square().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    time.sleep(0.005)
time.sleep(0.5)
torch.save(model.state_dict(), "last.pt")
print("stopped after", told, "signal")
