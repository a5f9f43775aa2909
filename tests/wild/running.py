"""Runs a program in a folder of its own, plainly or under `telltale record`, and says what it did and left behind."""
import os
import re
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from cases import Planted, Program

ROOT = Path(__file__).resolve().parents[2]
PATIENCE = 300  # seconds until something that must happen is taken as never happening
RANDOM_LETTERS = 8  # at the end of a name that tempfile makes
OURS = ("KINETO_", "TELLTALE_", "PYTHONPATH", "CUDA_VISIBLE_DEVICES", "RANK", "WORLD_SIZE")


@dataclass
class Outcome:
    status: int  # as a shell has it
    output: bytes
    errors: str
    files: dict[str, str]  # by name, recordings left out; the content of texts
    temporary: list[str]  # what stands in the folder for temporary files, without what is random in its names
    recordings: list[Path]


def environment(temporary: Path, variables: dict[str, str]) -> dict[str, str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
    for name in ("TELLTALE_CACHE", "TELLTALE_PYTHON"):
        if name in os.environ:
            clean[name] = os.environ[name]
    clean.setdefault("TORCHINDUCTOR_CACHE_DIR", str(temporary.parent / "inductor"))
    return {**clean, "PYTHONDONTWRITEBYTECODE": "1", "TMPDIR": str(temporary), **variables}


def command_of(case: Program | Planted, python: str, arguments: tuple[str, ...]) -> list[str]:
    if isinstance(case, Planted):
        return [python, str(case.path), *arguments]
    return [*([] if case.words[0].startswith("./") else [python]), *case.words]


def run(case: Program | Planted, folder: Path, recorder: list[str], python: str = sys.executable,
        arguments: tuple[str, ...] = ()) -> Outcome:
    """`recorder` stands before the command: nothing, or `telltale record … --`."""
    place, temporary = folder / "place", folder / "temporary"
    for each in (place, temporary):
        each.mkdir(parents=True)
    for name, text in getattr(case, "scripts", {}).items():
        (place / name).write_text(text.format(python=python), encoding="utf-8")
        (place / name).chmod(0o755)
    with open(folder / "output", "w+b") as output, open(folder / "errors", "w+b") as errors:
        process = subprocess.Popen([*recorder, *command_of(case, python, arguments)], cwd=place, stdin=subprocess.PIPE,
                                   stdout=output, stderr=errors, env=environment(temporary, case.variables),
                                   start_new_session=True)
        try:
            told = getattr(case, "told", None)
            if told:
                wait_until_ready(folder / "output", process)
                os.killpg(process.pid, told)
            process.communicate(getattr(case, "typed", "").encode(), timeout=PATIENCE)
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()
    wait_for_orphans(process.pid)
    left = sorted(path for path in place.rglob("*") if path.is_file())
    recordings = [path for path in left if path.name.startswith("telltale_") and path.suffix == ".tell"]
    status = process.returncode if process.returncode >= 0 else 128 - process.returncode
    return Outcome(status, (folder / "output").read_bytes(), (folder / "errors").read_text(encoding="utf-8", errors="replace"),
                   {str(path.relative_to(place)): content(path) for path in left if path not in recordings},
                   sorted(path.name[:-RANDOM_LETTERS] for path in temporary.iterdir()), recordings)


def wait_until_ready(output: Path, process: subprocess.Popen) -> None:
    """Until the program has said that it is ready, and has gone on for a moment."""
    deadline = time.monotonic() + PATIENCE
    while b"ready" not in output.read_bytes():
        if process.poll() is not None or time.monotonic() > deadline:
            raise TimeoutError("the program never was ready")
        time.sleep(0.02)
    time.sleep(0.3)


def wait_for_orphans(session: int) -> None:
    """Until nothing that the program started is left, as a child that outlives it."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        try:
            os.killpg(session, 0)
        except ProcessLookupError:
            return
        time.sleep(0.02)
    raise TimeoutError("processes of the program never ended")


def content(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.suffix == ".txt" else ""


def without_numbers(text: str) -> str:
    """Times, process ids and ports differ from run to run."""
    return re.sub(r"\d[\d.,:]*", "#", text)
