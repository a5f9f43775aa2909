"""What goes onto a training node: the recorder and its bindings, built with a compiler, Python and nanobind alone."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from common import ROOT

CMAKE = os.environ["CMAKE"]

USE = """
import sys, telltale
import telltale._recorder
assert telltale.__version__
try:
    telltale.load(sys.argv[1])
except telltale.TelltaleError as error:
    print(error)
"""


def run(*words, **options):
    done = subprocess.run(words, capture_output=True, encoding="utf-8", **options)
    assert done.returncode == 0, f"{words}\n{done.stdout}{done.stderr}"
    return done.stdout


class RecordOnly(unittest.TestCase):
    def test_it_builds_installs_and_says_that_it_cannot_read(self):
        # In the build folder, where ccache knows what was compiled before.
        with tempfile.TemporaryDirectory(dir=Path(os.environ["TELLTALE"]).parents[1]) as folder:
            build, prefix = Path(folder, "build"), Path(folder, "prefix")
            run(CMAKE, "-G", "Ninja", "-S", ROOT, "-B", build, "-DTELLTALE_RECORD_ONLY=ON", "-DTELLTALE_PYTHON=ON",
                "-DCMAKE_DISABLE_FIND_PACKAGE_PkgConfig=ON", f"-DPython_EXECUTABLE={sys.executable}")
            cache = (build / "CMakeCache.txt").read_text()
            for package in ("fmt", "CLI11", "nlohmann_json", "GTest", "simdjson", "isal", "zstd"):
                self.assertNotIn(package, cache)
            run(CMAKE, "--build", build, "--target", "python_package")
            run(CMAKE, "--install", build, "--prefix", prefix, "--component", "python")
            self.assertFalse((prefix / "telltale" / "bin").exists())
            self.assertEqual([path.name for path in (prefix / "telltale" / "lib").iterdir()], ["libtelltale.so"])
            for place in (build / "python", prefix):
                environment = os.environ | {"PYTHONPATH": str(place)}
                printed = run(sys.executable, "-c", USE, "trace.json", env=environment)
                self.assertRegex(printed, r"^this build of Telltale records but cannot read traces: .*\n$")
                done = subprocess.run([sys.executable, "-m", "telltale._command", "info"], env=environment, capture_output=True,
                                      encoding="utf-8")
                self.assertEqual((done.returncode, done.stdout), (2, ""))
                self.assertEqual(done.stderr, "telltale: this installation was built to record only\n")


if __name__ == "__main__":
    unittest.main()
