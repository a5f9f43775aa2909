"""Signals reach a recorded program as often as they would without us, whoever sends them to whom, with a terminal and
without one."""
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
import unittest

from record_test import PATIENCE, PROGRAM, RecordTest, main

# Tells of every signal that it gets, and ends on SIGUSR2.
COUNTING = """
import os, signal, sys
numbers = {signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2, signal.SIGALRM}
signal.pthread_sigmask(signal.SIG_BLOCK, numbers)
print("ready", os.getpid(), os.getppid(), flush=True)
while (number := signal.sigwait(numbers)) != signal.SIGUSR2:
    print("got", number.name, flush=True)
print("end", flush=True)
sys.exit(7)
"""
LONG_ENOUGH = 0.5  # for a second one, which must not come


def members(group):
    """The processes of a process group, as /proc has them."""
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.getpgid(int(pid)) == group:
                found.append(int(pid))
        except ProcessLookupError:
            pass
    return found


def words_of(pid):
    with open(f"/proc/{pid}/cmdline", "rb") as file:
        return file.read().decode().replace("\0", " ").strip()


def state_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(") ")[2][0]


class Run:
    """A command that runs in a session of its own, with a terminal or without one, and what it printed."""

    def __init__(self, command, folder, environment, has_terminal):
        self.shown, self.others = "", []
        if has_terminal:
            self.pid, self.terminal = pty.fork()
            if self.pid == 0:
                settings = termios.tcgetattr(0)
                settings[3] &= ~termios.ECHO  # what is typed would stand in the midst of what is printed
                termios.tcsetattr(0, termios.TCSANOW, settings)
                os.chdir(folder)
                os.execvpe(command[0], command, environment)
            self._output = self.terminal
        else:
            process = subprocess.Popen(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=True)
            self.pid, self._output, self._process = process.pid, process.stdout.fileno(), process
        self._code = None

    def read(self, seconds):
        """Whether there was something more."""
        if not select.select([self._output], [], [], seconds)[0]:
            return False
        try:
            more = os.read(self._output, 4096).decode()
        except OSError:  # a terminal without programs
            more = ""
        self.shown += more
        return bool(more)

    def wait_for(self, text):
        deadline = time.monotonic() + PATIENCE
        while "\n" not in self.shown.partition(text)[2]:
            if not self.read(1) and time.monotonic() > deadline:
                raise AssertionError(f"'{text}' did not come: {self.shown}")
        return self.shown[self.shown.index(text):].split()

    def exit_code(self):
        if self._code is None:
            self._code = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self._code

    def end(self):
        for pid in [self.pid, *self.others] if self._code is None else []:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        self.exit_code()
        if hasattr(self, "terminal"):
            os.close(self.terminal)
        else:
            self._process.returncode = self._code
            self._process.stdout.close()


