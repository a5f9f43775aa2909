"""What a program says by NVTX stands in its recording."""
import json
import os
import subprocess
import unittest

from record_test import RecordTest, main

DEVICES, RANGES = os.environ["DEVICES"], os.environ["RANGES"]


class Ranges(RecordTest):
    def run_ranges(self, **variables):
        done = subprocess.run([RANGES], capture_output=True, encoding="utf-8", timeout=60,
                              env=self.environment(NVTX_INJECTION64_PATH=DEVICES, **variables))
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def rows(self, path):
        done = self.run_it("convert", path, "-o", self.folder / "run.json", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((self.folder / "run.json").read_text(encoding="utf-8"))["traceEvents"]

    def test_ranges_marks_domains_strings_and_threads_are_recorded(self):
        tell = self.folder / "run.tell"
        self.run_ranges(TELLTALE_RECORD=tell)
        info = self.info(tell)
        self.assertEqual(info["anomalies"], [])
        rows = self.rows(tell)
        named = {}
        for row in rows:
            named.setdefault(row["name"], []).append(row)
        spans = {name: [row for row in each if row["ph"] == "X"] for name, each in named.items()}
        counts = {name: len(each) for name, each in spans.items() if each}
        # Of 1,000 ranges inside each other, the outermost 128 are kept.
        expected = {"outer": 1, "inner": 3, "registered": 1, "(no message)": 1, "on another thread": 1, "deep": 128}
        self.assertEqual({name: counts.get(name) for name in expected}, expected)
        [outer], inner = spans["outer"], spans["inner"]
        for row in (*inner, *spans["registered"]):
            self.assertEqual(row["tid"], outer["tid"])
            self.assertGreaterEqual(row["ts"], outer["ts"])
            self.assertLessEqual(row["ts"] + row["dur"], outer["ts"] + outer["dur"] + 0.001)
        self.assertNotEqual(spans["on another thread"][0]["tid"], outer["tid"])
        self.assertEqual({row["ph"] for row in named["a mark"]}, {"i"})
        self.assertEqual({row["ph"] for row in named["wide ä€😀"]}, {"i"})
        self.assertEqual(sorted(row["ph"] for row in named["registered"]), ["X", "b", "e"])
        self.assertIn("the main one", [row["args"]["name"] for row in rows if row["name"] == "thread_name"])
        self.assertEqual({kind: info["kinds"][kind] for kind in ("annotation", "async")}, {"annotation": 135, "async": 1})

    def test_a_program_that_is_not_recorded_runs_as_it_would(self):
        self.run_ranges()
        self.assertEqual(self.files(), [])


if __name__ == "__main__":
    main()
