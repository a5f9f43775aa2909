"""What the tests of this folder share: a folder of their own, the command in it, and what it wrote."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("TELLTALE", str(ROOT / "build" / "bin" / "telltale"))
INJECTION = ROOT / "python" / "telltale" / "_inject"
PATIENCE = 300  # seconds until something that must happen is taken as never happening
OURS = ("KINETO_", "TELLTALE_", "PYTHONPATH", "CUDA_", "NVTX_", "RANK")


class RecordTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def environment(self, **variables):
        clean = {name: value for name, value in os.environ.items() if not name.startswith(OURS)}
        if "TELLTALE_CACHE" in os.environ:
            clean["TELLTALE_CACHE"] = os.environ["TELLTALE_CACHE"]
        return {**clean, **{name: str(value) for name, value in variables.items()}}

    def write(self, name, text):
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return path

    def run_it(self, *words, variables=None, **options):
        """The finished process."""
        return subprocess.run([PROGRAM, *map(str, words)], capture_output=True, encoding="utf-8", cwd=self.folder,
                              env=self.environment(**(variables or {})), timeout=PATIENCE, check=False, **options)

    def record(self, *words, **options):
        return self.run_it("record", *words, **options)

    def start(self, *words, variables=None, **options):
        """A process that runs."""
        process = subprocess.Popen([str(word) for word in words], cwd=self.folder, encoding="utf-8",
                                   env=self.environment(**(variables or {})), **options)
        self.addCleanup(process.__exit__, None, None, None)
        self.addCleanup(process.kill)
        return process

    def files(self, pattern="*"):
        return sorted(path.name for path in self.folder.glob(pattern) if path.is_file())

    def info(self, path):
        done = self.run_it("info", path, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def calls(self, path, name):
        """How often an operator of that name was called."""
        done = self.run_it("top", path, "--json", "--limit", "0")
        self.assertEqual(done.returncode, 0, done.stderr)
        return sum(row["calls"] for row in json.loads(done.stdout)["rows"] if row["name"] == name)


def main():
    sys.exit(unittest.main())
