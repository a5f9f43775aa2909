"""The log of CUDA's allocator, through the adapter compiled against an allocator that reports what the test tells it."""
import ctypes
import json
import os
import tempfile
import threading
import unittest
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import telltale
import torch
from telltale._capture import Recording, Wanted, adapter, cuda_begins

FAKE = Path(__file__).parent / "fake_allocator"
# As torch numbers them, and as tables name them.
ALLOC, FREE_REQUESTED, FREE_COMPLETED, SEGMENT_ALLOC, SEGMENT_FREE, SEGMENT_MAP, SEGMENT_UNMAP, SNAPSHOT, OOM = range(9)
NAMES = {
    ALLOC: "allocate", FREE_REQUESTED: "free_requested", FREE_COMPLETED: "free_completed",
    SEGMENT_ALLOC: "segment_allocate", SEGMENT_FREE: "segment_free", SEGMENT_MAP: "segment_map",
    SEGMENT_UNMAP: "segment_unmap", SNAPSHOT: "snapshot", OOM: "out_of_memory",
}
MiB = 1 << 20


def build_with_fake():
    """As on a machine with CUDA, but with the other header."""
    commands = adapter._commands

    def with_fake(compiler, torch_place):
        plain = commands(compiler, torch_place)[-2]  # without CUDA, with all else
        at = next(i for i, word in enumerate(plain) if word.startswith("-I"))
        return [[*plain[:at], f"-I{FAKE}", *plain[at:], "-DTELLTALE_WITH_CUDA"]]

    with mock.patch.object(adapter, "_commands", with_fake):
        return adapter.load_adapter()


loaded = build_with_fake()
fake = loaded._library


def report(action, device=0, address=0, size=0, stream=0, pool=0):
    fake.fake_report(*(ctypes.c_int(value) for value in (action, device)),
                     *(ctypes.c_uint64(value) for value in (address, size, stream, pool)))


@torch.library.custom_op("fake::allocate", mutates_args=())
def allocate(x: torch.Tensor, address: int, size: int) -> torch.Tensor:
    report(ALLOC, address=address, size=size)
    return x.clone()


class Case(unittest.TestCase):
    def setUp(self):
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        self.segments = []
        self.is_initialized = True
        stack.enter_context(mock.patch.object(torch.cuda, "is_initialized", lambda: self.is_initialized))
        stack.enter_context(mock.patch.object(torch.cuda.memory, "_snapshot", self.snapshot))
        stack.enter_context(mock.patch.object(cuda_begins, "_waiting", {}))
        fake.fake_init(2)

    def snapshot(self):
        report(SNAPSHOT, device=0)
        report(SNAPSHOT, device=1)
        return {"segments": self.segments, "allocator_settings": {"expandable_segments": False, "max_split_size": -1}}

    def record(self, work, **wanted):
        path = str(self.folder / "run.tell")
        recording = Recording(path, Wanted(memory=True, **wanted))
        recording.start()
        try:
            work()
        finally:
            recording.stop()
        return telltale.load(path)


def rows(table):
    import pyarrow

    return pyarrow.table(table).to_pylist()


