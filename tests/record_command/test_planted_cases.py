"""bench/diagnosis/record_cases.py with a real PyTorch on the CPU: what it records can be judged."""
import json
import subprocess
import sys

from record_test import PATIENCE, PROGRAM, ROOT, RecordTest, main

BENCH = ROOT / "bench" / "diagnosis"
# As a truth.json has it, with gains that nobody measured.
ROW = {"case": "many_small_copies", "cause": "small_copies", "fix": "one copy", "fix_id": "pack_copies",
       "step_ms": 0.001, "noise_percent": 1.0, "gain_percent": 20.0, "clear": True, "gains": {"pack_copies": 20.0}, "skipped": {},
       "source": {"file": "workload.py", "line": 1, "function": "train_step"}, "nostack_step_ms": 0.001}
OTHER = {**ROW, "case": "embedding_service", "fix_id": None}


class PlantedCases(RecordTest):
    def record_cases(self, *words):
        command = [sys.executable, BENCH / "record_cases.py", *words, "--truth", "known.json", "--engine", "kineto",
                   "--telltale", PROGRAM, "--shrink", "256"]
        return subprocess.run([str(word) for word in command], capture_output=True, encoding="utf-8", cwd=self.folder,
                              env=self.environment(), timeout=PATIENCE, check=False)

    def setUp(self):
        super().setUp()
        self.write("known.json", json.dumps({"cases": [ROW, OTHER]}))

    def test_a_recording_keeps_the_gains_and_has_its_own_times(self):
        done = self.record_cases("out", "many_small_copies", "--pack", "tars")
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        [row] = json.loads((self.folder / "out" / "truth.json").read_text())["cases"]
        self.assertEqual(row["gains"], ROW["gains"])
        self.assertTrue(row["step_ms"] > 0.1 and row["run_step_ms"] > 0.1, row)
        self.assertEqual(row["trace"], "many_small_copies.json.gz")
        self.assertNotIn("source", row)  # no stacks
        self.assertNotIn("nostack_step_ms", row)
        self.assertEqual(self.files("tars/*"), ["results_0.tar"])
        checked = subprocess.run([sys.executable, BENCH / "check", "out", "--telltale", PROGRAM, "--json"],
                                 cwd=self.folder, capture_output=True, encoding="utf-8", check=False)
        self.assertEqual((checked.returncode, checked.stderr), (0, ""))
        [case] = json.loads(checked.stdout)["folders"][0]["cases"]
        self.assertEqual(case["measured_ms"], row["step_ms"])
        self.assertGreater(case["recorded_ms"], 0.1)

    def test_what_cannot_be_recorded_is_said(self):
        done = self.record_cases("out", "embedding_service", "own_attention")
        self.assertEqual(done.returncode, 1, done.stderr)
        self.assertEqual(done.stdout.splitlines(),
                         ["embedding_service: does not train, and PyTorch's profiler counts steps of optimizers",
                          "own_attention: known.json has no row of it"])


if __name__ == "__main__":
    main()
