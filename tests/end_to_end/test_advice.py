"""The advice about the planted faults in tests/diagnosis, against what their fixes were measured to gain.

The oracle is the GPU: truth.json holds times taken there. The limits are our goals, as shares of the cases.
"""
import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Advice(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        command = [sys.executable, str(ROOT / "bench" / "diagnosis" / "check"), str(ROOT / "tests" / "diagnosis")]
        run = subprocess.run([*command, "--telltale", os.environ["TELLTALE"], "--json"], capture_output=True, text=True)
        assert run.returncode == 0, run.stderr
        cls.sums = json.loads(run.stdout)["summary"]

    def test_finds_nearly_every_planted_cause(self):
        self.assertGreaterEqual(self.sums["clear_found"], 0.9 * self.sums["clear"], self.sums)

    def test_predicts_its_saving_within_ten_points(self):
        self.assertGreaterEqual(self.sums["clear_close"], 0.8 * self.sums["clear"], self.sums)

    def test_begins_with_a_fix_that_is_as_good_as_the_best(self):
        self.assertGreaterEqual(self.sums["good_first_findings"], 0.85 * self.sums["cases"], self.sums)

    def test_seldom_promises_too_much(self):
        self.assertLessEqual(self.sums["overpromises"], 0.1 * self.sums["advice_with_measured_gain"], self.sums)
        self.assertLessEqual(self.sums["median_error"], 5, self.sums)

    def test_knows_the_step_without_the_profiler(self):
        self.assertGreaterEqual(self.sums["close_steps"], 0.75 * self.sums["cases"], self.sums)

    def test_names_the_function_at_fault(self):
        self.assertGreaterEqual(self.sums["functions_named"], 0.9 * self.sums["functions_known"], self.sums)


if __name__ == "__main__":
    unittest.main()
