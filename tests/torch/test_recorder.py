"""The recorder's bindings alone, without torch: sessions, scopes, Python calls in all their ways to begin and end."""
import subprocess
import tempfile
import threading
import unittest
from collections import Counter
from pathlib import Path

from telltale import _recorder

import recorded
from recorded import Recorded, contains


def leaf():
    return len([])


def recursive(depth):
    return leaf() if depth == 0 else recursive(depth - 1)


def failing():
    raise ValueError("no")


def generating():
    yield leaf()
    yield leaf()


class Case(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = str(Path(folder.name) / "run.tell")

    def calls(self, work, budget=1_000_000):
        _recorder.start(self.path)
        _recorder.start_python_calls(["/nowhere/"], "", budget)
        try:
            work()
        finally:
            _recorder.stop_python_calls()
            _recorder.stop()
        self.recorded = Recorded(self.path)
        return Counter(span["name"].split("): ")[-1] for span in self.recorded.python)


class PythonCalls(Case):
    def test_nest_as_they_did(self):
        calls = self.calls(lambda: recursive(3))
        self.assertEqual((calls["recursive"], calls["leaf"], calls["<built-in function len>"]), (4, 1, 1))
        levels = sorted((span for span in self.recorded.python if span["name"].endswith(": recursive")),
                        key=lambda span: -span["dur"])
        for outer, inner in zip(levels, levels[1:]):
            self.assertTrue(contains(outer, inner))

    def test_end_when_they_raise(self):
        def work():
            for _ in range(3):
                try:
                    failing()
                except ValueError:
                    leaf()

        calls = self.calls(work)
        self.assertEqual((calls["failing"], calls["leaf"]), (3, 3))
        failed = [span for span in self.recorded.python if span["name"].endswith(": failing")]
        for call in failed:
            self.assertFalse([span for span in self.recorded.python if contains(call, span) and span["name"].endswith(": leaf")])

    def test_of_built_in_functions_end_when_they_raise(self):
        def work():
            for _ in range(3):
                try:
                    int("no")
                    len(5)
                except (TypeError, ValueError):
                    pass
            leaf()

        calls = self.calls(work)
        self.assertEqual(calls["leaf"], 1)
        [around] = [span for span in self.recorded.python if span["name"].endswith(": work")]
        self.assertTrue(all(contains(around, span) for span in self.recorded.python if span["name"].endswith(": leaf")))

    def test_of_generators_are_as_many_as_their_pieces(self):
        calls = self.calls(lambda: list(generating()))
        self.assertEqual((calls["generating"], calls["leaf"]), (3, 2))

    def test_of_new_threads_are_recorded(self):
        def work():
            threads = [threading.Thread(target=recursive, args=(5,)) for _ in range(3)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        self.assertEqual(self.calls(work)["recursive"], 18)
        self.assertEqual(len({span["tid"] for span in self.recorded.python if span["name"].endswith(": leaf")}), 3)

    def test_of_threads_that_outlive_the_recording_end_with_it(self):
        turn, done = threading.Event(), threading.Event()

        def work_on():
            done.set()
            turn.wait()
            recursive(5)

        thread = threading.Thread(target=work_on)
        self.calls(lambda: (thread.start(), done.wait()))
        _recorder.start(self.path)  # without Python calls
        turn.set()
        thread.join()
        _recorder.stop()
        self.assertEqual(Recorded(self.path).python, [])

    def test_stop_at_the_budget(self):
        calls = self.calls(lambda: [leaf() for _ in range(1000)], budget=50)
        self.assertEqual(sum(calls.values()), 50)
        self.assertIn("budget of 50", self.recorded.instants[0]["name"])

    def test_can_be_recorded_again_and_again(self):
        for _ in range(3):
            self.assertEqual(self.calls(lambda: recursive(2))["recursive"], 3)


class Sessions(Case):
    def test_one_at_a_time(self):
        _recorder.start(self.path)
        with self.assertRaisesRegex(RuntimeError, "."):
            _recorder.start(self.path + "2")
        _recorder.stop()
        with self.assertRaisesRegex(RuntimeError, "."):
            _recorder.stop()

    def test_that_cannot_be_written_say_so(self):
        with self.assertRaisesRegex(RuntimeError, "no/such/folder"):
            _recorder.start("/no/such/folder/run.tell")
        self.assertFalse(_recorder.is_recording())

    def test_follow_their_schedule(self):
        _recorder.start(self.path, schedule={"wait": 1, "active": 2, "repeat": 1})
        seen = []
        for i in range(4):
            seen.append(_recorder.is_recording())
            _recorder.begin_scope(f"scope {i}")
            _recorder.end_scope()
            _recorder.step()
        _recorder.stop()
        self.assertEqual(seen, [False, True, True, False])
        names = [span["name"] for span in Recorded(self.path).annotations]
        self.assertEqual([name for name in names if name.startswith("scope")], ["scope 1", "scope 2"])

    def test_scopes_that_a_recording_left_open_do_not_reach_the_next(self):
        _recorder.start(self.path)
        _recorder.begin_scope("open")
        _recorder.stop()
        _recorder.start(self.path)
        _recorder.end_scope()
        _recorder.begin_scope("closed")
        _recorder.end_scope()
        _recorder.stop()
        self.assertEqual([span["name"] for span in Recorded(self.path).annotations], ["closed"])

    def test_carry_metadata(self):
        _recorder.metadata("run", "seven")
        _recorder.start(self.path)
        _recorder.stop()
        done = subprocess.run([recorded.TELLTALE, "convert", self.path, "-o", self.path + ".json"], capture_output=True)
        self.assertIn(b'"seven"', Path(self.path + ".json").read_bytes(), done.stderr)


if __name__ == "__main__":
    unittest.main()
