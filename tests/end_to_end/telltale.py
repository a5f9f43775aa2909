"""Runs the command for the tests of this folder. TELLTALE in the environment says where it is."""
import gzip
import json
import os
import subprocess
from pathlib import Path

PROGRAM = os.environ.get("TELLTALE", "build/bin/telltale")
ROOT = Path(__file__).resolve().parents[2]
TRACES = ROOT / "examples" / "traces"
RESNET = str(TRACES / "resnet50_train.json.gz")
MLP = str(TRACES / "mlp_sync.json.gz")


def run(*words, **options):
    """The finished process, with its output as text."""
    return subprocess.run([PROGRAM, *words], capture_output=True, encoding="utf-8", **options)


def answer(*words, **options):
    """The parsed answer of a command that prints JSON and must succeed."""
    done = run(*words, "--json", **options)
    assert done.returncode == 0, done.stderr
    assert done.stderr == "", done.stderr
    return json.loads(done.stdout)


def events_of(path):
    """The events of a trace, as Python's own reader sees them."""
    with gzip.open(path) as file:
        return json.load(file)["traceEvents"]
