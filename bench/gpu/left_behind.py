"""What a recording leaves behind: the step before the first one and after the last, beside torch.profiler's own figure.

Each round is a process: steps, nothing for a while, steps, three recordings of ours, the same again, one of
torch.profiler, steps. What a step takes is the least of the medians of many blocks, since the host is not alone on its
machine, and before and after ours of two stretches each, so that one that was slow hides nothing.
"""

import argparse
import json
import statistics
import subprocess
import sys
import time

from models import small_training

from check import IS_DRY, IS_QUICK, claim, figure, synchronize, time_left_s  # isort: skip

ROUNDS = 1 if IS_DRY or IS_QUICK else 3
BLOCKS, STEPS = (2, 5) if IS_DRY else (12, 20)
LIMIT_PERCENT = 3


def one_round() -> dict[str, float]:
    import telltale.torch
    import torch

    step = small_training()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]

    def step_ms() -> float:
        medians = []
        for _ in range(BLOCKS):
            times = []
            for _ in range(STEPS):
                synchronize()
                began = time.perf_counter()
                step()
                synchronize()
                times.append(time.perf_counter() - began)
            medians.append(statistics.median(times))
        return 1e3 * min(medians)

    def record(profiler, recordings: int) -> None:
        for _ in range(recordings):
            with profiler.profile(activities=activities):
                for _ in range(10):
                    step()
                synchronize()

    step_ms()
    figures = {"first": step_ms()}
    time.sleep(0.2)
    figures["second"] = step_ms()
    figures["before"] = min(figures["first"], figures["second"])
    record(telltale.torch, 3)
    after = step_ms()
    time.sleep(0.2)
    figures["after ours"] = min(after, step_ms())
    record(torch.profiler, 1)
    figures["after torch.profiler"] = step_ms()
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--round", action="store_true", help="one of them, in this process")
    if parser.parse_args().round:
        print(json.dumps(one_round()))
        return 0
    rounds: list[dict[str, float]] = []
    longest = 0.0
    while len(rounds) < ROUNDS and (not rounds or longest < time_left_s()):
        began = time.monotonic()
        done = subprocess.run([sys.executable, __file__, "--round"], stdout=subprocess.PIPE, text=True, check=True)
        rounds.append(json.loads(done.stdout.splitlines()[-1]))
        print(rounds[-1], flush=True)
        longest = max(longest, time.monotonic() - began)

    def change(earlier: str, later: str) -> float:
        return 100 * (statistics.median(each[later] / each[earlier] for each in rounds) - 1)

    ours = change("before", "after ours")
    figure(
        "a step without a recording, twice",
        f"{rounds[0]['first']:.3f} and {rounds[0]['second']:.3f} ms, {change('first', 'second'):+.1f} %",
    )
    claim(
        "a step after our recordings, to before",
        ours <= LIMIT_PERCENT,
        f"{ours:+.1f} %, {len(rounds)} rounds",
        f"≤ {LIMIT_PERCENT} %",
    )
    figure("a step after torch.profiler's, to before it", f"{change('after ours', 'after torch.profiler'):+.1f} %")
    return 0


if __name__ == "__main__":
    sys.exit(main())
