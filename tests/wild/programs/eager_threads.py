"""Trains in a thread that is no main thread, while another one evaluates."""
import threading

import torch

torch.manual_seed(0)
model = torch.nn.Linear(16, 16)
seen = []


def train():
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    for _ in range(40):
        loss = model(torch.ones(4, 16)).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()


def evaluate():
    with torch.no_grad():
        for _ in range(40):
            seen.append(model(torch.zeros(1, 16)).shape)


threads = [threading.Thread(target=train), threading.Thread(target=evaluate)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(seen), "evaluations")
