"""What a recording tells of the program's data loaders: how they were made, and what making batches takes."""
import glob
import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch
from recorded import Recorded
from telltale._capture import Recording, Wanted
from telltale._capture.batch_duty import BatchDuty
from telltale._capture.loader_work import busy_lines, gathered
from torch.utils.data import DataLoader

PROGRAM = """
import sys, time, torch
from telltale import _recorder
# What the recorder's sampler would have seen in a worker: of 100 samples, 60 slept, 20 ran and 20 were idle.
_recorder.sampled_lines = lambda: [("data.py", 7, "__getitem__", "sleep", 60), ("data.py", 9, "collate", "", 20),
                                   ("", 0, "", "poll", 20)]
from telltale._capture import attach
config = {"path": sys.argv[1], "marks": sys.argv[2]}
class Sleepy(torch.utils.data.Dataset):
    def __len__(self):
        return 6
    def __getitem__(self, i):
        time.sleep(0.002)
        return torch.ones(4)
if __name__ == "__main__":
    assert attach.before_torch(config)
    attach.after_torch(config)
    for epoch in range(3):
        for batch in torch.utils.data.DataLoader(Sleepy(), batch_size=2, num_workers=int(sys.argv[3])):
            batch.sum()
"""


class Samples(unittest.TestCase):
    def test_waiting_outside_of_the_loop_is_idle(self):
        outside = frozenset({("/home/me/train.py", 30)})
        samples = [("train.py", 30, "main", "poll", 50), ("train.py", 30, "main", "", 5), ("data.py", 7, "load", "", 40),
                   ("data.py", 8, "load", "lock", 5), ("", 0, "", "lock", 9)]
        self.assertEqual(busy_lines(samples, outside), {("data.py", 7, "load", ""): 40, ("", 0, "", ""): 5,
                                                        ("data.py", 8, "load", "lock"): 5})

    def test_workers_count_by_the_time_that_they_were_busy(self):
        line, other = ["data.py", 7, "load", ""], ["data.py", 9, "load", "sleep"]
        told = gathered([{"batches": 3, "took_ns": 300, "processor_ns": 200, "lines": [[*line, 1.0]]},
                         {"batches": 1, "took_ns": 100, "processor_ns": 10, "lines": [[*line, 0.5], [*other, 0.5]]}])
        # 300 + 50 and 50 of 400
        self.assertEqual(told, {"workers": 2, "batches": 4, "took_ns": 400, "processor_ns": 210,
                                "lines": [[*line, 0.875], [*other, 0.125]]})

    def test_workers_that_are_not_recorded_have_no_say_in_lines(self):
        line = ["data.py", 7, "load", ""]
        told = gathered([{"batches": 3, "took_ns": 300, "processor_ns": 200, "lines": [[*line, 0.8]]},
                         {"batches": 5, "took_ns": 900, "processor_ns": 500, "lines": []}])
        self.assertEqual((told["batches"], told["took_ns"], told["lines"]), (8, 1200, [[*line, 0.8]]))

    def test_a_pair_is_never_too_long(self):
        lines = [["x" * 300 + str(i), i, "f", "", 0.05] for i in range(20)]
        told = gathered([{"batches": 1, "took_ns": 100, "processor_ns": 1, "lines": lines}])
        self.assertLess(len(json.dumps(told)), 4000)
        self.assertGreater(len(told["lines"]), 5)


class Duty(unittest.TestCase):
    @staticmethod
    def recorded(batches, took_ns, dear):
        """Which batches are recorded in full, where that makes them take `dear` times as long."""
        duty, found = BatchDuty(), []
        for batch in range(batches):
            if duty.is_recorded:
                found.append(batch)
            duty.end_batch(int(took_ns(batch) * (dear if duty.is_recorded else 1)))
        return found

    def test_batches_that_recording_does_not_slow_down_are_recorded_but_for_two_of_sixteen(self):
        self.assertEqual(self.recorded(40, lambda _: 1_000_000, 1.04),
                         [batch for batch in range(40) if batch % 16 not in (2, 3)])

    def test_of_batches_that_it_makes_slower_one_of_many_is_recorded(self):
        # The first two, the second of which is compared with the third.
        self.assertEqual(self.recorded(200, lambda _: 1_000_000, 1.5), [0, 1, 64, 128, 192])

    def test_the_first_batch_does_not_count(self):
        slow_first = lambda batch: 90_000_000 if batch == 0 else 1_000_000
        self.assertEqual(self.recorded(100, slow_first, 1.0), [batch for batch in range(100) if batch % 16 not in (2, 3)])

    def test_single_slow_batches_change_it_for_a_while_at_most(self):
        # The second batch looks dear beside the third and the fourth, until others are recorded.
        found = self.recorded(200, lambda batch: 5_000_000 if batch == 1 else 1_000_000, 1.0)
        self.assertEqual(found[:4], [0, 1, 64, 128])
        self.assertEqual(found[4:], [batch for batch in range(129, 200) if batch % 16 not in (2, 3)])


