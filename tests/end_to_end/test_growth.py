"""No file takes much longer than its size demands, whatever it holds.

A command on a file made to be slow is compared with `telltale info` on a plain file of as many events: processor time,
which other programs on the machine do not change much, and with a generous limit.
"""
import json
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

from telltale import PROGRAM

EVENTS = 40_000
MOST_TIMES_PEER = 20
MOST_TIMES_PEER_WITH_LINES = 100  # which are looked for among many frames
MOST_SECONDS = 120  # of a command that would take for ever


def span(category, name, start, duration, thread=1, process=1, **args):
    """A complete event, as torch.profiler writes it."""
    event = {"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": start, "dur": duration}
    return {**event, "args": args} if args else event


def plain(count):
    return [span("cpu_op", "aten::add", 2 * i, 1) for i in range(count)]


def nested(count, category="cpu_op", name="f{}"):
    """Each inside of the one before it; all end behind `4 * count`."""
    return [span(category, name.format(i), i, 6 * count - 2 * i) for i in range(count)]


def overlapping_steps(count):
    return [span("user_annotation", f"ProfilerStep#{i}", i, count) for i in range(count)]


def kernels_on_devices(count):
    return [span("kernel", "k", i, 5, thread=i, process=i, device=i, stream=i, correlation=i) for i in range(count)]


def operators_in_library_calls(count):
    """Calls that wait, far inside of functions of a library."""
    each = count // 3
    events = nested(each, "python_function", "torch/nn/modules/module.py({}): forward")
    for i in range(each):
        start = each + 2 * i
        events.append(span("cpu_op", "aten::item", start, 1.5))
        events.append(span("cuda_runtime", "cudaStreamSynchronize", start + 0.5, 0.5, correlation=i + 1))
    return events


class Growth(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def file_of(self, make):
        path = self.folder / f"{make.__name__}.json"
        path.write_text(json.dumps({"traceEvents": make(EVENTS)}))
        return path

    def seconds(self, *words):
        """Of processor time that a command takes."""
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(
            [PROGRAM, "--threads", "1", *words],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
            timeout=MOST_SECONDS,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        return after.ru_utime - before.ru_utime

    def check(self, path, *words, most=MOST_TIMES_PEER):
        command, *options = words
        peer = max(self.seconds("info", self.file_of(plain)), 0.02)
        taken = self.seconds(command, path, *options)
        self.assertLess(taken, most * peer, f"{path.stem}: {command}")

    def test_steps_that_overlap(self):
        self.check(self.file_of(overlapping_steps), "top")

    def test_calls_that_nest_deeply(self):
        path = self.file_of(nested)
        self.check(path, "top", "--by", "all", "--group", "stack")
        out = self.folder / "out"
        self.check(path, "convert", "-o", out, "--format", "collapsed")
        self.assertLess(out.stat().st_size, 65 << 20)

    def test_many_devices(self):
        self.check(self.file_of(kernels_on_devices), "analyze")

    def test_waits_deep_in_a_library(self):
        self.check(self.file_of(operators_in_library_calls), "analyze", most=MOST_TIMES_PEER_WITH_LINES)


if __name__ == "__main__":
    unittest.main()
