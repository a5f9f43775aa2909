"""What the checks of tools/gpu_check are written with: claims and figures, the device, folders, memory of the process.

A check is a script. What it claims goes to standard output and, line by line, to the file that GPU_CHECK_ROWS names, so
that a check that crashes or is killed leaves what it had found. What repeats its measurements looks at the time that is
left, which GPU_CHECK_UNTIL tells, and what it does not come to any more, it says. With GPU_CHECK_DRY=1 it runs without
a GPU: what it does is tried, and what it claims means nothing.
"""

import json
import os
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
IS_DRY = os.environ.get("GPU_CHECK_DRY") == "1"
IS_QUICK = os.environ.get("GPU_CHECK_QUICK") == "1"
DEVICE = "cpu" if IS_DRY else "cuda"
TELLTALE = os.environ.get("TELLTALE", str(ROOT / "build" / "bin" / "telltale"))
MIB = 1 << 20
MOST_NAMED, MOST_LETTERS = 3, 60  # of what differs, in the table; the output has more of it, with its whole names


def claim(what: str, is_true: bool, measured: str, limit: str = "") -> bool:
    """A row of the table, which fails where the claim is not true."""
    _tell(
        {
            "what": what,
            "status": "DRY" if IS_DRY else "PASS" if is_true else "FAIL",
            "measured": measured,
            "limit": limit,
        }
    )
    return is_true


def aim(what: str, is_reached: bool, measured: str, limit: str) -> None:
    """A row for what we aim at and cannot promise: MISS, where it is not reached, does not fail the check."""
    status = "DRY" if IS_DRY else "PASS" if is_reached else "MISS"
    _tell({"what": what, "status": status, "measured": measured, "limit": limit})


def figure(what: str, measured: str) -> None:
    """A row that no limit belongs to."""
    _tell({"what": what, "status": "DRY" if IS_DRY else "", "measured": measured, "limit": ""})


def left_out(what: str, how_to_run_it: str) -> None:
    """A row for what there is no time for."""
    _tell({"what": what, "status": "LEFT", "measured": f"no time was left: {how_to_run_it}", "limit": ""})


def time_left_s() -> float:
    """Until all claims must have been made; CLOCK_MONOTONIC is that of all processes."""
    return float(os.environ.get("GPU_CHECK_UNTIL", "inf")) - time.monotonic()


def skip(what: str, why: str) -> None:
    _tell({"what": what, "status": "SKIP", "measured": why, "limit": ""})


def at_most(what: str, value: float, limit: float, unit: str = "", digits: int = 2) -> bool:
    return claim(what, value <= limit, f"{value:.{digits}f}{unit}", f"≤ {limit:.3g}{unit}")


def within_percent(what: str, value: float, wanted: float, percent: float, unit: str) -> bool:
    """How far a value is from the one that it should have."""
    off = 100 * (value / wanted - 1) if wanted else (0.0 if value == wanted else float("inf"))
    return claim(what, abs(off) <= percent, f"{value:.4g} and {wanted:.4g}{unit}: {off:+.2f} %", f"± {percent:g} %")


def same_counts(what: str, ours: dict, theirs: dict, fewest: int = 1) -> bool:
    """Whether both have the same things as often. Says what differs, the first few of it below the row."""
    differing = {
        key: (ours.get(key, 0), theirs.get(key, 0))
        for key in {*ours, *theirs}
        if ours.get(key, 0) != theirs.get(key, 0)
    }
    for key, (our, their) in sorted(differing.items(), key=str)[:20]:
        print(f"  {our} and {their}: {key}")
    total = sum(ours.values())
    measured = f"{total} and {sum(theirs.values())}, {len(differing)} differ"
    is_same = claim(what, not differing and total >= fewest, measured, "equal")
    for key, (our, their) in sorted(differing.items(), key=str)[:MOST_NAMED]:
        figure(f"{what}, differing", f"{our} and {their}: {short(key)}")
    return is_same


def short(key: object) -> str:
    """What tells a row apart in a table that has no room for the names of kernels."""

    def cut(text: str) -> str:
        for common in ("void ", "at::native::", "(anonymous namespace)::", "at::"):
            text = text.replace(common, "")
        return text if len(text) <= MOST_LETTERS else text[: MOST_LETTERS - 1] + "…"

    return ", ".join(cut(str(part)) or "none" for part in (key if isinstance(key, tuple) else (key,)))


def _tell(row: dict) -> None:
    print(f"[{row['status'] or 'note'}] {row['what']}: {row['measured']}  {row['limit']}", flush=True)
    path = os.environ.get("GPU_CHECK_ROWS")
    if path:
        with open(path, "a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")


def work_folder() -> Path:
    """For files of this check; tools/gpu_check removes it."""
    named = os.environ.get("GPU_CHECK_FOLDER")
    return Path(named) if named else Path(tempfile.mkdtemp(prefix="gpu_check_"))


def keep(path: Path | str, name: str = "") -> None:
    """Has a file brought home with the results, so that what failed can be looked at elsewhere."""
    kept, path = os.environ.get("GPU_CHECK_KEPT"), Path(path)
    if kept and path.is_file():
        shutil.copyfile(path, Path(kept) / (name or path.name))


def run(command: list[str], limit_s: float) -> subprocess.CompletedProcess:
    """Runs it to its end and prints what it said; 124 is the exit status of one that took too long."""
    print("$", " ".join(command), flush=True)
    # Into a file: a pipe would stay open as long as anything that the command started.
    with tempfile.TemporaryFile("w+b") as output:
        variables = {**os.environ, "PYTHONUNBUFFERED": "1"}
        process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=variables,
            cwd=os.environ.get("GPU_CHECK_FOLDER"),
        )
        try:
            status = process.wait(limit_s)
        except subprocess.TimeoutExpired:
            end(process)
            status = 124
        output.seek(0)
        said = output.read().decode(errors="replace")
    print(said, f"(exit status {status})", flush=True)
    return subprocess.CompletedProcess(command, status, said)


def end(process: subprocess.Popen) -> None:
    """With what it runs, to which `telltale record` passes the signal on: the GPU is the next one's."""
    process.terminate()
    try:
        process.wait(5)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def synchronize() -> None:
    if not IS_DRY:
        import torch

        torch.cuda.synchronize()


def resident_bytes() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def forget_peak() -> None:
    """From here on, peak_bytes() is about what follows."""
    Path("/proc/self/clear_refs").write_text("5")


def peak_bytes() -> int:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) << 10
    return 0
