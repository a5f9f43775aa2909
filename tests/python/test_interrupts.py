"""Loading leaves Python's other threads alone, tells how far it is, and ends at Ctrl-C."""
import gzip
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from pathlib import Path

import telltale
from common import MLP

INTERRUPTED = """
import sys, telltale
try:
    telltale.load(sys.argv[1])
except KeyboardInterrupt:
    print("interrupted")
"""


def threads():
    return len(os.listdir("/proc/self/task"))


class Interrupts(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.pipe = Path(folder.name, "pipe")
        os.mkfifo(self.pipe)

    def test_other_threads_run_while_a_trace_is_read(self):
        # The text comes from a thread of the same process: while nobody else may run, it never comes.
        with gzip.open(MLP) as file:
            text = file.read()
        writer = threading.Thread(target=lambda: self.pipe.write_bytes(text))
        writer.start()
        trace = telltale.load(self.pipe)
        writer.join()
        self.assertEqual(trace.top(), telltale.load(MLP).top())

    def test_ctrl_c_ends_a_read_that_would_never_end(self):
        child = subprocess.Popen([sys.executable, "-c", INTERRUPTED, self.pipe], stdout=subprocess.PIPE, encoding="utf-8")
        with self.pipe.open("wb") as writer:  # waits until the child has opened its side, which loading does
            writer.write(b'{"traceEvents": [')
            writer.flush()
            child.send_signal(signal.SIGINT)
            self.assertEqual(child.communicate()[0], "interrupted\n")
        self.assertEqual(child.returncode, 0)

    def test_what_progress_raises_ends_the_read_and_leaves_no_thread(self):
        def stop(share):
            raise InterruptedError(share)

        before = threads()
        for _ in range(10):
            writer = os.open(self.pipe, os.O_RDWR)
            os.write(writer, b'{"traceEvents": [' + b'{"ph": "X", "name": "a", "ts": 1, "dur": 1},' * 100)
            with self.assertRaises(InterruptedError):
                telltale.load(self.pipe, progress=stop)
            os.close(writer)  # the text ends, so that the read does
        while threads() > before:  # a thread that stays makes this test run into its limit
            time.sleep(0.01)

    def test_progress_rises_to_one(self):
        shares = []
        telltale.load(MLP, progress=shares.append)
        self.assertEqual(shares, sorted(shares))
        self.assertEqual(shares[-1], 1.0)

    def test_answers_are_given_to_several_threads_at_once(self):
        trace = telltale.load(MLP)
        expected = trace.top("all"), trace.analyze()
        found = []
        workers = [threading.Thread(target=lambda: found.append((trace.top("all"), trace.analyze()))) for _ in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        self.assertEqual(found, [expected] * 4)


if __name__ == "__main__":
    unittest.main()
