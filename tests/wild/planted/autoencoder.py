"""An autoencoder whose log has a line on each step: loss, and how full the disk is."""
import argparse
import os
import shutil
import subprocess
import time

import torch
from torch import nn


def room_by_df(folder):
    table = subprocess.check_output(["df", "--output=avail", folder], text=True)
    return int(table.split()[-1]) // 1024


def room_by_library(folder):
    return shutil.disk_usage(folder).free >> 20


class Log:
    def __init__(self, room):
        self.room = room
        self.lines = []

    def write(self, step, loss):
        self.lines.append(f"{step} {loss:.5f} {self.room(os.getcwd())}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=150)
    words = parser.parse_args()

    torch.manual_seed(0)
    model = nn.Sequential(
        nn.Linear(784, 512), nn.ReLU(), nn.Linear(512, 32), nn.ReLU(), nn.Linear(32, 512), nn.ReLU(), nn.Linear(512, 784))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    images = torch.rand(128, 784)
    log = Log(room_by_library if words.fixed else room_by_df)
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        loss = nn.functional.mse_loss(model(images), images)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        log.write(step, loss.item())
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
