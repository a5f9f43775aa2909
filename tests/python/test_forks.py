"""Forks and the end of the process, while a thread waits for an answer."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import telltale
from common import MLP
from telltale._trace import Trace

LONGEST_S = 60  # of a child that would never end; never reached by one that does

# A daemon thread waits for a file that never comes while the interpreter goes down, which takes a moment.
ENDS_WHILE_READING = """
import os, sys, threading, time
import telltale

class Slow:
    def __del__(self):
        sleep(0.3)

sleep = time.sleep
pipe = os.open(sys.argv[1], os.O_RDWR)
threading.Thread(target=telltale.load, args=(sys.argv[1],), daemon=True).start()
sleep(0.1)
sys.slow = Slow()
"""

# The handler of a signal forks while the thread that runs it waits for a file that never comes.
FORKS_IN_A_HANDLER = """
import os, signal, sys
import telltale

def fork(number, frame):
    global child
    child = os.fork()
    if child > 0:
        raise InterruptedError

signal.signal(signal.SIGUSR1, fork)
pipe = os.open(sys.argv[1], os.O_RDWR)
try:
    telltale.load(sys.argv[1], progress=lambda share: os.kill(os.getpid(), signal.SIGUSR1))
except InterruptedError:
    _, status = os.waitpid(child, 0)
    sys.exit(os.waitstatus_to_exitcode(status))
except telltale.TelltaleError as error:
    sys.exit(7 if "forked" in str(error) else 8)
"""

# A thread waits for a file that never comes while children end. A job is given a whole second: that the machine takes as
# long for nothing is unlikely, and never five times.
ENDS_IN_A_CHILD = """
import os, sys, threading, time
import telltale

pipe = os.open(sys.argv[1], os.O_RDWR)
threading.Thread(target=telltale.load, args=(sys.argv[1],)).start()
while len(os.listdir("/proc/self/task")) < 3:
    time.sleep(0.01)
shortest = 60
for _ in range(5):
    child = os.fork()
    if child == 0:
        sys.exit()
    before = time.monotonic()
    os.waitpid(child, 0)
    shortest = min(shortest, time.monotonic() - before)
os._exit(0 if shortest < 1 else 9)
"""


class SlowCore:
    """A trace that is asked, and does not answer before it may."""

    def __init__(self):
        self.is_asked = threading.Event()
        self.may_answer = threading.Event()

    def info(self):
        self.is_asked.set()
        self.may_answer.wait()
        return telltale.load(MLP)._core.info()


def status_of_child(work):
    """How a child that does `work` ends: 0 when it returns, a signal's number when it has to be ended."""
    child = os.fork()
    if child == 0:
        signal.alarm(LONGEST_S)
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


class Forks(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pipe = Path(folder.name, "pipe")
        os.mkfifo(self.pipe)

    def run_program(self, text):
        """Its exit status and what it says on standard error. One that never ends is ended, with its children."""
        with subprocess.Popen(
            [sys.executable, "-c", text, self.pipe], stderr=subprocess.PIPE, encoding="utf-8", start_new_session=True
        ) as program:
            end = threading.Timer(LONGEST_S, os.killpg, (program.pid, signal.SIGKILL))
            end.start()
            said = program.communicate()[1]
            end.cancel()
        return program.returncode, said

    def test_a_child_is_answered_though_another_thread_was_asking(self):
        trace = telltale.load(MLP)
        core = SlowCore()
        asking = threading.Thread(target=Trace(core, "slow").info)
        asking.start()
        core.is_asked.wait()
        self.assertEqual(status_of_child(trace.info), 0)
        core.may_answer.set()
        asking.join()

    def test_a_child_does_not_wait_for_the_jobs_of_its_parent(self):
        self.assertEqual(self.run_program(ENDS_IN_A_CHILD), (0, ""))

    def test_a_child_that_a_handler_forked_is_told_that_its_job_is_gone(self):
        self.assertEqual(self.run_program(FORKS_IN_A_HANDLER), (7, ""))

    def test_the_process_ends_cleanly_while_a_thread_waits(self):
        self.assertEqual(self.run_program(ENDS_WHILE_READING), (0, ""))


if __name__ == "__main__":
    unittest.main()
