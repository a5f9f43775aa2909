"""What tests of the torch adapter share: recording a piece of work in this process and reading the file.

TELLTALE in the environment is the command, which turns the recording into JSON for Python's own reader.
"""
import json
import os
import subprocess
import tempfile
from collections import Counter
from pathlib import Path

from telltale._capture import Recording, Wanted

TELLTALE = os.environ.get("TELLTALE", "build/bin/telltale")


class Recorded:
    """A recording after telltale convert."""

    def __init__(self, path):
        with tempfile.TemporaryDirectory() as folder:
            json_path = Path(folder) / "trace.json"
            subprocess.run([TELLTALE, "convert", str(path), "-o", str(json_path)], check=True, capture_output=True)
            self.header = json.loads(json_path.read_text())
        events = self.header.pop("traceEvents")
        self.spans = [event for event in events if event["ph"] == "X"]
        self.operators = [span for span in self.spans if span["cat"] == "cpu_op"]
        self.annotations = [span for span in self.spans if span["cat"] == "user_annotation"]
        self.python = [span for span in self.spans if span["cat"] == "python_function"]
        self.memory = [event["args"] for event in events if event["name"] == "[memory]"]
        self.instants = [event for event in events if event["ph"] == "i" and event["name"] != "[memory]"]
        self.arrows = Counter(event["ph"] for event in events if event.get("cat") == "fwdbwd")

    def named(self, name):
        return [span for span in self.spans if span["name"] == name]

    def steps(self):
        return sorted((span for span in self.annotations if span["name"].startswith("ProfilerStep#")),
                      key=lambda span: span["ts"])


def contains(outer, inner):
    """Whether one span covers another on its thread; times are rounded to nanoseconds."""
    slack = 0.002
    return (outer["tid"] == inner["tid"] and outer["ts"] <= inner["ts"] + slack
            and inner["ts"] + inner["dur"] <= outer["ts"] + outer["dur"] + slack)


def telltale_top(path):
    """All rows of telltale top."""
    done = subprocess.run([TELLTALE, "top", "--json", "--limit", "0", str(path)], check=True, capture_output=True)
    return json.loads(done.stdout)["rows"]


def record(work, path=None, **wanted):
    """Does the work and returns what was recorded of it, in a file of that name if there is to be one."""
    with tempfile.TemporaryDirectory() as folder:
        recording = Recording(path or str(Path(folder) / "run.tell"), Wanted(**wanted))
        recording.prepare()
        recording.start()
        try:
            work()
        finally:
            statistics = recording.stop()
        assert statistics["dropped"] == 0, statistics
        return Recorded(recording.path)
