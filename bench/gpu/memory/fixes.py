"""Programs that waste memory, each with its fix: ``python fixes.py NAME [--fixed]``.

Each is named after the rule that should find it. The last line of the output is JSON: what torch itself counted.
"""

import argparse
import json

import torch
from programs import DEVICE, Block, bytes_on_gpu, network
from torch import nn
from torch.nn import functional
from torch.utils.checkpoint import checkpoint

STEPS = 6
WIDTH = 768


def train(model, loss_of, free_late=False, optimizer_of=torch.optim.AdamW):
    """`loss_of(step)` gives the losses of a step, which are added up; a generator makes one after the other."""
    optimizer = optimizer_of(model.parameters(), lr=1e-4)
    for step in range(STEPS):
        for loss in loss_of(step):
            if free_late:
                optimizer.zero_grad()
            loss.backward()
        optimizer.step()
        if not free_late:
            optimizer.zero_grad()


def recompute_activations(fixed):
    model = network(width=WIDTH, depth=8)

    def losses(_step):
        x = torch.randn(64, 128, WIDTH, device=DEVICE)
        for block in model:
            x = checkpoint(block, x, use_reentrant=False) if fixed else block(x)
        yield x.square().mean()

    train(model, losses)


def wide_activations(fixed):
    model = network(width=WIDTH, depth=6)

    def losses(_step):
        x = torch.randn(64, 128, WIDTH, device=DEVICE)
        with torch.autocast(DEVICE, dtype=torch.bfloat16, enabled=fixed):
            out = model(x)
        yield out.float().square().mean()

    train(model, losses)


class Attention(nn.Module):
    def __init__(self, heads=12, is_fused=False):
        super().__init__()
        self.heads = heads
        self.is_fused = is_fused
        self.mix = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)

    def forward(self, x):
        batch, length, _ = x.shape
        query, key, value = (
            part.view(batch, length, self.heads, -1).transpose(1, 2) for part in self.mix(x).chunk(3, dim=-1)
        )
        if self.is_fused:
            mixed = functional.scaled_dot_product_attention(query, key, value)
        else:
            scores = query @ key.transpose(-2, -1) / (WIDTH // self.heads) ** 0.5
            mixed = torch.softmax(scores, dim=-1) @ value
        return x + self.out(mixed.transpose(1, 2).reshape(batch, length, -1))


def written_attention(fixed):
    model = nn.Sequential(*(Attention(is_fused=fixed) for _ in range(4))).to(DEVICE)

    def losses(_step):
        yield model(torch.randn(8, 1024, WIDTH, device=DEVICE)).square().mean()

    train(model, losses)


def whole_logits(fixed, words=32_000):
    model = nn.Sequential(nn.Embedding(words, WIDTH), Block(WIDTH), nn.Linear(WIDTH, words)).to(DEVICE)
    embedding, block, head = model

    def loss_of(hidden, targets):
        return functional.cross_entropy(head(hidden), targets, reduction="sum")

    def losses(_step):
        tokens = torch.randint(words, (8 * 1024,), device=DEVICE)
        hidden = block(embedding(tokens))
        if fixed:
            pieces = zip(hidden.chunk(8), tokens.chunk(8), strict=True)
            yield sum(checkpoint(loss_of, *piece, use_reentrant=False) for piece in pieces)
        else:
            yield loss_of(hidden, tokens)

    train(model, losses)


def kept_gradients(fixed):
    """By an optimizer without state or temporaries, so that the peak is behind the forward pass."""
    model = network(width=2048, depth=4)

    def losses(_step):
        yield model(torch.randn(16, 128, 2048, device=DEVICE)).square().mean()

    train(model, losses, free_late=not fixed, optimizer_of=lambda *a, **k: torch.optim.SGD(*a, **k, foreach=False))


def whole_batch(fixed):
    model = network(width=WIDTH, depth=4)

    def losses(_step):
        for _ in range(2 if fixed else 1):
            yield model(torch.randn(32 if fixed else 64, 128, WIDTH, device=DEVICE)).square().mean()

    train(model, losses)


def allocator_settings(_fixed):
    """The fix is the setting that the finding names, which the caller sets."""
    for _ in range(3):
        for size in range(24, 200, 6):
            grown = bytes_on_gpu(size)
            del grown


def memory_leak(fixed):
    model, seen = network(width=WIDTH, depth=3), []

    def losses(_step):
        x = torch.randn(64, 128, WIDTH, device=DEVICE)
        loss = model(x).square().mean()
        if not fixed:
            seen.append(x)
        yield loss

    train(model, losses)


def memory_spike(fixed):
    """Each sample is compared with each other one, for a metric that nothing is kept for."""
    model = network(width=WIDTH, depth=2)

    def losses(_step):
        out = model(torch.randn(128, 128, WIDTH, device=DEVICE))
        with torch.no_grad():
            rows = out.view(-1, WIDTH)
            for some in rows.chunk(8) if fixed else (rows,):
                (some @ rows.T).amax(dim=1)
        yield out.square().mean()

    train(model, losses)


def optimizer_memory(fixed):
    """Wide layers and a small batch, so that the optimizer's temporaries make the peak."""
    model = network(width=2048, depth=4)

    def losses(_step):
        yield model(torch.randn(2, 128, 2048, device=DEVICE)).square().mean()

    train(model, losses, optimizer_of=lambda *a, **k: torch.optim.AdamW(*a, **k, **({"fused": True} if fixed else {})))


def unused_segments(fixed):
    """Buffers on streams of their own, whose segments nothing else may use."""
    for _ in range(4):
        stream = torch.cuda.current_stream() if fixed else torch.cuda.Stream()
        with torch.cuda.stream(stream):
            own = bytes_on_gpu(128)
        stream.synchronize()
        del own
    model = network(depth=2)

    def losses(_step):
        yield model(torch.randn(16, 128, 1024, device=DEVICE)).square().mean()

    train(model, losses)


FIXES = {
    each.__name__: each
    for each in (
        recompute_activations,
        wide_activations,
        written_attention,
        whole_logits,
        kept_gradients,
        whole_batch,
        allocator_settings,
        memory_leak,
        memory_spike,
        optimizer_memory,
        unused_segments,
    )
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=FIXES)
    parser.add_argument("--fixed", action="store_true")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    FIXES[arguments.name](arguments.fixed)
    peaks = {"reserved": torch.cuda.max_memory_reserved(), "allocated": torch.cuda.max_memory_allocated()}
    print(json.dumps(peaks if DEVICE == "cuda" else {}))


if __name__ == "__main__":
    main()
