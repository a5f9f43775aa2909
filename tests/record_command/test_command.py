"""`telltale record` leaves the command as it is: words, input, output, terminal, signals, exit code."""
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import time

from record_test import PATIENCE, PROGRAM, RecordTest, main

KINETO = ("--engine", "kineto")  # needs no package beside the program


class TheCommand(RecordTest):
    def test_its_exit_code_is_ours(self):
        for code in (0, 1, 3, 255):
            self.assertEqual(self.record(*KINETO, "--", "sh", "-c", f"exit {code}").returncode, code)

    def test_a_signal_that_killed_it_is_told_as_shells_do(self):
        for number in (signal.SIGKILL, signal.SIGTERM, signal.SIGSEGV):
            done = self.record(*KINETO, "--", "sh", "-c", f"kill -{int(number)} $$")
            self.assertEqual(done.returncode, 128 + number)
            self.assertIn(f"ended by signal {int(number)}", done.stderr)

    def test_one_that_is_not_there(self):
        done = self.record(*KINETO, "--", "no-such-command")
        self.assertEqual(done.returncode, 127)
        self.assertEqual(done.stderr, "telltale: there is no command 'no-such-command'\n")

    def test_one_that_cannot_be_run(self):
        path = self.write("plain.txt", "no program")
        done = self.record(*KINETO, "--", path)
        self.assertEqual(done.returncode, 126)
        self.assertIn("Permission denied", done.stderr)

    def test_its_input_and_output_are_untouched(self):
        done = self.record(*KINETO, "--", "sh", "-c", "cat; echo wrong >&2", input="one\ntwo")
        self.assertEqual(done.stdout, "one\ntwo")
        self.assertTrue(done.stderr.startswith("wrong\n"), done.stderr)

    def test_its_words_are_its_own(self):
        words = ["--steps", "--", "[1,2]", "", "a b", "{}", "-o", "record"]
        script = "import sys, json; json.dump(sys.argv[1:], sys.stdout)"
        for mark in (["--"], []):
            done = self.record(*KINETO, *mark, sys.executable, "-c", script, *words)
            self.assertEqual(done.stdout, '["--steps", "--", "[1,2]", "", "a b", "{}", "-o", "record"]')

    def test_it_blocks_and_ignores_no_other_signals_than_without_us(self):
        def masks(process):
            own_of_glibc = 3 << 31  # which ignores signals 32 and 33 in all that it spawns
            return [int(mask, 16) & ~own_of_glibc for mask in process.stdout.split()[1::2]]

        words = ("grep", "^Sig[BI]", "/proc/self/status")
        plain = subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8", check=True)  # nohup ignores one, say
        self.assertEqual(masks(self.record(*KINETO, "--", *words)), masks(plain))
        self.assertEqual(self.record(*KINETO, "--", "sh", "-c", "kill -PIPE $$").returncode, 128 + signal.SIGPIPE)

    def test_no_torch_is_no_failure_but_is_said(self):
        done = self.record(*KINETO, "--", sys.executable, "-c", "print(1)")
        self.assertEqual((done.returncode, done.stdout), (0, "1\n"))
        self.assertEqual(len(done.stderr.splitlines()), 1)
        self.assertIn("nothing was recorded: no process asked for work", done.stderr)
        self.assertEqual(self.files(), [])

    def test_a_path_that_is_no_text_is_refused_with_a_sentence(self):
        folder = os.fsencode(self.folder) + b"/f\xff"
        os.mkdir(folder)
        done = self.record(*KINETO, "-o", os.fsdecode(folder), "--", "echo", "hello")
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("the path of a recording must be UTF-8; choose another one with -o", done.stderr)

    def test_a_path_of_several_lines_is_a_path(self):
        folder = self.folder / "two\nlines"
        folder.mkdir()
        done = self.record(*KINETO, "-o", folder, "--", "echo", "hello")
        self.assertEqual((done.returncode, done.stdout), (0, "hello\n"), done.stderr)

    def test_nothing_is_left_in_the_temporary_folder(self):
        done = self.record(*KINETO, "--", "sh", "-c", "echo $KINETO_IPC_SOCKET_DIR")
        folder = done.stdout.strip()
        self.assertRegex(folder, "^/tmp/telltale-")
        self.assertFalse(os.path.exists(folder))

    def test_what_a_killed_recording_has_left_there_goes_with_the_next(self):
        script = "import os, time; print(os.environ['KINETO_IPC_SOCKET_DIR'], os.getpid(), flush=True); time.sleep(60)"
        folders = []
        for _ in range(2):
            process = self.start(PROGRAM, "record", *KINETO, "--", sys.executable, "-c", script, stdout=-1, stderr=-1)
            folder, child = process.stdout.readline().split()
            folders.append(folder)
            self.addCleanup(os.kill, int(child), signal.SIGKILL)
            os.utime(folder, (0, 0))  # long ago
            if len(folders) == 1:
                process.kill()
                process.wait()
        self.assertEqual([os.path.exists(folder) for folder in folders], [False, True])
        self.record(*KINETO, "--", "true")
        self.assertEqual([os.path.exists(folder) for folder in folders], [False, True])  # one that goes on


