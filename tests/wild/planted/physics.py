"""Simulates many particles in a field and fits the field's strength to where they end up."""
import argparse
import time

import torch


def force(position, velocity, strength):
    distance = torch.sqrt(position * position + 0.01)
    pull = -strength * position / (distance * distance * distance)
    drag = -0.1 * velocity * torch.abs(velocity) / (1.0 + torch.exp(-distance))
    return pull + drag + 0.01 * torch.sin(3.0 * position) * torch.cos(2.0 * velocity)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--fixed", action="store_true")
    parser.add_argument("--steps", type=int, default=50)
    words = parser.parse_args()

    torch.manual_seed(0)
    law = torch.compile(force) if words.fixed else force
    strength = torch.full((200_000,), 0.5, requires_grad=True)
    optimizer = torch.optim.SGD([strength], lr=0.01)
    position, velocity = torch.randn(200_000), torch.zeros(200_000)
    for step in range(words.steps):
        if step == 5:
            began = time.perf_counter()
        now, speed = position, velocity
        for _ in range(2):
            speed = speed + 0.01 * law(now, speed, strength)
            now = now + 0.01 * speed
        loss = now.square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    took = (time.perf_counter() - began) / (words.steps - 5)
    print(f"{1e3 * took:.3f} ms per step")


main()