class TheLog(Case):
    def test_has_every_entry_in_order(self):
        told = [
            (SEGMENT_ALLOC, 0, 0x7F0000000000, 2 * MiB, 0, 0), (ALLOC, 0, 0x7F0000000000, 1000, 0, 0),
            (ALLOC, 1, 0x7E0000000000, 5, 3, 7), (FREE_REQUESTED, 0, 0x7F0000000000, 1000, 0, 0),
            (FREE_COMPLETED, 0, 0x7F0000000000, 1000, 0, 0), (SEGMENT_MAP, 0, 0x7F0000400000, 20 * MiB, 9, 0),
            (SEGMENT_UNMAP, 0, 0x7F0000400000, 20 * MiB, 9, 0), (SEGMENT_FREE, 0, 0x7F0000000000, 2 * MiB, 0, 0),
            (OOM, 0, 12345, 1 << 40, 0, 0), (SNAPSHOT, 1, 0, 77, 0, 0),
        ]
        trace = self.record(lambda: [report(*entry) for entry in told])
        marks = [("snapshot", 0, 0, 0, 0, ""), ("snapshot", 1, 0, 0, 0, "")]  # of the state
        expected = [(NAMES[action], *rest, f"{pool}.0" if pool else "") for action, *rest, pool in told]
        found = [(row["action"], row["device"], row["address"], row["bytes"], row["stream"], row["pool"] or "")
                 for row in rows(trace.allocator_events)]
        self.assertEqual(found, marks + expected)

    def test_becomes_memory_in_steps_of_512(self):
        trace = self.record(lambda: [report(ALLOC, 0, 0x1000, 1000), report(FREE_REQUESTED, 0, 0x1000, 1000)])
        of_device = [row["bytes"] for row in rows(trace.memory) if row["device"] == 0]
        self.assertEqual(of_device, [1024, -1024])

    def test_leads_to_the_operator_that_allocates(self):
        trace = self.record(lambda: allocate(torch.ones(2), 0x5000, 640))
        row = next(row for row in rows(trace.allocator_events) if row["action"] == "allocate")
        names = {event["event"]: event["name"] for event in rows(trace.events())}
        self.assertEqual(names[row["event"]], "fake::allocate")

    def test_keeps_the_entries_of_many_threads(self):
        def work():
            def one(number):
                for i in range(500):
                    report(ALLOC, number % 2, (number << 32) + i * 512, 512)
            threads = [threading.Thread(target=one, args=(number,)) for number in range(1, 5)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()

        found = [row for row in rows(self.record(work).allocator_events) if row["action"] == "allocate"]
        self.assertEqual(len(found), 2000)
        for number in range(1, 5):  # those of a thread in its order
            own = [row["address"] for row in found if row["address"] >> 32 == number]
            self.assertEqual(own, [(number << 32) + i * 512 for i in range(500)])

    def test_says_nothing_outside_of_recordings(self):
        report(ALLOC, 0, 0x1000, 512)
        trace = self.record(lambda: None)
        report(ALLOC, 0, 0x2000, 512)
        self.assertEqual([row["action"] for row in rows(trace.allocator_events)], ["snapshot", "snapshot"])


class TheState(Case):
    def test_is_written_with_its_settings(self):
        self.segments = [{
            "device": 0, "address": 0x10000, "total_size": 4096, "stream": 5, "segment_type": "large",
            "segment_pool_id": (3, 1), "is_expandable": True,
            "blocks": [{"size": 1024, "requested_size": 1000, "state": "active_allocated"},
                       {"size": 512, "requested_size": 400, "state": "active_pending_free"},
                       {"size": 2560, "requested_size": 0, "state": "inactive"}],
        }]
        trace = self.record(lambda: report(FREE_REQUESTED, 0, 0x10000, 1000))
        (segment,) = rows(trace.memory_segments)
        expected = {"address": 0x10000, "bytes": 4096, "stream": 5, "device": 0, "pool": "3.1", "is_large": True,
                    "is_expandable": True}
        self.assertEqual({name: segment[name] for name in expected}, expected)
        blocks = [(row["address"], row["bytes"], row["requested"], row["state"]) for row in rows(trace.memory_blocks)]
        self.assertEqual(blocks, [(0x10000, 1024, 1000, "allocated"), (0x10400, 512, 400, "awaiting_free"),
                                  (0x10600, 2560, 0, "inactive")])
        settings = json.loads(next(row["value"] for row in rows(trace.metadata) if row["name"] == "allocator_settings"))
        self.assertEqual(settings, {"expandable_segments": False, "max_split_size": -1})

    def test_begins_the_log_however_busy_the_allocator_is_meanwhile(self):
        def snapshot():
            report(ALLOC, 0, 0x1000, 512)  # another thread's, before the look at device 0
            report(SNAPSHOT, device=0)
            report(ALLOC, 0, 0x2000, 512)
            report(ALLOC, 1, 0x3000, 512)  # before the look at device 1
            report(SNAPSHOT, device=1)
            return {"segments": []}

        with mock.patch.object(torch.cuda.memory, "_snapshot", snapshot):
            trace = self.record(lambda: report(ALLOC, 1, 0x4000, 512))
        log = [(row["action"], row["device"], row["address"]) for row in rows(trace.allocator_events)]
        self.assertEqual(log, [("snapshot", 0, 0), ("allocate", 0, 0x2000), ("snapshot", 1, 0), ("allocate", 1, 0x4000)])

    def test_is_taken_when_cuda_is_initialized_later(self):
        queued = []
        self.is_initialized = False
        fake.fake_init(0)

        def work():
            fake.fake_init(2)
            self.is_initialized = True
            for call in queued:
                call()
            report(ALLOC, 0, 0x2000, 512)

        with mock.patch.object(torch.cuda, "_lazy_call", queued.append):
            trace = self.record(work)
        self.assertEqual(len(queued), 1)
        log = [(row["action"], row["address"]) for row in rows(trace.allocator_events)]
        self.assertEqual(log, [("snapshot", 0), ("snapshot", 0), ("allocate", 0x2000)])


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    unittest.main()
