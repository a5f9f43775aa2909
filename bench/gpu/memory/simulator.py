"""The simulated allocator beside the real one, on a GPU: ``python bench/gpu/memory/simulator.py --telltale PATH``.

Each program of programs.py runs once and leaves a snapshot. From it telltale foretells the peak of what is reserved
under the same settings, under others and with twice the batch, from this recording alone and with one of another batch
size, and whether it fits into somewhat less or more than it reserved. Then the programs run again under these
conditions, limited by set_per_process_memory_fraction(), and the measured numbers are printed beside those foretold, as
Markdown. Where two recordings foretell another batch wrongly, what that batch asks for otherwise goes to stderr. Needs
torch with CUDA and nothing else; some minutes.
"""

import argparse
import json
import os
import pathlib
import pickle
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

FOLDER = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

SETTINGS = ("expandable_segments:True", "max_split_size_mb:64", "roundup_power2_divisions:4")
BATCH = 16
AT_ONCE = 6
GIB = 1 << 30


def run(name, batch=BATCH, settings="", limit=None, snapshot=None):
    """What torch counted; an empty dict where the program itself went wrong."""
    environment = dict(os.environ, PYTORCH_CUDA_ALLOC_CONF=settings)
    command = [sys.executable, str(FOLDER / "programs.py"), name, "--batch", str(batch)]
    if limit:
        command += ["--limit", str(limit)]
    if snapshot:
        command += ["--snapshot", str(snapshot)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        print(f"{name} failed: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return {}
    return json.loads(done.stdout.splitlines()[-1])


def foretold(telltale, snapshot, *flags):
    done = subprocess.run(
        [telltale, "memory", str(snapshot), "--json", *flags], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        print(f"telltale memory {' '.join(flags)}: {done.stderr.strip()}", file=sys.stderr)
        return {}
    return json.loads(done.stdout)


def shown(number):
    return f"{number / GIB:.3f} GiB"


def row(name, kind, what, foretold_as, measured_as, is_right):
    return {
        "program": name,
        "question": kind,
        "what": what,
        "foretold": foretold_as,
        "measured": measured_as,
        "right": "yes" if is_right else "no",
    }


def peak_row(name, kind, what, low, high, measured):
    """Right within 2 % of the range."""
    is_right = 0 < 0.98 * low <= measured <= 1.02 * high
    promised = shown(high) if low == high else f"{shown(low)} to {shown(high)}"
    return row(name, kind, what, promised, shown(measured), is_right)


def ends(answer):
    return tuple(answer.get(end, {}).get("peak_reserved_bytes", 0) for end in ("low", "high"))


def asked(snapshot):
    """What was asked for, in order: bytes and the innermost line of programs.py."""
    with open(snapshot, "rb") as file:
        log = pickle.load(file)["device_traces"][0]
    lines = []
    for entry in log:
        if entry["action"] != "alloc":
            continue
        own = [frame["line"] for frame in entry["frames"] if frame["filename"].endswith("programs.py")]
        lines.append((entry["size"], own[0] if own else 0))
    return lines


def asked_otherwise(recorded, doubled):
    """By what twice the batch asks for something else than as much or twice as much, in the same order."""
    once, twice = asked(recorded), asked(doubled)
    others = [
        (place, *pair)
        for place, pair in enumerate(zip(once, twice, strict=False))
        if pair[1][0] not in (pair[0][0], 2 * pair[0][0]) or pair[0][1] != pair[1][1]
    ]
    return f"{len(once)} and {len(twice)} requests, {len(others)} of them otherwise: {others[:8]}"


def compare(telltale, name, folder):
    """The rows of one program."""
    snapshot = folder / f"{name}.pickle"
    recorded = run(name, snapshot=snapshot)
    if not recorded:
        return [row(name, "recorded", "", "", "the program failed", False)]
    peak = recorded["reserved"]
    doubled = foretold(telltale, snapshot, "--batch", "2x")
    simulated = doubled.get("check", {}).get("simulated_peak_reserved_bytes", 0)
    rows = [peak_row(name, "recorded", "", simulated, simulated, peak)]
    for settings in SETTINGS:
        low, high = ends(foretold(telltale, snapshot, "--settings", settings))
        rows.append(peak_row(name, "settings", settings, low, high, run(name, settings=settings).get("reserved", 0)))
    measured = run(name, batch=2 * BATCH).get("reserved", 0)
    rows.append(peak_row(name, "batch", "2x", *ends(doubled), measured))
    other = folder / f"{name}_other.pickle"
    run(name, batch=BATCH * 3 // 4, snapshot=other)
    from_two = foretold(telltale, snapshot, "--batch", "2x", "--other", str(other))
    rows.append(peak_row(name, "batch, from two", "2x", *ends(from_two), measured))
    if rows[-1]["right"] == "no":
        doubled_snapshot = folder / f"{name}_doubled.pickle"
        run(name, batch=2 * BATCH, snapshot=doubled_snapshot)
        print(f"{name} with twice the batch: {asked_otherwise(snapshot, doubled_snapshot)}", file=sys.stderr)
    for share in (0.8, 0.9, 1.05):
        limit = int(share * peak)
        verdict = foretold(telltale, snapshot, "--fits", f"{limit}B").get("verdict")
        ran_out = run(name, limit=limit).get("ran_out")
        rows.append(
            row(name, "fits", shown(limit), verdict, "fails" if ran_out else "fits", (verdict == "fails") == ran_out)
        )
    return rows


def main():
    from programs import PROGRAMS

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--telltale", default="telltale")
    parser.add_argument("--only", nargs="*", choices=PROGRAMS, default=list(PROGRAMS))
    parser.add_argument("--keep", type=pathlib.Path, help="a folder for the snapshots")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary, ThreadPoolExecutor(AT_ONCE) as pool:
        folder = arguments.keep or pathlib.Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        parts = pool.map(lambda name: compare(arguments.telltale, name, folder), arguments.only)
        rows = [row for part in parts for row in part]
    columns = ("program", "question", "what", "foretold", "measured", "right")
    print("| " + " | ".join(columns) + " |\n" + "|---" * len(columns) + "|")
    for each in rows:
        print("| " + " | ".join(str(each[column]) for column in columns) + " |")
    for kind in ("recorded", "settings", "batch", "batch, from two", "fits"):
        of_kind = [each["right"] == "yes" for each in rows if each["question"] == kind]
        print(f"\n{kind}: {sum(of_kind)} of {len(of_kind)} right")


if __name__ == "__main__":
    main()
