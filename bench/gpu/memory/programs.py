"""Twelve small programs whose memory is known by construction; one is run with ``python programs.py NAME``.

Each takes a batch size, uses one to four GiB at most, and runs for a few steps. The last line of its output is JSON:
what torch itself counted, whether memory ran out, and what the program knows of its own peak: the bytes of parameters,
and between which bytes of gradients and of the optimizer's state it was reached.
"""

import argparse
import json

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint

MIB = 1 << 20
STEPS = 6
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"  # without a GPU only to try the programs out


def bytes_on_gpu(mebibytes):
    return torch.empty(int(mebibytes * MIB), dtype=torch.uint8, device=DEVICE)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.up = nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x):
        return x + self.down(torch.nn.functional.gelu(self.up(x)))


def size_of(tensors):
    return sum(each.numel() * each.element_size() for each in tensors if each is not None)


class Known:
    """What stood there when most was allocated, counted by the program itself wherever it is called."""

    def __init__(self, model, optimizer=None):
        self.parameters = list(model.parameters())
        self.optimizer = optimizer
        self.peak = 0
        self.before = self.count()
        self.at_peak = {}
        self.is_fresh = False  # whether the last look found a new peak
        for each in self.parameters:
            each.register_post_accumulate_grad_hook(lambda _: self.look())

    def count(self):
        state = self.optimizer.state.values() if self.optimizer else ()
        return {
            "gradients": size_of(each.grad for each in self.parameters),
            "optimizer_state": size_of(t for of_one in state for t in of_one.values() if t.device.type == DEVICE),
        }

    def look(self):
        """The peak, if it rose since the last look, lies between what was counted then and what is counted now. What
        an operator has just made counts as a gradient with the next look only, so that this one still widens it."""
        now = self.count()
        peak = torch.cuda.max_memory_allocated() if DEVICE == "cuda" else self.peak + 1
        if peak > self.peak:
            self.peak = peak
            own = size_of(self.parameters)
            self.at_peak = {name: sorted((self.before[name], now[name])) for name in now} | {"parameters": [own, own]}
            self.is_fresh = True
        elif self.is_fresh:
            for name, size in now.items():
                self.at_peak[name][1] = max(self.at_peak[name][1], size)
            self.is_fresh = False
        self.before = now


def network(width=1024, depth=6):
    return nn.Sequential(*(Block(width) for _ in range(depth))).to(DEVICE)


def steps(model, batch, forward=None, keep=None, sizes=None):
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-4)
    known = Known(model, optimizer)
    for step in range(STEPS):
        rows = batch * (sizes[step % len(sizes)] if sizes else 1)
        x = torch.randn(rows, 128, 1024, device=DEVICE)
        loss = (forward or model)(x).square().mean()
        known.look()
        loss.backward()
        known.look()
        optimizer.step()
        known.look()
        optimizer.zero_grad(set_to_none=True)
        if keep is not None:
            keep(step, x, loss)
        known.look()
    return known.at_peak


def train(batch):
    return steps(network(), batch)


def decode(batch):
    layers = [nn.Linear(1024, 3 * 1024).to(DEVICE) for _ in range(8)]
    cache = [None] * len(layers)
    with torch.no_grad():
        for _ in range(96):
            x = torch.randn(batch, 1, 1024, device=DEVICE)
            for i, layer in enumerate(layers):
                query, key, value = layer(x).chunk(3, dim=-1)
                new = torch.stack([key, value])
                cache[i] = new if cache[i] is None else torch.cat([cache[i], new], dim=2)
                keys, values = cache[i]
                x = torch.softmax(query @ keys.transpose(1, 2), dim=-1) @ values


def checkpointed(batch):
    model = network()

    def forward(x):
        for block in model:
            x = checkpoint(block, x, use_reentrant=False)
        return x

    return steps(model, batch, forward)


def fragmented_by_live_blocks(batch):
    kept = []
    for _ in range(24):
        large = bytes_on_gpu(6 * batch / 16)
        kept.append(bytes_on_gpu(2))
        del large
        wide = bytes_on_gpu(16 * batch / 16)
        del wide


def fragmented_by_growing_sizes(batch):
    for size in range(24, 200, 6):
        grown = bytes_on_gpu(size * batch / 16)
        del grown


def fragmented_by_streams(batch):
    streams = [torch.cuda.Stream() for _ in range(4)]
    for stream in streams:
        with torch.cuda.stream(stream):
            own = bytes_on_gpu(128 * batch / 16)
        stream.synchronize()
        del own
    return steps(network(depth=2), batch)


def leaking_losses(batch):
    losses = []
    return steps(network(depth=3), batch, keep=lambda _step, _x, loss: losses.append(loss))


def leaking_graphs(batch):
    model, kept = network(depth=2), []
    for _ in range(STEPS):
        x = torch.randn(batch, 128, 1024, device=DEVICE)
        kept.append(model(x).square().mean())


def leaking_cache(batch):
    cache = {}
    return steps(network(depth=3), batch, keep=lambda step, x, _loss: cache.__setitem__(step, x))


class GrowingDataset(torch.utils.data.Dataset):
    def __init__(self):
        self.seen = []

    def __len__(self):
        return 256

    def __getitem__(self, _index):
        self.seen.append(torch.zeros(MIB // 4))
        return torch.randn(128, 1024)


def leaking_worker(batch):
    model = network(depth=2)
    for x in torch.utils.data.DataLoader(GrowingDataset(), batch_size=min(batch, 32), num_workers=1):
        model(x.to(DEVICE)).square().mean().backward()
        model.zero_grad(set_to_none=True)


def spikes(batch):
    return steps(network(depth=3), batch, sizes=(1, 1, 3))


def out_of_memory(batch):
    kept = []
    return steps(network(depth=3), batch, keep=lambda _step, x, _loss: kept.append(x.repeat(4, 1, 1)))


PROGRAMS = {
    each.__name__: each
    for each in (
        train,
        decode,
        checkpointed,
        fragmented_by_live_blocks,
        fragmented_by_growing_sizes,
        fragmented_by_streams,
        leaking_losses,
        leaking_graphs,
        leaking_cache,
        leaking_worker,
        spikes,
        out_of_memory,
    )
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=PROGRAMS)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--limit", type=int, help="bytes that the allocator may reserve")
    parser.add_argument("--snapshot", help="where to write the log of the allocator")
    arguments = parser.parse_args()
    torch.manual_seed(0)
    if arguments.snapshot:
        torch.cuda.memory._record_memory_history(max_entries=2_000_000, stacks="python")
    if arguments.limit:
        total = torch.cuda.get_device_properties(0).total_memory
        torch.cuda.set_per_process_memory_fraction(arguments.limit / total)
    ran_out, known = False, None
    try:
        known = PROGRAMS[arguments.name](arguments.batch)
    except torch.cuda.OutOfMemoryError:
        ran_out = True
    if arguments.snapshot:
        torch.cuda.memory._dump_snapshot(arguments.snapshot)
    print(
        json.dumps(
            {
                "reserved": torch.cuda.max_memory_reserved(),
                "allocated": torch.cuda.max_memory_allocated(),
                "ran_out": ran_out,
                "known": known or {},
            }
        )
    )


if __name__ == "__main__":
    main()
