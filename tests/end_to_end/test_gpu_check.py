"""tools/gpu_check with checks that are made up: what a table says of one that fails, is ended, or does not begin."""
import argparse
import importlib.machinery
import importlib.util
import re
import sys
import tempfile
import textwrap
import time
import unittest
from pathlib import Path

from telltale import ROOT


def loaded():
    loader = importlib.machinery.SourceFileLoader("gpu_check", str(ROOT / "tools" / "gpu_check"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("gpu_check", loader))
    sys.modules["gpu_check"] = module  # dataclasses look there
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


gpu_check = loaded()
Place = gpu_check.Place

CLAIMS = "import sys; sys.path.insert(0, %r); from check import *\n" % str(ROOT / "tests" / "gpu")
TESTS = """
    import unittest
    class Good(unittest.TestCase):
        def test_a(self): print("it says something")
    class Bad(unittest.TestCase):
        def test_b(self): self.fail()
        def test_c(self): raise ValueError
    class Skipped(unittest.TestCase):
        @unittest.skip("no GPU")
        def test_d(self): pass
    class Endless(unittest.TestCase):
        def test_e(self): pass
        def test_f(self):
            while True: pass
    unittest.main()
"""


class GpuCheck(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def script(self, name, text):
        path = self.folder / f"{name}.py"
        path.write_text(textwrap.dedent(text))
        return str(path)

    def check(self, name, text, limit_s=60, **more):
        return gpu_check.Check(name, (self.script(name, CLAIMS + text),), limit_s, **more)

    def run_all(self, *checks, minutes=5.0, dry=False):
        words = argparse.Namespace(minutes=minutes, out=None, dry=dry, quick=False, python=sys.executable)
        work = Path(tempfile.mkdtemp(dir=self.folder))
        run = gpu_check.Run(words, work, time.monotonic(), "a machine")
        run.say = lambda text: None
        run.all_of(list(checks))
        run.log.close()
        return run

    def rows(self, run):
        return [(row["what"], row["status"], row["measured"]) for outcome in run.outcomes for row in outcome.rows]

    def test_a_check_that_is_ended_shows_what_it_had_found(self):
        slow = self.check("slow", "claim('first', True, '7'); print('second', flush=True); time.sleep(100)", limit_s=9)
        run = self.run_all(slow)
        first, ended = self.rows(run)
        self.assertEqual(first, ("first", "PASS", "7"))
        self.assertEqual(ended[:2], ("slow comes to its end", "FAIL"))
        self.assertRegex(ended[2], r"^ended after \d+ s: second$")
        self.assertIn("tools/gpu_check --only slow\n", run.text())

    def test_a_check_that_crashes_or_claims_nothing_fails(self):
        crash = self.check("crash", "claim('first', True, '7'); raise SystemExit(3)")
        silent = self.check("silent", "print('nothing to say')")
        self.assertEqual(self.rows(self.run_all(crash, silent)), [
            ("first", "PASS", "7"),
            ("crash comes to its end", "FAIL", "exit status 3: [PASS] first: 7"),
            ("silent comes to its end", "FAIL", "exit status 0: nothing to say"),
        ])

    def test_what_has_no_time_is_left_out_and_said_how_to_run(self):
        checks = [self.check(name, "claim(%r, True, '1')" % name, place=place) for name, place in (
            ("one", Place.BESIDE), ("two", Place.HOST), ("three", Place.GPU), ("four", Place.ALONE))]
        run = self.run_all(*checks, minutes=0.01)
        self.assertEqual([row[1] for row in self.rows(run)], ["LEFT"] * 4)
        self.assertIn("0 passed, 0 failed, 4 left out", run.text())
        names = re.search(r"tools/gpu_check --only (\S+)\n", run.text())[1]
        self.assertEqual(sorted(names.split(",")), ["four", "one", "three", "two"])

    def test_programs_that_a_check_leaves_out_are_named_as_well(self):
        run = self.run_all(self.check("part", "claim('a', True, '1'); left_out('b', 'part.py --only b')"))
        self.assertIn("1 passed, 0 failed, 1 left out", run.text())
        self.assertIn("tools/gpu_check --only part\n", run.text())

    def test_those_behind_keep_their_time(self):
        said = "figure('left', str(time_left_s()))"
        checks = [self.check("first", said, limit_s=1000, least_s=20), self.check("second", said, limit_s=30, least_s=25),
                  self.check("third", said, limit_s=1000, least_s=15)]
        left = [float(row[2]) for row in self.rows(self.run_all(*checks, minutes=2))]
        # Of 120 s the first leaves 25 and 15; the second has its limit; each ends 3 s before its own.
        for seconds, most in zip(left, (120 - 40 - 3, 30 - 3, 120 - 3), strict=True):
            self.assertLessEqual(seconds, most)
            self.assertGreater(seconds, most - 20)

    def test_tests_are_counted_and_named(self):
        script = self.script("tests", TESTS)
        for names, dry, status, measured in (
            (("Good", "Skipped"), False, "PASS", r"^1 passed, 1 skipped$"),
            (("Good", "Bad"), False, "FAIL", r"^1 passed, 2 failed: test_b, test_c$"),
            (("Skipped",), False, "FAIL", r"^0 passed, 1 skipped$"),
            (("Skipped",), True, "DRY", r"^0 passed, 1 skipped$"),
            (("Missing",), False, "FAIL", r"^0 passed, 1 failed: Missing$"),
            (("Endless",), False, "FAIL", r"^1 passed; ended after \d+ s in test_f$"),
        ):
            with self.subTest(names=names, dry=dry):
                [(what, told, said)] = self.rows(self.run_all(
                    gpu_check.unittest_of(script, 9, Place.ALONE, only=names), dry=dry))
                self.assertEqual((what, told), (" ".join((script, *names)), status))
                self.assertRegex(said, measured)


if __name__ == "__main__":
    unittest.main()
