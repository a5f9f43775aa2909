"""What the command makes of its words, and how it fails."""
import gzip
import os
import resource
import tempfile
import unittest
from pathlib import Path

from telltale import MLP, RESNET, run


class CommandLine(unittest.TestCase):
    def assert_fails(self, done, *parts):
        """One sentence on standard error, nothing on standard output, exit code 2."""
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atelltale: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_help_names_every_command_and_shows_examples(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        for part in ("analyze", "whatif", "info", "top", "--version", "--threads", "--max-text", "telltale info train.json.gz"):
            self.assertIn(part, done.stdout)

    def test_help_of_a_command_names_its_options(self):
        done = run("top", "--help")
        self.assertEqual(done.returncode, 0)
        options = "--by --group --stack-depth --sort --limit --steps --json --csv --full-names --threads"
        for option in options.split():
            self.assertIn(option, done.stdout)

    def test_help_says_what_can_be_read(self):
        for words in ((), ("analyze",), ("whatif",), ("info",), ("top",), ("convert",)):
            done = run(*words, "--help")
            self.assertEqual(done.returncode, 0)
            for part in (".json.gz", "(.tell)", "standard input"):
                self.assertIn(part, " ".join(done.stdout.split()), words)

    def test_version(self):
        done = run("--version")
        self.assertEqual(done.returncode, 0)
        self.assertRegex(done.stdout, r"\Atelltale \d+\.\d+\.\d+\n\Z")

    def test_no_command(self):
        self.assert_fails(run(), "info", "top", "--help")

    def test_a_mistyped_command_gets_a_hint(self):
        self.assert_fails(run("tpo", RESNET), "'tpo'", "did you mean 'top'?")
        self.assert_fails(run("--threads", "1", "tpo", RESNET), "'tpo'", "did you mean 'top'?")

    def test_what_looks_like_a_path_may_be_a_missing_file(self):
        self.assert_fails(run("nowhere.json.gz"), "there is no file and no command 'nowhere.json.gz'")
        self.assert_fails(run("runs/nowhere", "--json"), "there is no file and no command 'runs/nowhere'")

    def test_a_mistyped_option_gets_a_hint(self):
        self.assert_fails(run("top", RESNET, "--limits", "3"), "'--limits'", "did you mean '--limit'?")

    def test_an_unknown_option_without_a_near_one(self):
        self.assert_fails(run("info", RESNET, "--frobnicate"), "'--frobnicate'", "telltale info --help")

    def test_a_missing_trace(self):
        self.assert_fails(run("top"), "TRACE")

    def test_wrong_values_name_what_would_be_right(self):
        self.assert_fails(run("top", RESNET, "--sort", "speed"), "speed", "self-cpu", "self-device-memory")
        self.assert_fails(run("top", RESNET, "--by", "color"), "color", "operator", "kernel")
        self.assert_fails(run("top", RESNET, "--group", "color"), "color", "shape", "stack")
        self.assert_fails(run("top", RESNET, "--steps", "7..3"), "7..3", "3..7")
        self.assert_fails(run("top", RESNET, "--limit", "few"), "--limit takes a number, not 'few'")
        self.assert_fails(run("analyze", RESNET, "--min-saving", "much"), "--min-saving takes a number, not 'much'")
        self.assert_fails(run("top", RESNET, "--limit", "-1"), "--limit must be 0 or more, not -1")
        self.assert_fails(run("top", RESNET, "--limit"), "--limit needs a value: --limit N")
        self.assert_fails(run("top", RESNET, "--steps", "1", "--steps", "2"), "--steps may be given only once")
        self.assert_fails(run("top", RESNET, "--json=x"), "--json takes no value, but has 'x'")
        self.assert_fails(run("top", RESNET, "-x"), "there is no option '-x'")
        self.assert_fails(run("top", RESNET, "--stack-depth", "0"), "--stack-depth")
        self.assert_fails(run("info", RESNET, "--max-text", "much"), "much", "64G")

    def test_json_and_csv_exclude_each_other(self):
        self.assert_fails(run("top", RESNET, "--json", "--csv"), "give either --json or --csv, not both")

    def test_a_second_trace(self):
        self.assert_fails(run("top", RESNET, "other.json"), "telltale top takes one TRACE, and there is 'other.json' as well")

    def test_the_help_names_what_an_option_takes(self):
        self.assertIn("--settings NAME:VALUE,…", run("memory", "--help").stdout)
        self.assertIn("--seconds S ", run("record", "--help").stdout)

    def test_steps_that_the_trace_does_not_have(self):
        self.assert_fails(run("top", RESNET, "--steps", "7..9"), "no step matches --steps 7..9 (the trace has 1 to 2)")

    def test_files_that_cannot_be_read(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assert_fails(run("info", f"{folder}/nowhere.json"), "nowhere.json")
            self.assert_fails(run("info", folder), folder)
            empty = Path(folder, "empty.json")
            empty.touch()
            self.assert_fails(run("info", str(empty)), "empty.json")
            text = Path(folder, "notes.txt")
            text.write_text("These are notes, and no trace.\n")
            self.assert_fails(run("top", str(text)), "notes.txt")
            binary = Path(folder, "noise.gz")
            binary.write_bytes(b"\x1f\x8b" + bytes(range(256)))
            self.assert_fails(run("top", str(binary)), "noise.gz")

    def test_files_that_never_tell_what_they_are_take_little_memory(self):
        with tempfile.TemporaryDirectory() as folder:
            hole = Path(folder, "hole.json")
            hole.touch()
            os.truncate(hole, 5 << 30)
            blank = Path(folder, "blank.json.gz")
            blank.write_bytes(gzip.compress(b" " * (16 << 20), 1) * 20)
            for path in "/dev/zero", str(hole), str(blank):
                self.assert_fails(run("info", path), path)
        most = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss  # in KiB, of the largest of all children
        self.assertLess(most, 2 << 20)

    @unittest.skipIf(os.geteuid() == 0, "root may read everything")
    def test_a_file_without_permission(self):
        with tempfile.NamedTemporaryFile(suffix=".json") as file:
            os.chmod(file.name, 0)
            self.assert_fails(run("info", file.name), file.name)

    def test_a_file_that_grows_too_large_is_refused_and_the_limit_can_be_raised(self):
        self.assert_fails(run("info", MLP, "--max-text", "1M"), "mlp_sync.json.gz")
        self.assertEqual(run("info", MLP, "--max-text", "1G").returncode, 0)

    def test_a_truncated_file_is_read_up_to_the_cut(self):
        with tempfile.TemporaryDirectory() as folder:
            cut = Path(folder, "cut.json.gz")
            with open(MLP, "rb") as whole:
                cut.write_bytes(whole.read()[:200_000])
            done = run("info", str(cut))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("ends in the middle", done.stdout)

    def test_global_options_stand_before_or_after_the_command(self):
        before = run("--threads", "1", "top", MLP, "--json")
        after = run("top", MLP, "--json", "--threads", "2")
        self.assertEqual(before.returncode, 0, before.stderr)
        self.assertEqual(before.stdout, after.stdout)

    def test_an_uncompressed_trace_gives_the_same_answer(self):
        with tempfile.TemporaryDirectory() as folder:
            plain = Path(folder, "mlp.json")
            with gzip.open(MLP) as packed:
                plain.write_bytes(packed.read())
            self.assertEqual(run("top", str(plain), "--json").stdout, run("top", MLP, "--json").stdout)


if __name__ == "__main__":
    unittest.main()
