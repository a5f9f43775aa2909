"""A CUDA program in C++, recorded by `telltale record -- ./program`: its kernels, calls, NVTX ranges and scopes are in
the file."""

import shutil
import subprocess
import sys
from collections import Counter
from pathlib import Path

from check import IS_DRY, ROOT, TELLTALE, claim, keep, run, skip, work_folder
from traces import columns

import telltale

HERE = Path(__file__).resolve().parent
BATCHES, ROUNDS, BYTES = 20, 10, 4 << 16  # as in pipeline.cu


def compiler() -> str | None:
    return shutil.which("nvcc") or next((path for path in ("/usr/local/cuda/bin/nvcc",) if Path(path).exists()), None)


def main() -> int:
    nvcc, folder = compiler(), work_folder()
    if nvcc is None:
        skip("native program", "there is no nvcc")
        return 0
    library = Path(telltale.__file__).parent / "lib"
    program, path = folder / "pipeline", folder / "native.tell"
    built = run(
        [
            nvcc,
            "-arch=sm_90",
            "-std=c++17",
            f"-I{ROOT / 'include'}",
            str(HERE / "native" / "pipeline.cu"),
            "-o",
            str(program),
            f"-L{library}",
            "-ltelltale",
            "-Xlinker",
            f"-rpath={library}",
        ],
        60,
    )
    claim("native program: it compiles", built.returncode == 0, f"exit status {built.returncode}")
    if IS_DRY or built.returncode != 0:
        return built.returncode
    done = run([TELLTALE, "record", "-o", str(path), "--", str(program)], 30)
    claim(
        "native program: runs as without us",
        done.returncode == 0 and "done" in done.stdout.splitlines(),
        f"exit status {done.returncode}",
        "0",
    )
    if not path.exists():
        claim("native program: there is a recording", False, ", ".join(each.name for each in folder.iterdir()))
        return 1
    keep(path)
    trace = telltale.load(path)
    events = columns(trace.events())
    kinds = Counter(events["kind"])
    print(kinds)
    for kernel in ("scale", "shift"):
        found = sum(kind == "kernel" and kernel in name for kind, name in zip(events["kind"], events["name"]))
        claim(f"native program: kernels {kernel}", found == BATCHES * ROUNDS, str(found), str(BATCHES * ROUNDS))
    sizes = columns(trace.copies)["bytes"]
    claim(
        "native program: copies",
        sizes.count(BYTES) == 2 * BATCHES,
        str(Counter(sizes)),
        f"{2 * BATCHES} of {BYTES} bytes",
    )
    for what, name in (("NVTX ranges", "batch"), ("scopes", "compute")):
        found = sum(kind == "annotation" and each == name for kind, each in zip(events["kind"], events["name"]))
        claim(f"native program: {what} {name}", found == BATCHES, str(found), str(BATCHES))
    untied, outside = 0, 0
    for row, kind in enumerate(events["kind"]):
        if kind != "kernel":
            continue
        around, names = events["cause"][row], []
        untied += around is None
        while around is not None:
            names.append(events["name"][around])
            around = events["parent"][around]
        outside += names[-2:] != ["compute", "batch"]
    claim(
        "native program: kernels inside their scope and range",
        untied == outside == 0,
        f"{untied} without a launch, {outside} elsewhere",
        "all",
    )
    waits = sum(
        "Synchronize" in name for kind, name in zip(events["kind"], events["name"]) if kind in ("runtime", "driver")
    )
    claim("native program: calls that wait", waits >= BATCHES, str(waits), f"≥ {BATCHES}")
    asked = subprocess.run([TELLTALE, "analyze", str(path)], capture_output=True, text=True)
    print(asked.stdout, asked.stderr)
    claim("native program: exit status of telltale analyze", asked.returncode == 0, str(asked.returncode), "0")
    return 0


if __name__ == "__main__":
    sys.exit(main())
