"""One program, one file, a few runs: how long it took and how much memory it held at most."""

import json
import os
import statistics
import subprocess
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from harness.files import TraceFile, warm


class Unavailable(Exception):
    """A program that could not be run here, and why."""


@dataclass
class Measurement:
    program: str
    file: TraceFile
    seconds: list[float]
    peak_bytes: int | None = None
    report: dict = field(default_factory=dict)  # what the program said of itself

    @property
    def best(self) -> float:
        return min(self.seconds)

    @property
    def median(self) -> float:
        return statistics.median(self.seconds)

    @property
    def bytes_per_second(self) -> float:
        return self.file.text_bytes / self.best


@dataclass
class Finished:
    wall_seconds: float
    peak_bytes: int
    output: str


def run_to_end(command: list) -> Finished:
    """Runs a command on its own and says what it cost."""
    with tempfile.TemporaryFile("w+") as output, tempfile.TemporaryFile("w+") as errors:
        start = time.perf_counter()
        process = subprocess.Popen([str(word) for word in command], stdout=output, stderr=errors)
        _, status, usage = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        output.seek(0)
        errors.seek(0)
        if process.returncode != 0:
            lines = errors.read().strip().splitlines() or [f"ended with {process.returncode}"]
            raise Unavailable(f"{Path(str(command[0])).name}: {lines[-1]}")
        return Finished(seconds, usage.ru_maxrss * 1024, output.read())


def reported(program: str, file: TraceFile, command: list, key: str = "read_s") -> Measurement:
    """A program that times its own runs and prints them as JSON under `key`."""
    warm(file)
    finished = run_to_end(command)
    report = json.loads(finished.output.splitlines()[-1])
    return Measurement(program, file, report[key], finished.peak_bytes, report)


def timed(program: str, file: TraceFile, command: list, runs: int) -> Measurement:
    """A program that is timed from its start to its end."""
    warm(file)
    finished = [run_to_end(command) for _ in range(runs)]
    return Measurement(program, file, [run.wall_seconds for run in finished], max(run.peak_bytes for run in finished))
