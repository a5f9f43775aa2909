"""A recorded process that is killed: its file reads, and has kernels up to shortly before."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from check import IS_DRY, TELLTALE, at_most, claim, keep, work_folder
from traces import columns

import telltale

HERE = Path(__file__).resolve().parent
SECONDS = 5  # of recorded steps
PATIENCE = 60
MOST_LOST_S = 1.0


def last_beat_with(kinds: tuple[str, ...], path: Path) -> tuple[int, int, int]:
    """The time of the last step that has work of these kinds, how much such work there is, and of how many steps."""
    events = columns(telltale.load(path).events())
    beats, works = {}, 0
    for row, kind in enumerate(events["kind"]):
        if kind not in kinds:
            continue
        works += 1
        around = events["cause"][row] if kind == "kernel" else row
        while around is not None:
            if events["name"][around].startswith("beat "):
                beats[events["name"][around]] = True
                break
            around = events["parent"][around]
    return max((int(beat.split()[1]) for beat in beats), default=0), works, len(beats)


def main() -> int:
    folder = work_folder()
    path = folder / "killed.tell"
    command = [
        TELLTALE,
        "record",
        "--engine",
        "telltale",
        "--no-pauses",
        "-o",
        str(path),
        "--",
        sys.executable,
        str(HERE / "scripts" / "beats.py"),
    ]
    print("$", " ".join(command), flush=True)
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder)
    beats, pid, began, deadline = 0, 0, None, time.monotonic() + PATIENCE
    for line in process.stdout:
        if not line.startswith("beat"):
            print(line, end="")
        else:
            beats, pid = beats + 1, int(line.split()[1])
            began = began or time.monotonic()
        if (began and time.monotonic() > began + SECONDS) or time.monotonic() > deadline:
            break
    if not pid:
        process.kill()
        raise RuntimeError("the program never began to work")
    killed_at = time.time_ns()
    os.kill(pid, signal.SIGKILL)
    print(process.communicate(timeout=PATIENCE)[0], flush=True)
    claim(
        "kill -9: exit status of telltale record",
        process.returncode == 128 + signal.SIGKILL,
        str(process.returncode),
        "137",
    )
    claim("kill -9: there is a file", path.is_file(), str(path.is_file()))
    last, kernels, steps = last_beat_with(("operator",) if IS_DRY else ("kernel",), path)
    claim(
        "kill -9: kernels in the file, of steps",
        kernels > 0 and steps > 0.5 * beats,
        f"{kernels}, of {steps}; {beats} were printed",
        "> half",
    )
    at_most("kill -9: from the last step with kernels to the kill", (killed_at - last) / 1e9, MOST_LOST_S, " s")
    answer = subprocess.run([TELLTALE, "info", str(path)], capture_output=True, text=True)
    print(answer.stdout, answer.stderr)
    claim("kill -9: exit status of telltale info", answer.returncode == 0, str(answer.returncode), "0")
    keep(path)
    return 0


if __name__ == "__main__":
    sys.exit(main())
