"""Programs with a fault each that no rule had been made for when they were written, with a way to mend it; and one,
looks_for_nan, whose rule was made on CPUs.

    python bench/gpu/further_programs.py measure           milliseconds of a step, with the fault and mended, in turns
    telltale record -- python bench/gpu/further_programs.py NAME [STEPS]

What was promised and gained stands in bench/RESULTS.md. Whoever makes a rule better by one of them should say so there:
it is no longer held back then.
"""

import copy
import io
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np
import torch
from torch import nn
from torch.nn import functional

DEVICE = "cuda"
ROUNDS, STEPS, WARM_UP = 3, 20, 8
Step = Callable[[], None]


class Perceptron(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm, self.wide, self.narrow = nn.LayerNorm(width), nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.narrow(functional.gelu(self.wide(self.norm(x))))


def perceptrons(count: int) -> nn.Module:
    return nn.Sequential(*(Perceptron(512) for _ in range(count))).to(DEVICE)


class Residual(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.first = nn.Sequential(nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))
        self.second = nn.Sequential(nn.GroupNorm(8, channels), nn.SiLU(), nn.Conv2d(channels, channels, 3, padding=1))

    def forward(self, x):
        return x + self.second(self.first(x))


def trained(model: nn.Module, loss: torch.Tensor, optimizer: torch.optim.Optimizer) -> None:
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()


def averaged_weights(mended: bool) -> Step:
    """A diffusion model whose averages are updated parameter by parameter."""
    blocks = (Residual(128) for _ in range(12))
    model = nn.Sequential(nn.Conv2d(3, 128, 3, padding=1), *blocks, nn.Conv2d(128, 3, 3, padding=1)).to(DEVICE)
    average = copy.deepcopy(model).requires_grad_(False)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    x = torch.randn(16, 3, 32, 32, device=DEVICE)

    def step() -> None:
        noise, share = torch.randn_like(x), torch.rand(16, 1, 1, 1, device=DEVICE)
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = functional.mse_loss(model(x * (1 - share) + noise * share), noise)
        trained(model, loss, optimizer)
        with torch.no_grad():
            if mended:
                torch._foreach_lerp_(list(average.parameters()), list(model.parameters()), 0.001)
                return
            for ours, theirs in zip(average.parameters(), model.parameters(), strict=True):
                ours.mul_(0.999).add_(theirs, alpha=0.001)

    return step


def cell_by_cell(mended: bool) -> Step:
    """A recurrent cell that is called for each time step."""
    cell, whole = nn.LSTMCell(256, 256).to(DEVICE), nn.LSTM(256, 256, batch_first=True).to(DEVICE)
    head = nn.Linear(256, 64).to(DEVICE)
    recurrent = whole if mended else cell
    optimizer = torch.optim.Adam([*recurrent.parameters(), *head.parameters()], 1e-3, fused=True)
    x, labels = torch.randn(64, 100, 256, device=DEVICE), torch.randint(0, 64, (64,), device=DEVICE)

    def last_state() -> torch.Tensor:
        if mended:
            return whole(x)[0][:, -1]
        hidden = state = torch.zeros(64, 256, device=DEVICE)
        for moment in range(x.shape[1]):
            hidden, state = cell(x[:, moment], (hidden, state))
        return hidden

    return lambda: trained(head, functional.cross_entropy(head(last_state()), labels), optimizer)


def prepared_on_host(mended: bool) -> Step:
    """Images that the step itself makes floats of on the host, and then copies."""
    layers, channels = [], 3
    for width in (64, 128, 256):
        layers += [nn.Conv2d(channels, width, 3, padding=1, stride=2), nn.BatchNorm2d(width), nn.ReLU()]
        channels = width
    model = nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(256, 100)).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), 0.01, fused=True)
    images = np.random.randint(0, 255, (64, 3, 224, 224), dtype=np.uint8)
    labels, pinned = torch.randint(0, 100, (64,), device=DEVICE), torch.from_numpy(images).pin_memory()

    def step() -> None:
        if mended:
            x = pinned.to(DEVICE, non_blocking=True).float().div_(255).sub_(0.5)
        else:
            x = (torch.from_numpy(images).float() / 255 - 0.5).to(DEVICE)
        trained(model, functional.cross_entropy(model(x), labels), optimizer)

    return step


def watched_gradients(mended: bool) -> Step:
    """The norm of each gradient is read in each step."""
    model, log = perceptrons(16), []
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    x = torch.randn(64, 128, 512, device=DEVICE)

    def step() -> None:
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = model(x).float().square().mean()
        optimizer.zero_grad()
        loss.backward()
        if mended:
            log.append(torch.stack(torch._foreach_norm([each.grad for each in model.parameters()])))
        else:
            log.extend((name, each.grad.norm().item()) for name, each in model.named_parameters())
        optimizer.step()
        del log[:-1000]

    return step


def expert_by_expert(mended: bool) -> Step:
    """A mixture whose experts are called one after the other, for the rows that chose them; mended, all have as many."""
    count, width = 16, 512
    gate = nn.Linear(width, count).to(DEVICE)
    up = nn.Parameter(torch.randn(count, width, 2 * width, device=DEVICE) * 0.02)
    down = nn.Parameter(torch.randn(count, 2 * width, width, device=DEVICE) * 0.02)
    optimizer = torch.optim.AdamW([*gate.parameters(), up, down], 1e-4, fused=True)
    x = torch.randn(4096, width, device=DEVICE)

    def mixed() -> torch.Tensor:
        shares = gate(x).softmax(-1)
        if mended:
            hidden = functional.gelu(torch.bmm(x.view(count, -1, width), up))
            return torch.bmm(hidden, down).view(-1, width) * shares.amax(-1, keepdim=True)
        chosen, out = shares.argmax(-1), torch.zeros_like(x)
        for expert in range(count):
            rows = (chosen == expert).nonzero(as_tuple=True)[0]
            if rows.numel():
                share = shares[rows, expert].unsqueeze(-1)
                out[rows] = functional.gelu(x[rows] @ up[expert]) @ down[expert] * share
        return out

    return lambda: trained(gate, (mixed() - x).square().mean(), optimizer)


