"""Planted programs as they are, unrecorded, with the fault or a fix: each run is a process of its own, as the recorded
one is.

Run as a script, this is the process that they are forked from, which spares them the import of torch: it reads a line
of JSON for each run from its standard input and answers with one that has the run's exit status. Where a fork does not
come to the GPU, the program is started as usual.
"""

import ctypes
import gc
import importlib
import json
import os
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "gpu"))

from check import DEVICE, run, time_left_s

FAULTS = Path(__file__).resolve().parent / "faults"
DIE_WITH_PARENT = 1  # prctl's PR_SET_PDEATHSIG


class PlainRuns:
    """Close it at the end, so that nothing of it stays."""

    def __init__(self, limit_s: float) -> None:
        self.limit_s = limit_s
        self.may_fork = True
        self.process: subprocess.Popen | None = None
        self.folder = tempfile.TemporaryDirectory(prefix="plain_runs_")

    def ends_of(self, name: str, fix: str | None, steps: int | None) -> list[float] | None:
        """When each of its steps ended, in milliseconds; None where it failed or took too long."""
        ends = self.forked(name, fix, steps) if self.may_fork else None
        if ends is None and self.may_fork:
            self.may_fork = False
            self.end()
        return ends if ends is not None else self.started(name, fix, steps)

    def forked(self, name: str, fix: str | None, steps: int | None) -> list[float] | None:
        if self.process is None:
            words = [sys.executable, __file__]
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
        path = Path(self.folder.name) / "ends.json"
        path.unlink(missing_ok=True)
        order = {"name": name, "fix": fix, "steps": steps, "path": str(path)}
        try:
            self.process.stdin.write(f"{json.dumps(order)}\n".encode())
            said = self.line()
            ran = json.loads(path.read_text()) if said == b"0\n" else None
        except (OSError, ValueError) as error:
            print(f"({name} was not forked: {error!r})", flush=True)
            return None
        return ran["ends_ms"] if ran is not None and ran["device"] == DEVICE else None

    def line(self) -> bytes:
        until, said = time.monotonic() + min(self.limit_s, time_left_s()), b""
        while not said.endswith(b"\n"):
            is_there, _, _ = select.select([self.process.stdout], [], [], max(0.0, until - time.monotonic()))
            more = os.read(self.process.stdout.fileno(), 1 << 10) if is_there else b""
            if not more:
                raise TimeoutError("no answer")
            said += more
        return said

    def started(self, name: str, fix: str | None, steps: int | None) -> list[float] | None:
        words = [sys.executable, str(FAULTS / f"{name}.py")]
        words += ["--fixed", fix] if fix else []
        words += ["--steps", str(steps)] if steps else []
        done = run(words, max(1.0, min(self.limit_s, time_left_s())))
        told = [line for line in done.stdout.splitlines() if line.startswith("[")]
        return json.loads(told[-1]) if done.returncode == 0 and told else None

    def end(self) -> None:
        """Its forks end with it."""
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdin.close()
            self.process.stdout.close()
            self.process = None

    def close(self) -> None:
        self.end()
        self.folder.cleanup()


def run_here(order: dict) -> None:
    sys.path.insert(0, str(FAULTS))
    program = importlib.import_module(order["name"]).PROGRAM
    ends = program.ends_ms(order["fix"], order["steps"] or program.steps)
    gc.collect()  # workers of a loader end with it
    device = importlib.import_module("loop").DEVICE
    Path(order["path"]).write_text(json.dumps({"device": device, "ends_ms": ends}))


def serve() -> None:
    import torch  # noqa: F401

    # Optimizers import it in their first step. Whether a GPU is there, nobody asks here: forks could not use it then.
    importlib.import_module("torch._dynamo")
    for line in iter(sys.stdin.readline, ""):
        child = os.fork()
        if child == 0:
            status = 1
            try:
                ctypes.CDLL(None).prctl(DIE_WITH_PARENT, signal.SIGKILL)
                os.dup2(2, 1)  # what it prints is no answer
                run_here(json.loads(line))
                status = 0
            except BaseException:
                traceback.print_exc()
            finally:
                sys.stderr.flush()
                os._exit(status)
        _, ended = os.waitpid(child, 0)
        print(os.waitstatus_to_exitcode(ended), flush=True)


if __name__ == "__main__":
    serve()
