"""Where the answers go: pipes that close, disks that are full, standard input, and screens of any width."""
import subprocess
import unicodedata
import unittest

from telltale import MLP, PROGRAM, RESNET, ROOT, run

AUTOCAST = str(ROOT / "tests" / "golden" / "torch" / "autocast_train.json.gz")


def columns_of(line):
    return sum(2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in line)


class Output(unittest.TestCase):
    def test_standard_input_gives_the_same_answer_as_the_file(self):
        with open(MLP, "rb") as trace:
            done = subprocess.run([PROGRAM, "top", "-", "--json"], stdin=trace, capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, run("top", MLP, "--json").stdout)

    def test_a_reader_that_goes_away_is_no_error(self):
        words = [PROGRAM, "top", RESNET, "--by", "all", "--group", "shape", "--json"]
        process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(process.stdout.readline(), b"{\n")
        process.stdout.close()
        self.assertEqual(process.stderr.read(), b"")
        process.stderr.close()
        self.assertEqual(process.wait(), 0)

    def test_a_full_disk_is_an_error(self):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([PROGRAM, "top", MLP], stdout=full, stderr=subprocess.PIPE, encoding="utf-8")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Atelltale: the output could not be written: [^\n]+\n\Z")

    def test_every_line_fits_the_width(self):
        questions = [
            ("analyze",),
            ("info",),
            ("top",),
            ("top", "--by", "all"),
            ("top", "--by", "kernel"),
            ("top", "--by", "python"),
            ("top", "--by", "module"),
            ("top", "--group", "shape"),
            ("top", "--group", "stack"),
            ("top", "--sort", "self-cpu-memory"),
        ]
        for trace in (RESNET, AUTOCAST):
            for width in (60, 80, 100, 133, 200):
                for command, *options in questions:
                    done = run(command, trace, *options, env={"COLUMNS": str(width)})
                    self.assertEqual(done.returncode, 0, done.stderr)
                    for line in done.stdout.splitlines():
                        self.assertLessEqual(columns_of(line), width, f"{options} at {width}: {line}")

    def test_a_question_without_an_answer_gets_a_sentence(self):
        done = run("top", RESNET, "--by", "module")
        self.assertEqual(done.returncode, 0)
        self.assertEqual(done.stdout, "The trace has nothing of this kind (see telltale info).\n")

    def test_the_card_fits_a_screen_of_24_lines(self):
        for trace in (RESNET, MLP, AUTOCAST):
            done = run("info", trace, env={"COLUMNS": "80"})
            self.assertLessEqual(len(done.stdout.splitlines()), 24)

    def test_shortened_names_of_a_table_differ(self):
        for width in (60, 80, 120):
            done = run("top", RESNET, "--by", "kernel", "--limit", "0", env={"COLUMNS": str(width)})
            rows = done.stdout.split("\n\n")[0].splitlines()[1:]
            width_of_names = done.stdout.index("Self GPU") - 2
            names = [row[:width_of_names].rstrip() for row in rows]
            repeated = {name for name in names if names.count(name) > 1}
            self.assertEqual(repeated, set(), f"at {width} columns")


if __name__ == "__main__":
    unittest.main()