def saved_each_step(mended: bool) -> Step:
    """A checkpoint in each step."""
    model = perceptrons(8)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    x = torch.randn(64, 128, 512, device=DEVICE)

    def step() -> None:
        with torch.autocast(DEVICE, torch.bfloat16):
            loss = model(x).float().square().mean()
        trained(model, loss, optimizer)
        if not mended:
            torch.save(model.state_dict(), io.BytesIO())

    return step


def double_precision(mended: bool) -> Step:
    model = nn.Sequential(*(nn.Sequential(nn.Linear(1024, 1024), nn.Tanh()) for _ in range(8))).to(DEVICE)
    kind = torch.float32 if mended else torch.float64
    model.to(kind)
    optimizer = torch.optim.Adam(model.parameters(), 1e-4, fused=True)
    x = torch.randn(8192, 1024, device=DEVICE, dtype=kind)
    return lambda: trained(model, model(x).square().mean(), optimizer)


def growing_cache(mended: bool) -> Step:
    """A decode in plain functions whose cache grows by concatenation; mended, a CUDA graph and a cache of one size."""
    width, heads, depth, batch, tokens = 1024, 16, 12, 4, 32
    layers = [
        tuple(
            part.to(DEVICE, torch.bfloat16)
            for part in (nn.Linear(width, 3 * width), nn.Linear(width, width), Perceptron(width))
        )
        for _ in range(depth)
    ]
    kept = torch.zeros(depth, 2, batch, heads, tokens, width // heads, device=DEVICE, dtype=torch.bfloat16)
    place = torch.zeros(1, dtype=torch.long, device=DEVICE)
    first = torch.randn(batch, 1, width, device=DEVICE, dtype=torch.bfloat16)

    def token(x: torch.Tensor, cache: list | None) -> torch.Tensor:
        for layer, (project, out, perceptron) in enumerate(layers):
            parts = project(x).chunk(3, -1)
            query, key, value = (part.view(batch, 1, heads, -1).transpose(1, 2) for part in parts)
            if cache is None:
                kept[layer, 0].index_copy_(2, place, key)
                kept[layer, 1].index_copy_(2, place, value)
                key, value = kept[layer]
            else:
                if cache[layer] is not None:
                    key, value = torch.cat([cache[layer][0], key], 2), torch.cat([cache[layer][1], value], 2)
                cache[layer] = (key, value)
            mixed = functional.scaled_dot_product_attention(query, key, value)
            x = perceptron(x + out(mixed.transpose(1, 2).reshape(batch, 1, width)))
        return x

    @torch.inference_mode()
    def captured() -> torch.cuda.CUDAGraph:
        stream = torch.cuda.Stream()
        with torch.cuda.stream(stream):
            token(first, None)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            token(first, None)
        return graph

    graph = captured() if mended else None

    @torch.inference_mode()
    def step() -> None:
        cache, x = [None] * depth, first
        for number in range(tokens):
            if graph is not None:
                place.fill_(number)
                graph.replay()
            else:
                x = token(x, cache)
        torch.cuda.synchronize()

    return step


def looks_for_nan(mended: bool) -> Step:
    model = perceptrons(12)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, fused=True)
    x = torch.randn(2048, 512, device=DEVICE)

    def step() -> None:
        with torch.autograd.set_detect_anomaly(not mended):
            trained(model, model(x).square().mean(), optimizer)

    return step


PROGRAMS = {
    make.__name__: make
    for make in (
        averaged_weights,
        cell_by_cell,
        prepared_on_host,
        watched_gradients,
        expert_by_expert,
        saved_each_step,
        double_precision,
        growing_cache,
        looks_for_nan,
    )
}


def mean_ms(step: Step, steps: int) -> float:
    torch.cuda.synchronize()
    began = time.perf_counter()
    for _ in range(steps):
        step()
    torch.cuda.synchronize()
    return 1e3 * (time.perf_counter() - began) / steps


def measure() -> None:
    for name, make in PROGRAMS.items():
        torch.manual_seed(0)
        steps = (make(False), make(True))
        for step in steps:
            mean_ms(step, WARM_UP)
        rounds = [[mean_ms(step, STEPS) for step in steps] for _ in range(ROUNDS)]
        faulty, mended = (statistics.median(times) for times in zip(*rounds, strict=True))
        print(f"{name}: {faulty:.2f} to {mended:.2f} ms, {100 * (1 - mended / faulty):.0f} % gained", flush=True)


def main() -> None:
    if len(sys.argv) < 2 or sys.argv[1] not in (*PROGRAMS, "measure"):
        sys.exit(f"say which: measure, {', '.join(PROGRAMS)}")
    if sys.argv[1] == "measure":
        measure()
        return
    step = PROGRAMS[sys.argv[1]](False)
    for _ in range(int(sys.argv[2]) if len(sys.argv) > 2 else 100):
        step()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
