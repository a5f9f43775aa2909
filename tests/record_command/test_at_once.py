"""Several `telltale record` at once, in one folder and with one name: nothing is lost and nothing mixed.

The processes are stand-ins: they write a recording where TELLTALE_ATTACH says, as docs/record.md has it for those who
embed it."""
import os
import re
import signal
import sys

from record_test import PATIENCE, PROGRAM, ROOT, RecordTest, main

CHILDREN = 6

# Tells its pid, writes its file, and waits for a word before it ends, so that all are there at the same time.
PROCESS = """
import json, os, shutil, sys
path = json.loads(os.environ["TELLTALE_ATTACH"])["path"].replace("%p", str(os.getpid()))
shutil.copy(sys.argv[1], path)
print(os.getpid(), flush=True)
sys.stdin.readline()
"""
# Starts some of these, and is not recorded itself.
COMMAND = """
import subprocess, sys
words = [sys.executable, *sys.argv[2:]]
all = [subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) for _ in range(int(sys.argv[1]))]
for each in all:
    print(each.stdout.readline().strip(), flush=True)
sys.stdin.readline()
for each in all:
    each.communicate("end\\n")
"""


class AtOnce(RecordTest):
    def setUp(self):
        super().setUp()
        self.runs = self.folder / "runs"
        self.runs.mkdir()
        self.process = self.write("process.py", PROCESS)
        self.command = self.write("command.py", COMMAND)
        self.samples = []
        for name in ("small_train", "mlp_sync"):
            self.samples.append(self.folder / f"{name}.tell")
            done = self.run_it("convert", ROOT / "examples" / "traces" / f"{name}.json.gz", "-o", self.samples[-1])
            self.assertEqual(done.returncode, 0, done.stderr)

    def words(self, sample, *options, children=CHILDREN):
        return ("record", "--engine", "telltale", "--no-analyze", *options, "--", sys.executable, self.command, children,
                self.process, sample)

    def started(self, sample, *options, children=CHILDREN):
        """A recording whose processes have all written, and their pids."""
        process = self.start(PROGRAM, *self.words(sample, *options, children=children), stdin=-1, stdout=-1, stderr=-1,
                             variables={"TELLTALE_PYTHON": ROOT / "python"})
        pids = [int(process.stdout.readline()) for _ in range(children)]
        return process, sorted(pids)

    def ended(self, process):
        _, said = process.communicate("end\n", timeout=PATIENCE)
        self.assertEqual(process.returncode, 0, said)
        return said

    def pids_of(self, said):
        return sorted(int(pid) for pid in re.findall(r", process (\d+)", said))

    def test_each_has_its_own_files_when_nobody_names_them(self):
        options = ("-o", self.runs)
        both = [self.started(sample, *options) for sample in self.samples]
        for (process, pids), sample in zip(both, self.samples):
            said = self.ended(process)
            self.assertEqual(self.pids_of(said), pids)
            self.assertIn(f"recorded {CHILDREN} files", said)
            for pid in pids:
                (path,) = self.runs.glob(f"*_{pid}.tell")
                self.assertEqual(path.read_bytes(), sample.read_bytes())
        self.assertEqual(len(os.listdir(self.runs)), 2 * CHILDREN)

    def test_a_name_belongs_to_the_first_who_took_it(self):
        options = ("-o", self.runs / "run.tell")
        first, pids = self.started(self.samples[0], *options)
        for more in ((), ("--force",)):
            done = self.run_it(*self.words(self.samples[1], *options, *more),
                               variables={"TELLTALE_PYTHON": ROOT / "python"})
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertEqual(done.stderr, f"telltale: {self.runs / 'run.tell'}: another telltale record writes to it; "
                                          "choose another name with -o\n")
        self.assertEqual(self.pids_of(self.ended(first)), pids)
        self.assertEqual(sorted(os.listdir(self.runs)), sorted(f"run_{pid}.tell" for pid in pids))

    def test_one_name_with_two_extensions_is_one_name(self):
        first, _ = self.started(self.samples[0], "-o", self.runs / "run.tell", children=1)
        done = self.run_it(*self.words(self.samples[1], "-o", self.runs / "run.json.gz"),
                           variables={"TELLTALE_PYTHON": ROOT / "python"})
        self.assertEqual(done.returncode, 2, done.stderr)
        self.ended(first)
        self.assertEqual(os.listdir(self.runs), ["run.tell"])

    def test_files_of_that_name_that_are_no_part_of_it_stay(self):
        other = self.runs / "run_4711.tell"
        first, _ = self.started(self.samples[0], "-o", self.runs / "run.tell", children=1)
        other.write_bytes(self.samples[1].read_bytes())
        said = self.ended(first)
        self.assertNotIn("4711", said)
        self.assertEqual(sorted(os.listdir(self.runs)), ["run.tell", "run_4711.tell"])
        self.assertEqual((self.runs / "run.tell").stat().st_mode & 0o777, 0o600)

    def test_a_file_that_appears_meanwhile_is_not_overwritten(self):
        first, _ = self.started(self.samples[0], "-o", self.runs / "run.tell", children=1)
        (self.runs / "run.tell").write_text("precious")
        said = self.ended(first)
        self.assertIn("a file of that name has appeared meanwhile; the recording is in ", said)
        self.assertEqual((self.runs / "run.tell").read_text(), "precious")
        (left,) = (self.runs / ".run.recording").glob("run_*.tell")
        self.assertEqual(left.read_bytes(), self.samples[0].read_bytes())

    def test_what_a_killed_one_had_recorded_is_put_aside_by_the_next(self):
        first, (pid,) = self.started(self.samples[0], "-o", self.runs / "run.tell", children=1)
        first.send_signal(signal.SIGKILL)
        first.communicate()
        next_one, _ = self.started(self.samples[1], "-o", self.runs / "run.tell", children=1)
        said = self.ended(next_one)
        self.assertIn("run.recording-1", said)
        self.assertEqual((self.runs / "run.recording-1" / f"run_{pid}.tell").read_bytes(), self.samples[0].read_bytes())
        self.assertEqual((self.runs / "run.tell").read_bytes(), self.samples[1].read_bytes())


if __name__ == "__main__":
    main()
