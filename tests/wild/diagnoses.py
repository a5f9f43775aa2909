"""What a recording says: the diagnosis that the command prints, and the same from its file."""
import json
import re
import subprocess
from pathlib import Path

from running import PATIENCE, Outcome, environment


def named_recording(recorded: Outcome) -> str | None:
    """The file that the printed diagnosis is of."""
    named = re.search(r"^(telltale_\S+\.tell) · ", recorded.errors, re.MULTILINE)
    return named[1] if named else None


def telltale(program: str, folder: Path, *words: str) -> str:
    done = subprocess.run([program, *words], cwd=folder / "place", env=environment(folder / "temporary", {}), encoding="utf-8",
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=PATIENCE, check=False)
    if done.returncode:
        raise RuntimeError(f"telltale {' '.join(words)} ended with {done.returncode}: {done.stdout}")
    return done.stdout


def diagnosis(program: str, folder: Path, recorded: Outcome) -> dict | None:
    """As JSON, from the file; None where nothing was diagnosed."""
    name = named_recording(recorded)
    return json.loads(telltale(program, folder, name, "--json")) if name else None