class Processes(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        (self.folder / "marks").mkdir()

    def run_program(self, workers):
        path = self.folder / "run.%p.tell"
        with subprocess.Popen([sys.executable, "-c", PROGRAM, str(path), str(self.folder / "marks"), str(workers)]) as child:
            self.assertEqual(child.wait(120), 0)
        return Recorded(str(path).replace("%p", str(child.pid))).header

    def test_the_parents_file_tells_of_its_workers(self):
        header = self.run_program(2)
        (loader,) = header["loader_workers"]
        self.assertEqual((loader["workers"], loader["batch_size"], loader["persistent_workers"], loader["iterators"]),
                         (2, 2, False, 3))
        self.assertEqual((loader["dataset"], loader["prefetch_factor"]), ("Sleepy", 2))
        # Two in each of three epochs, of which the first two write files.
        ids = header["loader_worker_ids"]
        self.assertEqual((len(ids), len(set(ids))), (6, 6))
        files = {int(path.name.split(".")[1]) for path in self.folder.glob("run.*.tell")}
        self.assertEqual((len(files), files & set(ids)), (5, set(ids[:4])))
        told = header["worker_lines"]
        self.assertEqual((told["workers"], told["batches"]), (6, 9))  # two in each of three epochs; three batches each
        self.assertGreaterEqual(told["took_ns"], 9 * 2 * 2_000_000)  # each sleeps for two samples
        self.assertLess(told["processor_ns"], told["took_ns"])
        # Of 80 busy samples.
        self.assertEqual(told["lines"], [["data.py", 7, "__getitem__", "sleep", 0.75], ["data.py", 9, "collate", "", 0.25]])
        self.assertNotIn("loader_work", header)

    def test_a_process_without_workers_tells_of_its_own_batches(self):
        header = self.run_program(0)
        self.assertNotIn("loader_worker_ids", header)
        self.assertEqual([loader["workers"] for loader in header["loader_workers"]], [0])
        self.assertEqual(header["loader_work"]["batches"], 9)
        self.assertGreaterEqual(header["loader_work"]["took_ns"], 9 * 2 * 2_000_000)
        self.assertNotIn("worker_lines", header)


    def test_a_worker_records_operators_of_chosen_batches_alone(self):
        program = PROGRAM.replace("config = {", """
from telltale._capture.batch_duty import BatchDuty
def end_batch(duty, processor_ns):
    duty.is_recorded = False
    return False
BatchDuty.end_batch = end_batch
config = {"pauses": True, """).replace("return torch.ones(4)", "return torch.ones(4).neg()")
        for pauses, batches in (("True", 1), ("False", 3)):
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "run.%p.tell")
                words = [sys.executable, "-c", program.replace('"pauses": True', f'"pauses": {pauses}'), path, folder, "1"]
                with subprocess.Popen(words) as child:
                    self.assertEqual(child.wait(120), 0)
                workers = [Recorded(name) for name in glob.glob(os.path.join(folder, "*.tell"))
                           if not name.endswith(f".{child.pid}.tell")]
            self.assertEqual(len(workers), 2)  # of the first two epochs
            for worker in workers:  # each makes three batches of two
                self.assertEqual(len(worker.named("aten::neg")), 2 * batches)


class InProcess(unittest.TestCase):
    def test_nothing_stays_when_the_recording_ends(self):
        before = DataLoader._get_iterator, torch.utils.data._utils.fetch._MapDatasetFetcher.fetch
        with tempfile.TemporaryDirectory() as folder:
            recording = Recording(os.path.join(folder, "run.tell"), Wanted())
            recording.start()
            self.assertIsNot(DataLoader._get_iterator, before[0])
            list(DataLoader(list(range(8)), batch_size=4))
            recording.stop()
            (loader,) = Recorded(glob.glob(os.path.join(folder, "*.tell"))[0]).header["loader_workers"]
        self.assertEqual((DataLoader._get_iterator, torch.utils.data._utils.fetch._MapDatasetFetcher.fetch), before)
        self.assertEqual((loader["dataset"], loader["file"], loader["function"]),
                         ("list", "test_loaders.py", "test_nothing_stays_when_the_recording_ends"))


if __name__ == "__main__":
    unittest.main()
