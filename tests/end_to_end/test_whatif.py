"""What telltale whatif answers on real traces: numbers that agree with each other, with analyze and with the trace."""
import unittest
from pathlib import Path

from telltale import MLP, RESNET, ROOT, answer, events_of, run

CPU_ONLY = str(ROOT / "tests" / "golden" / "torch" / "cpu_only.json.gz")
TRACES = [RESNET, MLP, CPU_ONLY, *map(str, sorted((ROOT / "tests" / "diagnosis").glob("*.json.gz")))]


class WhatIf(unittest.TestCase):
    def assert_fails(self, done, *parts):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atelltale: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_steps_are_those_of_analyze_and_the_replay_is_close(self):
        for trace in TRACES:
            with self.subTest(Path(trace).name):
                said, analysis = answer("whatif", trace, "--no-observer"), answer("analyze", trace)
                self.assertEqual(said["schema"], "telltale.whatif/1")
                self.assertEqual(said["path"], trace)
                self.assertEqual(said["step"]["count"], analysis["step"]["count"])
                self.assertEqual(said["step"]["mean_ns"], analysis["step"]["mean_ns"])
                self.assertAlmostEqual(said["before"]["step_ns"] / said["step"]["mean_ns"], 1, delta=0.02)
                unobserved = min(said["after"]["step_ns"], said["step"]["mean_ns"])
                self.assertEqual(unobserved, analysis["step"]["unobserved_ns"])

    def test_savings_are_the_difference_of_both_replays(self):
        for words in (("--no-sync",), ("--graph", "--no-observer"), ("--instant-data",), ("--remove", "kernel:*"),
                      ("--scale", "*=2")):
            said = answer("whatif", MLP, *words)
            saved = said["before"]["step_ns"] - said["after"]["step_ns"]
            self.assertEqual(said["saving"]["ns"], saved)
            self.assertAlmostEqual(said["saving"]["percent"], 100 * saved / said["before"]["step_ns"], delta=0.001)
            for side in ("before", "after"):
                self.assertLessEqual(said[side]["device_busy_ns"], said[side]["step_ns"])
                self.assertLessEqual(said[side]["host_busy_ns"], said[side]["step_ns"])

    def test_patterns_match_what_the_trace_has(self):
        events = events_of(MLP)
        marks = [e for e in events if e.get("name", "").startswith("ProfilerStep#") and e["cat"] == "user_annotation"]
        first, last = min(e["ts"] for e in marks), max(e["ts"] + e["dur"] for e in marks)
        items = [e for e in events if e.get("name") == "aten::item" and e["cat"] == "cpu_op" and first <= e["ts"] < last]
        said = answer("whatif", MLP, "--remove", "aten::item", "--remove", "operator:aten::it?m", "--scale", "aten::*=1")
        rows = said["changes"]
        self.assertEqual([row["change"] for row in rows], ["remove", "remove", "scale"])
        self.assertEqual(rows[0]["calls"], len(items))
        self.assertEqual(rows[1]["calls"], len(items))
        self.assertGreater(rows[2]["calls"], len(items))
        self.assertEqual(rows[1]["pattern"], "operator:aten::it?m")

    def test_factors_do_what_they_say(self):
        unchanged = answer("whatif", MLP, "--scale", "*=1")
        self.assertEqual(unchanged["saving"]["ns"], 0)
        self.assertEqual(answer("whatif", MLP, "--scale", "aten::item=0")["after"],
                         answer("whatif", MLP, "--remove", "aten::item")["after"])
        twice = answer("whatif", MLP, "--scale", "kernel:*=2")
        kernels = [answer("whatif", MLP, "--scale", f"kernel:*={factor}")["after"]["device_busy_ns"] for factor in (1, 2)]
        self.assertGreater(kernels[1], 1.9 * kernels[0])
        self.assertLessEqual(twice["saving"]["ns"], 0)
        many = answer("whatif", MLP, "--scale", "kernel:*=10000")["after"]["device_busy_ns"]
        self.assertGreater(many, 9000 * kernels[0])

    def test_the_answer_in_words_has_the_same_numbers(self):
        words = ("--remove", "aten::item", "--no-sync", "--no-observer")
        said, text = answer("whatif", MLP, *words), run("whatif", MLP, *words).stdout
        self.assertIn(f"{said['after']['step_ns'] / 1e6:.3g} ms instead of {said['before']['step_ns'] / 1e6:.3g} ms", text)
        self.assertIn("Removed aten::item", text)
        self.assertIn("No call waits for the GPU", text)
        self.assertIn("Replayed, without the profiler", text)
        self.assertIn("sets the pace", text)

    def test_a_pattern_without_a_match_is_an_error(self):
        self.assert_fails(run("whatif", MLP, "--remove", "aten::itm"), MLP, "'aten::itm'", "did you mean 'aten::item'?")
        self.assert_fails(run("whatif", MLP, "--scale", "item=0.5"), "'item'", "* stands for any text")
        self.assert_fails(run("whatif", MLP, "--remove", "kernels:*"), "'kernels:*'", "did you mean 'kernel'?")
        self.assert_fails(run("whatif", MLP, "--remove", "collective:*"), "'collective:*'")

    def test_wrong_words(self):
        self.assert_fails(run("whatif"), "TRACE")
        self.assert_fails(run("whatif", MLP), "--remove", "--no-sync")
        self.assert_fails(run("whatif", MLP, "--remove", ""), "--remove")
        self.assert_fails(run("whatif", MLP, "--remove", "kernel:"), "* matches all")
        self.assert_fails(run("whatif", MLP, "--remove", "sync:*"), "sync", "choose operator")
        self.assert_fails(run("whatif", MLP, "--scale", "aten::mm"), "'aten::mm'", "PATTERN=FACTOR")
        self.assert_fails(run("whatif", MLP, "--scale", "aten::mm=-1"), "'aten::mm=-1'")
        self.assert_fails(run("whatif", RESNET, "--graph", "--steps", "7..9"), "no step matches --steps 7..9 (the trace has 1 to 2)")

    def test_chosen_steps_are_all_that_counts(self):
        both = answer("whatif", RESNET, "--remove", "kernel:*")
        one = answer("whatif", RESNET, "--remove", "kernel:*", "--steps", "2")
        self.assertEqual(one["step"]["count"], 1)
        self.assertEqual(2 * one["changes"][0]["device_work"], both["changes"][0]["device_work"])

    def test_odd_traces_are_no_reason_to_fail(self):
        bare = '{"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": %d}'
        for duration in (0, 5):
            text = '{"traceEvents": [' + bare % duration + "]}"
            for form in ((), ("--json",)):
                done = run("whatif", "-", "--no-sync", "--instant-data", "--graph", "--no-observer", *form, input=text)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_help_explains_patterns(self):
        done = run("whatif", "--help")
        self.assertEqual(done.returncode, 0)
        for part in ("--remove", "--scale", "--no-sync", "--instant-data", "--graph", "--no-observer", "--steps", "KIND:NAME",
                     "memcpy", "telltale whatif train.json.gz"):
            self.assertIn(part, done.stdout)
        self.assertTrue(all(len(line) <= 85 for line in done.stdout.splitlines()))


if __name__ == "__main__":
    unittest.main()
