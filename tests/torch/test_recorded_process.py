"""A training process that is recorded from outside: what is in its file when it ends, is killed, or forks."""
import glob
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from recorded import TELLTALE, Recorded

PATIENCE = 120  # seconds until something that must happen is taken as never happening

TRAINING = """
import sys, torch
from telltale._capture import attach
config = {"path": sys.argv[1], "shapes": True, "memory": True}
assert attach.before_torch(config)
attach.after_torch(config)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.Adam(model.parameters())
"""
LOOP = """
import itertools
for step in (itertools.count() if sys.argv[2] == "ever" else range(int(sys.argv[2]))):
    optimizer.zero_grad()
    model(torch.ones(8, 16)).sum().backward()
    optimizer.step()
    print(step, flush=True)
"""
LOADER = """
class Squares(torch.utils.data.Dataset):
    def __len__(self):
        return 8
    def __getitem__(self, i):
        return torch.full((16,), float(i)).square()
for batch in torch.utils.data.DataLoader(Squares(), batch_size=2, num_workers=2):
    optimizer.zero_grad()
    model(batch).sum().backward()
    optimizer.step()
"""


FORKING = """
import os, threading
is_over = threading.Event()
def allocate():
    while not is_over.is_set():
        with torch.profiler.record_function("allocating"):
            torch.ones(100).add(1)
threads = [threading.Thread(target=allocate) for _ in range(3)]
for thread in threads:
    thread.start()
for _ in range(60):
    pid = os.fork()
    if pid == 0:
        with torch.profiler.record_function("in the child"):
            torch.ones(100).add(1)
        os._exit(0)
    assert os.waitpid(pid, 0)[1] == 0
is_over.set()
for thread in threads:
    thread.join()
"""


class Process(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = str(self.folder / "run.%p.tell")

    def start(self, program, *words):
        return subprocess.Popen([sys.executable, "-c", program, self.path, *words], stdout=subprocess.PIPE, text=True)

    def files(self):
        return sorted(glob.glob(str(self.folder / "*.tell")))

    def test_that_ends_has_all_its_steps(self):
        process = self.start(TRAINING + LOOP, "5")
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(self.files(), [self.path.replace("%p", str(process.pid))])
        recorded = Recorded(self.files()[0])
        self.assertEqual(len(recorded.named("Optimizer.step#Adam.step")), 5)
        self.assertEqual(len(recorded.steps()), 5)
        self.assertEqual(len(recorded.named("nn.Module: Linear_0")), 5)
        self.assertTrue(recorded.memory)

    def test_that_leaves_without_cleaning_up_has_all_it_did(self):
        process = self.start(TRAINING + LOOP + "import os; os._exit(7)", "2")
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 7)
        self.assertEqual(len(Recorded(self.files()[0]).named("Optimizer.step#Adam.step")), 2)

    def test_that_is_killed_has_all_but_the_last_moments(self):
        process = self.start(TRAINING + LOOP, "ever")
        for line in process.stdout:
            if int(line) >= 50:
                break
        deadline = time.monotonic() + PATIENCE
        while len(Recorded(self.files()[0]).named("Optimizer.step#Adam.step")) <= 50:
            self.assertLess(time.monotonic(), deadline, "nothing comes to the file")
        process.send_signal(signal.SIGKILL)
        rest = [line, *process.communicate(timeout=PATIENCE)[0].split()]
        recorded = Recorded(self.files()[0])
        self.assertGreater(len(recorded.named("Optimizer.step#Adam.step")), 50)
        self.assertLessEqual(len(recorded.steps()), int(rest[-1]) + 2)
        done = subprocess.run([TELLTALE, "analyze", "--json", self.files()[0]], capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(json.loads(done.stdout)["step"]["count"], 0)

    def test_that_forks_amid_its_threads_leaves_no_child_hanging(self):
        process = self.start(TRAINING + FORKING)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(self.files()), 61)
        children = [path for path in self.files() if f".{process.pid}." not in path]
        self.assertEqual([len(Recorded(path).named("in the child")) for path in children], [1] * 60)

    def test_and_the_workers_of_its_loader_have_a_file_each(self):
        process = self.start(TRAINING + LOADER)
        process.communicate(timeout=PATIENCE)
        self.assertEqual(process.returncode, 0)
        self.assertEqual(len(self.files()), 3)
        squares = [len(Recorded(path).named("aten::square")) + len(Recorded(path).named("aten::pow")) for path in self.files()
                   if str(process.pid) not in os.path.basename(path).split(".")[1:2]]
        self.assertTrue(all(count >= 4 for count in squares), squares)


if __name__ == "__main__":
    unittest.main()