class Signals(RecordTest):
    SCRIPT = """
import signal, sys, time
def caught(number, frame):
    print("got", number, flush=True)
    sys.exit(7)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
    signal.signal(number, caught)
print("ready", flush=True)
time.sleep(60)
"""

    def test_those_that_only_we_got_are_passed_on(self):
        for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGUSR1):
            process = self.start(PROGRAM, "record", *KINETO, "--", sys.executable, "-c", self.SCRIPT, stdout=-1,
                                 stderr=-1)
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(number)
            output, _ = process.communicate(timeout=PATIENCE)
            self.assertEqual(output, f"got {int(number)}\n")
            self.assertEqual(process.returncode, 7)


class OnATerminal(RecordTest):
    def on_terminal(self, script, typed=None):
        """What a terminal shows of a recorded Python script, and the exit code."""
        path = self.write("script.py", script)
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(PROGRAM, [PROGRAM, "record", *KINETO, "--", sys.executable, str(path)], self.environment())
        shown, deadline = "", time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            if not select.select([terminal], [], [], 1)[0]:
                continue
            try:
                shown += os.read(terminal, 4096).decode()
            except OSError:
                break
            if typed and "ready" in shown:
                os.write(terminal, typed)
                typed = None
        os.close(terminal)
        return shown, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_it_has_the_terminal(self):
        shown, code = self.on_terminal(
            "import os; print([os.isatty(n) for n in range(3)], os.getpgrp() == os.tcgetpgrp(0))")
        self.assertIn("[True, True, True] True", shown)
        self.assertEqual(code, 0)

    def test_an_interrupt_reaches_it_once_and_does_not_end_us(self):
        shown, code = self.on_terminal("""
import signal, sys, time
times = []
signal.signal(signal.SIGINT, lambda *_: times.append(1))
print("ready", flush=True)
end = time.monotonic() + 60
while not times and time.monotonic() < end:
    time.sleep(0.05)
time.sleep(0.5)  # for a second one, which must not come
print("interrupts:", len(times), flush=True)
sys.exit(5)
""", typed=b"\x03")
        self.assertIn("interrupts: 1\r", shown)
        self.assertIn("nothing was recorded", shown)
        self.assertEqual(code, 5)


class Words(RecordTest):
    """What cannot be done is said before the command runs."""

    def refused(self, *words):
        done = self.record(*words)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual((done.stdout, len(done.stderr.splitlines())), ("", 1))
        return done.stderr

    def test_what_is_missing_or_too_much(self):
        self.assertIn("say what to run", self.refused())
        self.assertIn("say what to run", self.refused("--"))
        self.assertIn("either --pid or a command", self.refused("--pid", os.getpid(), "--", "echo"))
        self.assertIn("--active N is missing", self.refused("--wait", 2, "--", "echo"))
        self.assertIn("--steps takes a number from 1 to 1,000,000, not '0'", self.refused("--steps", 0, "--", "echo"))
        self.assertIn("--seconds takes a number from 0.001 to 1,000,000, not 'x'", self.refused("--seconds", "x", "--", "echo"))
        self.assertIn("--price takes a number of 0 or more, not '-1'", self.refused("--price=-1", "--", "echo"))
        self.assertIn("--price takes a number of 0 or more, not 'inf'", self.refused("--price", "inf", "--", "echo"))
        self.assertIn("--engine cannot be 'kinetto'; did you mean 'kineto'?", self.refused("--engine", "kinetto", "--", "echo"))
        self.assertIn("--engine cannot be 'x'; choose auto, telltale or kineto", self.refused("--engine", "x", "--", "echo"))
        self.assertIn("give either --steps or --seconds, not both", self.refused("--steps", 1, "--seconds", 1, "--", "echo"))
        self.assertIn("there is no option '--stesp'; did you mean '--steps'?", self.refused("--stesp", "--", "echo"))
        self.assertIn("there is no process", self.refused("--pid", 4194304))

    def test_names_that_cannot_be_written(self):
        self.write("there.json", "{}")
        self.assertIn("the file exists", self.refused(*KINETO, "-o", "there.json", "--", "echo"))
        self.assertIn("its extension is not that of a recording", self.refused(*KINETO, "-o", "run.txt", "--", "echo"))
        self.assertIn("no such folder", self.refused(*KINETO, "-o", "no/run.tell", "--", "echo"))
        self.assertEqual(self.record(*KINETO, "--force", "-o", "there.json", "--", "true").returncode, 0)
        self.assertEqual((self.folder / "there.json").read_text(), "{}")

    def test_the_program_without_its_package_says_so(self):
        empty = self.folder / "empty"
        empty.mkdir()
        program = empty / "telltale"
        shutil.copy(PROGRAM, program)
        process = self.start(program, "record", "--", "true", stderr=-1, variables={"CUDA_VISIBLE_DEVICES": ""})
        sentence = process.communicate()[1]
        self.assertEqual(process.returncode, 0)
        self.assertTrue(re.match("telltale: the Python package telltale is not installed beside .* PyTorch.s own profiler records instead", sentence), sentence)
        process = self.start(program, "record", "--engine", "telltale", "--", "echo", stdout=-1, stderr=-1)
        self.assertEqual(process.communicate()[0], "")
        self.assertEqual(process.returncode, 2)


if __name__ == "__main__":
    main()
