"""The programs that are timed: ours and its peers, each as a function from file and runs to measurements."""

import os
import subprocess
from pathlib import Path

from harness.files import TraceFile
from harness.measure import Measurement, Unavailable, reported, timed

ROOT = Path(__file__).resolve().parents[2]
BIN = ROOT / "build-bench" / "bin"
PEERS = ROOT / "bench" / "peers"


def build() -> None:
    subprocess.run([ROOT / "tools" / "build", "bench", "make_trace", "simdjson_walk", "read_bench", "telltale"],
                   check=True)


def make_trace() -> Path:
    return BIN / "make_trace"


def our_reader(file: TraceFile, threads: int, runs: int) -> Measurement:
    name = f"telltale, {threads} thread{'s' if threads > 1 else ''}"
    return reported(name, file, [BIN / "read_bench", file.path, threads, runs])


def loading_process(file: TraceFile, runs: int) -> Measurement:
    return timed("telltale, load only", file, [BIN / "read_bench", file.path, 0, 1], runs)


def top_process(file: TraceFile, runs: int) -> Measurement:
    return timed("telltale top", file, [BIN / "telltale", "top", file.path], runs)


def on_one_core(command: str, file: TraceFile, runs: int) -> Measurement:
    """A command of ours that answers in JSON, with one core and one thread from its start to its end."""
    core = min(os.sched_getaffinity(0))
    return timed(f"telltale {command}, 1 core", file,
                 ["taskset", "-c", core, BIN / "telltale", command, file.path, "--json", "--threads", 1], runs)


def simdjson_walk(file: TraceFile, runs: int) -> tuple[Measurement, Measurement]:
    """The walk over text in memory, and loading and walking together."""
    walk = reported("simdjson walk, in memory", file, [BIN / "simdjson_walk", file.path, runs], "walk_s")
    both = [load + walk for load, walk in zip(walk.report["load_s"], walk.report["walk_s"])]
    return walk, Measurement("simdjson load + walk", file, both, walk.peak_bytes, walk.report)


def python_library(library: str, file: TraceFile, runs: int) -> Measurement:
    python = _environment(".venv-bench", "requirements.txt")
    return reported(f"Python {library}", file, [python, PEERS / "load_json.py", library, file.path, runs])


def hta(file: TraceFile, runs: int) -> Measurement:
    python = _environment(".venv-bench-hta", "requirements-hta.txt")
    return reported("HTA", file, [python, PEERS / "load_hta.py", file.path, runs])


def _environment(name: str, requirements: str) -> Path:
    """The Python of a virtual environment that holds the requirements; made when it is not there."""
    done = subprocess.run([ROOT / "tools" / "venv", name, (PEERS / requirements).relative_to(ROOT)],
                          stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        raise Unavailable("its packages could not be installed")
    return Path(done.stdout.strip())
