"""What recording memory in depth adds to a step with many small tensors, beside torch's own history of memory with its
stacks, in the same run.

Blocks without and with the recording of memory alternate; what both of ours record besides does not count. torch's
history comes in a process of its own, with plain blocks between. Without a GPU, torch.profiler with memory and stacks
stands in for the history, which is CUDA's alone, and blocks count by processor time of all threads.
"""

import argparse
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "gpu"))
from check import DEVICE, IS_DRY, IS_QUICK, at_most, claim, figure, synchronize, time_left_s  # isort: skip

TURNS = 4 if IS_DRY or IS_QUICK else 16
LEAST_TURNS = 3
STEPS = 20  # in a block
OPERATORS = 200  # in a forward pass
PEER = "torch.profiler(profile_memory, with_stack)" if IS_DRY else "_record_memory_history(stacks='python')"
now = time.process_time if IS_DRY else time.perf_counter


def small_step() -> Callable[[], None]:
    """Forward, backward and an optimizer's step, of which little is work."""
    model = torch.nn.Sequential(*(torch.nn.Linear(16, 16) for _ in range(8))).to(DEVICE)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)
    x = torch.ones(4, 16, device=DEVICE)

    def step() -> None:
        optimizer.zero_grad()
        y = model(x)
        for _ in range(OPERATORS):
            y = y + 1
        y.sum().backward()
        optimizer.step()

    return step


@contextlib.contextmanager
def recorded(memory: bool) -> Iterator[None]:
    """As `telltale record` does it."""
    from telltale._capture import Recording, Wanted

    with tempfile.TemporaryDirectory() as folder:
        wanted = Wanted(shapes=True, samples=True, load=True, find_steps=True, cuda=not IS_DRY, memory=memory)
        recording = Recording(f"{folder}/cost.tell", wanted)
        recording.prepare()
        recording.start()
        try:
            yield
        finally:
            recording.stop()


@contextlib.contextmanager
def peer() -> Iterator[None]:
    if IS_DRY:
        with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU], profile_memory=True, with_stack=True
        ):
            yield
        return
    torch.cuda.memory._record_memory_history(stacks="python")
    try:
        yield
    finally:
        torch.cuda.memory._record_memory_history(enabled=None)


def block(step: Callable[[], None]) -> float:
    """Seconds of a step."""
    step()
    step()
    synchronize()
    began = now()
    for _ in range(STEPS):
        step()
    synchronize()
    return (now() - began) / STEPS


def one_process(who: str) -> dict[str, list[float]]:
    step = small_step()
    block(step)
    blocks: dict[str, list[float]] = {"without": [], "with": []}
    longest = 0.0
    for turn in range(TURNS):
        turn_began = time.monotonic()
        if turn >= LEAST_TURNS and longest > time_left_s():
            break
        if who == "ours":
            with recorded(memory=False):
                blocks["without"].append(block(step))
            with recorded(memory=True):
                blocks["with"].append(block(step))
        else:
            blocks["without"].append(block(step))
            with peer():
                blocks["with"].append(block(step))
        longest = max(longest, time.monotonic() - turn_began)
    return blocks


def added_by(who: str, share: float) -> tuple[float, float]:
    """Seconds that memory adds to a step, and the step without it; in a share of the time that is left."""
    done = subprocess.run(
        [sys.executable, __file__, "--process", who],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        env={**os.environ, "GPU_CHECK_UNTIL": str(time.monotonic() + share * time_left_s())},
    )
    blocks = json.loads(done.stdout.splitlines()[-1])
    for name, times in blocks.items():
        print(who, name, " ".join(f"{1e6 * each:.0f}" for each in times), "µs", flush=True)
    added = statistics.median(b - a for a, b in zip(blocks["without"], blocks["with"], strict=True))
    return added, statistics.median(blocks["without"])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--process", choices=["ours", "torch"], help="one of them: this one")
    words = parser.parse_args()
    if words.process:
        print(json.dumps(one_process(words.process)))
        return 0
    ours, recorded_step = added_by("ours", 0.5)
    theirs, plain_step = added_by("torch", 1)
    figure("a step of small tensors: --memory adds", f"{1e6 * ours:.0f} µs to {1e6 * recorded_step:.0f}")
    figure(f"a step of small tensors: {PEER} adds", f"{1e6 * theirs:.0f} µs to {1e6 * plain_step:.0f}")
    if theirs <= 0 or ours <= 0:
        measured = f"{1e6 * ours:.0f} and {1e6 * theirs:.0f} µs"
        claim("a step of small tensors: what both add was measured", False, measured)
        return 1
    at_most("a step of small tensors: --memory, to what torch's own history adds", ours / theirs, 0.5)
    return 0


if __name__ == "__main__":
    sys.exit(main())
