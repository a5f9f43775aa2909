"""PyTorch's profiler is at work when ours starts: ours says so and goes on without the GPU, and neither breaks."""

import contextlib
import os
import sys
import tempfile
from pathlib import Path

import torch
from check import DEVICE, claim, figure, synchronize, work_folder
from traces import columns, torch_device_work

import telltale
from telltale._capture import Recording, Wanted

KERNELS = 100


@contextlib.contextmanager
def caught_errors():
    """What is written to standard error meanwhile, by whatever part of the process."""
    with tempfile.TemporaryFile("w+") as file:
        kept = os.dup(2)
        os.dup2(file.fileno(), 2)
        said: list[str] = []
        try:
            yield said
        finally:
            os.dup2(kept, 2)
            os.close(kept)
            file.seek(0)
            said.append(file.read())
            print(said[0], file=sys.stderr)


def main() -> int:
    folder: Path = work_folder()
    x = torch.ones(64, device=DEVICE)

    def work() -> None:
        for _ in range(KERNELS):
            x.add_(1)
        synchronize()

    work()
    activities = [torch.profiler.ProfilerActivity.CPU, torch.profiler.ProfilerActivity.CUDA]
    theirs = torch.profiler.profile(activities=activities)
    theirs.start()
    ours = Recording(str(folder / "beside.tell"), Wanted(**gpu_wanted()))
    with caught_errors() as said:
        ours.prepare()
        ours.start()
        work()
        statistics = ours.stop()
    work()
    theirs.stop()
    theirs.export_chrome_trace(str(folder / "theirs.json"))

    told = [line for line in said[0].splitlines() if line.startswith("telltale:")]
    claim(
        "another profiler: ours says so in one line",
        len(told) == 1 and "profiler" in told[0],
        " / ".join(told)[:200] or "nothing said",
        "1 line",
    )
    kernels = sum(work.kind == "kernel" for work in torch_device_work(folder / "theirs.json"))
    claim("another profiler: kernels in its trace", kernels == 2 * KERNELS, str(kernels), str(2 * KERNELS))
    events = columns(telltale.load(folder / "beside.tell").events())
    operators = events["name"].count("aten::add_")
    claim(
        "another profiler: operators in our recording",
        operators == KERNELS,
        f"{operators}, {statistics.get('dropped')} dropped",
        str(KERNELS),
    )
    figure("another profiler: kernels in our recording", str(events["kind"].count("kernel")))
    work()
    added, wanted = int(x.min()) - 1, 4 * KERNELS  # before, beside, behind it, and once both have ended
    claim("another profiler: the process goes on", added == int(x.max()) - 1 == wanted, str(added), str(wanted))
    return 0


def gpu_wanted() -> dict[str, bool]:
    """What asks for the GPU where the engine leaves that to its users."""
    return {name: True for name in ("cuda",) if name in Wanted.__dataclass_fields__}


if __name__ == "__main__":
    sys.exit(main())