class Signals(RecordTest):
    def setUp(self):
        super().setUp()
        self.script = str(self.write("counting_script.py", COUNTING))

    def each_way(self, *before, command=(), after=()):
        """Runs, one with a terminal and one without, that are ready, with the pids of the command and of telltale."""
        words = [*before, PROGRAM, "record", "--engine", "kineto", *after, "--", *command, sys.executable, self.script]
        for has_terminal in (False, True):
            with self.subTest(has_terminal=has_terminal):
                run = Run(words, self.folder, self.environment(), has_terminal)
                try:
                    child, ours = map(int, run.wait_for("ready ")[1:3])
                    run.others = [child, ours]
                    yield run, child, ours
                finally:
                    run.end()

    def wait_until_got(self, run, count):
        """Two that come before the first is taken are one."""
        deadline = time.monotonic() + PATIENCE
        while run.shown.count("got ") < count:
            self.assertLess(time.monotonic(), deadline, run.shown)
            run.read(1)

    def assert_got(self, run, child, *names):
        """These arrive in the command, and no more of them."""
        self.wait_until_got(run, len(names))
        while run.read(LONG_ENOUGH):
            pass
        os.kill(child, signal.SIGUSR2)
        run.wait_for("end")
        got = [line.split("got ")[1] for line in run.shown.splitlines() if "got " in line]
        self.assertEqual(got, list(names), run.shown)

    def test_one_to_the_group_arrives_once(self):
        for run, child, ours in self.each_way():
            for count, number in enumerate((signal.SIGTERM, signal.SIGTERM, signal.SIGHUP)):
                os.killpg(os.getpgid(ours), number)
                self.wait_until_got(run, count + 1)
            self.assert_got(run, child, "SIGTERM", "SIGTERM", "SIGHUP")
            self.assertEqual(run.exit_code(), 7)

    def test_one_to_us_alone_is_passed_on(self):
        for run, child, ours in self.each_way():
            for count, number in enumerate((signal.SIGTERM, signal.SIGTERM, signal.SIGALRM, signal.SIGUSR1)):
                os.kill(ours, number)
                self.wait_until_got(run, count + 1)
            self.assert_got(run, child, "SIGTERM", "SIGTERM", "SIGALRM", "SIGUSR1")

    def test_one_to_the_command_alone_is_its_own(self):
        for run, child, _ in self.each_way():
            os.kill(child, signal.SIGTERM)
            self.assert_got(run, child, "SIGTERM")

    def test_one_to_every_process_arrives_once(self):
        # As systemd ends a unit.
        for run, child, ours in self.each_way():
            for pid in members(os.getpgid(ours)):
                os.kill(pid, signal.SIGTERM)
            self.assert_got(run, child, "SIGTERM")

    def test_timeout_is_obeyed_once(self):
        # Told to end, it does what it does when the time is over.
        for words in (["timeout", "300"], ["timeout", "--foreground", "300"]):
            for run, child, _ in self.each_way(*words):
                os.kill(run.pid, signal.SIGTERM)
                self.assert_got(run, child, "SIGTERM")

    @unittest.skipUnless(shutil.which("pkill"), "there is no pkill")
    def test_one_by_the_command_line_arrives_once(self):
        for pattern in (self.script, f"telltale record .*{self.script}"):
            for run, child, _ in self.each_way():
                subprocess.run(["pkill", "-TERM", "-f", pattern], check=True)
                self.assert_got(run, child, "SIGTERM")

    def test_typed_ones_arrive_as_often_as_they_are_typed(self):
        for run, child, _ in self.each_way():
            if hasattr(run, "terminal"):
                for count in (1, 2):
                    os.write(run.terminal, b"\x03")
                    self.wait_until_got(run, count)
                self.assert_got(run, child, "SIGINT", "SIGINT")

    def test_ignored_ones_stay_ignored(self):
        # As nohup does it, which would take the output away as well.
        for run, child, ours in self.each_way("sh", "-c", 'trap "" HUP; exec "$@"', "sh"):
            with open(f"/proc/{child}/status", encoding="ascii") as file:
                [ignored] = [int(line.split()[1], 16) for line in file if line.startswith("SigIgn")]
            self.assertTrue(ignored & 1 << (signal.SIGHUP - 1))
            os.killpg(os.getpgid(ours), signal.SIGHUP)
            # It waits for them nevertheless, so that it comes.
            self.assert_got(run, child, "SIGHUP")

    def test_a_command_outside_our_group_gets_them_from_us(self):
        for run, child, ours in self.each_way(command=["setsid"]):
            self.assertNotEqual(os.getpgid(child), os.getpgid(ours))
            os.kill(ours, signal.SIGTERM)
            self.assert_got(run, child, "SIGTERM")

    def test_it_stops_and_goes_on_with_us(self):
        # The kernel stops only what somebody in its session could continue: here a parent in a group of its own.
        parent = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:], process_group=0).returncode)"
        for run, child, ours in self.each_way(sys.executable, "-c", parent):
            for number, expected in ((signal.SIGTSTP, "T"), (signal.SIGCONT, "S")):
                os.kill(ours, number)
                deadline = time.monotonic() + PATIENCE
                while {state_of(child), state_of(ours)} != {expected}:
                    self.assertLess(time.monotonic(), deadline, (number, state_of(child), state_of(ours)))
                    time.sleep(0.01)
            self.assert_got(run, child)

    def witness_among(self, pids):
        [witness] = [pid for pid in pids if words_of(pid).startswith("witness: ")]
        return witness

    def test_without_a_witness_none_is_lost(self):
        for run, child, ours in self.each_way():
            os.kill(self.witness_among(members(os.getpgid(ours))), signal.SIGKILL)
            time.sleep(0.05)
            os.kill(ours, signal.SIGTERM)
            self.assert_got(run, child, "SIGTERM")

    def test_the_witness_goes_with_us(self):
        for run, child, ours in self.each_way():
            witness = self.witness_among(members(os.getpgid(ours)))
            self.assertEqual(words_of(witness), f"witness: {sys.executable} {self.script}")
            self.assertEqual(os.listdir(f"/proc/{witness}/fd"), ["0"])
            os.kill(ours, signal.SIGKILL)
            deadline = time.monotonic() + PATIENCE
            while os.path.exists(f"/proc/{witness}") and state_of(witness) != "Z":
                self.assertLess(time.monotonic(), deadline)
                time.sleep(0.01)
            os.kill(child, signal.SIGKILL)


if __name__ == "__main__":
    main()
