"""A trace as a .tell file: every command says the same of it as of the JSON it was made from."""
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

from telltale import PROGRAM, TRACES, run

SMALL = TRACES / "small_train.json.gz"
COMMANDS = (["info"], ["top"], ["analyze"], ["whatif", "--scale", "aten::*=0.5"])


class Tell(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "small.tell"
        self.assertEqual(run("convert", str(SMALL), "-o", str(self.path)).returncode, 0)

    def answer(self, command, path):
        done = run(*command, str(path), "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.replace(str(path), "PATH")

    def test_gives_the_same_answers_as_the_json_it_was_made_from(self):
        for command in COMMANDS:
            with self.subTest(command[0]):
                ours, theirs = (self.answer(command, path) for path in (self.path, SMALL))
                if command[0] == "info":
                    ours, theirs = (json.loads(text) for text in (ours, theirs))
                    self.assertLess(ours["bytes"], theirs["bytes"])
                    for each in (ours, theirs):
                        del each["bytes"], each["memory_bytes"]
                self.assertEqual(ours, theirs)

    def test_is_read_from_standard_input(self):
        with self.path.open("rb") as file:
            done = subprocess.run([PROGRAM, "info", "-", "--json"], stdin=file, capture_output=True, check=True)
        self.assertEqual(json.loads(done.stdout)["events"], json.loads(self.answer(["info"], SMALL))["events"])

    def test_that_is_cut_or_changed_is_refused_in_one_sentence(self):
        whole = self.path.read_bytes()
        changed = bytearray(whole)
        changed[len(whole) // 2] ^= 1
        for damaged in (whole[: len(whole) // 2], bytes(changed)):
            self.path.write_bytes(damaged)
            done = run("info", str(self.path))
            self.assertEqual(done.returncode, 2)
            self.assertIn("is damaged or was cut off", done.stderr)
            self.assertEqual(done.stderr.count("\n"), 1)

    def test_of_a_later_version_is_refused_with_its_number(self):
        whole = bytearray(self.path.read_bytes())
        whole[8] = 9
        self.path.write_bytes(whole)
        self.assertIn("version 9 of the .tell format", run("info", str(self.path)).stderr)


if __name__ == "__main__":
    unittest.main()
