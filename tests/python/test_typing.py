"""The package is typed and says so; what is typed is checked, and so is a program that uses it."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import telltale
from common import ROOT

PACKAGE = Path(telltale.__file__).parent
PROGRAM = """
import telltale
from typing import assert_type

trace = telltale.load("a.json.gz", threads=2, progress=print)
assert_type(trace, telltale.Trace)
assert_type(trace.info().devices[0].name, str | None)
assert_type(trace.top("kernel", limit=3).rows[0].self_device_ns, int | None)
assert_type(trace.analyze(steps=range(3, 5)).findings[0].saving.likely_ns, int)
assert_type(trace.whatif(scale={"a": 0.5}).saving.percent, float)
assert_type(telltale.memory("a.pickle"), telltale.MemoryReport)
assert_type(telltale.memory("a.pickle", fits="24GB", batch=2).high.peak_reserved_bytes, int | None)
assert_type(trace.memory_what_if(without="whole_logits").verdict, str)
assert_type(len(trace.events("kernel")), int)
assert_type(telltale.view(trace, browser=False).url, str)
"""
MISTAKES = {
    "trace.top(byy=1)": "byy",
    "trace.analyze().findings[0].savings": "savings",
    "trace.analyze().step.mean_ns = 1": "read-only",
    "telltale.memory('a', batch=2).devices": "devices",
    "telltale.load(3)": "incompatible type",
    "telltale.loaf": "no attribute",
}


def run(module, *words):
    done = subprocess.run([sys.executable, "-m", module, *words], cwd=PACKAGE.parent, capture_output=True, encoding="utf-8")
    return done.returncode, done.stdout + done.stderr


class Typing(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.cache = folder.name

    def mypy(self, *words):
        return run("mypy", "--config-file", ROOT / "pyproject.toml", "--strict", "--cache-dir", self.cache, *words)

    def test_it_says_that_it_is_typed(self):
        self.assertTrue((PACKAGE / "py.typed").exists())

    def test_mypy_finds_nothing(self):
        status, printed = self.mypy("-p", "telltale")
        self.assertEqual(status, 0, printed)

    def test_programs_are_checked_against_it(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "program.py")
            program.write_text(PROGRAM)
            status, printed = self.mypy("--python-version", "3.11", program)
            self.assertEqual(status, 0, printed)
            program.write_text(PROGRAM + "\n".join(MISTAKES))
            status, printed = self.mypy("--python-version", "3.11", program)
            self.assertEqual(status, 1)
            for line, mistake in enumerate(MISTAKES.values(), PROGRAM.count("\n") + 1):
                self.assertRegex(printed, f"program.py:{line}: error: .*{mistake}")

    def test_ruff_finds_nothing(self):
        status, printed = run("ruff", "check", "--no-cache", "--config", ROOT / "pyproject.toml", ROOT / "python" / "telltale")
        self.assertEqual(status, 0, printed)

    def test_stubs_name_what_the_modules_have(self):
        for name in ("_core", "_recorder"):
            module = __import__(f"telltale.{name}", fromlist=["*"])
            stub = (PACKAGE / f"{name}.pyi").read_text()
            for each in vars(module):
                if not each.startswith("_"):
                    self.assertRegex(stub, rf"(def|class) {each}\b|^{each}\s*[:=]", f"{name}.{each}")


if __name__ == "__main__":
    unittest.main()
