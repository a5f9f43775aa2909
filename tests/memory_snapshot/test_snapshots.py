#!/usr/bin/env python3
"""Snapshots whose maker knows everything, pickled by Python in all protocols: read, and written again."""

import gzip
import json
import os
import pickle
import random
import subprocess
import tempfile
import unittest
from pathlib import Path

import allocator_model as model

TELLTALE, PRINT_SNAPSHOT = os.environ["TELLTALE"], os.environ["PRINT_SNAPSHOT"]
STATES = {"active_allocated": "allocated", "active_pending_free": "awaiting_free", "inactive": "inactive"}
ACTIONS = {"alloc": "allocate", "segment_alloc": "segment_allocate", "oom": "out_of_memory"}


def stack_text(frames):
    return ";".join(f"{f['filename']}({f['line']}): {f['name']}" for f in frames)


def pool_text(pool):
    return "" if tuple(pool) == (0, 0) else f"{pool[0]}.{pool[1]}"


class Snapshots(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def read(self, snapshot, protocol=4, name="snapshot.pickle"):
        path = self.folder / name
        text = json.dumps(snapshot).encode() if protocol is None else pickle.dumps(snapshot, protocol)
        path.write_bytes(gzip.compress(text, 1) if name.endswith(".gz") else text)
        return self.read_file(path)

    def read_file(self, path):
        done = subprocess.run([PRINT_SNAPSHOT, path], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def expect_log(self, found, devices):
        expected = []
        for device in devices:
            latest = 0
            for e in device.log[device.keep_from:]:
                latest = max(latest + 1, e["time_us"] * 1000)  # those of one microsecond, one after the other
                expected.append((latest, device.number, e))
        expected.sort(key=lambda row: row[0])
        first = expected[0][0]
        self.assertEqual(
            [row[:8] for row in found["entries"]],
            [[device, ACTIONS.get(e["action"], e["action"]), e.get("addr", e.get("device_free")), e["size"], e["stream"],
              time - first, pool_text(e["pool_id"]), stack_text(e["frames"])] for time, device, e in expected])

    def expect_start(self, found, devices):
        segments = sorted((d.number, s) for d in devices for s in map(Address, d.start))
        self.assertEqual(found["segments"],
                         [[n, s.address, s.size, s.stream, int(s.large), int(s.expandable), pool_text(s.pool)]
                          for n, (s,) in segments])
        expected = [[i, b.address, b.size, b.requested, STATES[b.state]] for i, (_, (s,)) in enumerate(segments)
                    for b in s.blocks]
        self.assertEqual([row[:5] for row in found["blocks"]], expected)

    def expect_memory(self, found, devices):
        for device in devices:
            rows = [list(row[1:]) for row in device.allocated_rows if row[0] >= device.keep_from]
            self.assertEqual([row[1:] for row in found["memory"] if row[0] == device.number], rows)

    def test_every_protocol_and_json_give_the_same(self):
        devices = model.made_up(1, pools=((0, 0), (0, 7), (2, 0)), streams=(0, 94123456789), largest=9 << 20)
        snapshot = model.snapshot_of(devices)
        first = self.read(snapshot)
        self.expect_log(first, devices)
        self.assertEqual(first["format"], "memory_snapshot")
        self.assertEqual(first["settings"], model.SETTINGS)
        for protocol in (0, 1, 2, 3, 5, None):
            self.assertEqual(self.read(snapshot, protocol), first, protocol)
        self.assertEqual(self.read(snapshot, name="snapshot.pickle.gz"), first)

    def test_state_before_the_log_and_totals_are_those_of_the_maker(self):
        # Small requests and expandable segments leave no unsplit rests, so that all sizes follow from the log.
        for seed in range(12):
            devices = model.made_up(seed, devices=1 + seed % 3, expandable=seed % 2 == 0, keep_from=60 + 20 * seed,
                                    streams=(0, 5), largest=(48 << 20) if seed % 2 == 0 else (1 << 20) + 2)
            if seed % 2 == 1:  # only small ones
                devices = [small_device(seed, number, 60 + 20 * seed) for number in range(1 + seed % 3)]
            with self.subTest(seed=seed):
                found = self.read(model.snapshot_of(devices))
                self.expect_log(found, devices)
                self.expect_start(found, devices)
                self.expect_memory(found, devices)
                self.assertEqual(found["anomalies"], [])

    def test_state_before_the_log_misses_unsplit_rests_at_most(self):
        # In segments of large blocks a rest of up to 1 MiB stays with its block. Where the log does not show that, the
        # block is as large as what was asked for.
        alike = all_blocks = 0
        for seed in range(20, 28):
            devices = model.made_up(seed, steps=600, keep_from=300)
            found = self.read(model.snapshot_of(devices))
            self.assertEqual(found["anomalies"], [])
            truth = {b.address: (b.size, b.requested, STATES[b.state]) for s in devices[0].start for b in s.blocks
                     if b.state != "inactive"}
            ours = {row[1]: tuple(row[2:5]) for row in found["blocks"] if row[4] != "inactive"}
            self.assertEqual({a: t[1:] for a, t in truth.items()}, {a: t[1:] for a, t in ours.items()})
            for address, (size, requested, _) in truth.items():
                self.assertLessEqual(ours[address][0], size)
                self.assertLessEqual(size - ours[address][0], 1 << 20)
            alike += sum(truth[a] == ours[a] for a in truth)
            all_blocks += len(truth)
            self.assertEqual(found["memory"][-1][3] if found["memory"] else 0, devices[0].allocated())
        self.assertGreater(alike / all_blocks, 0.95)

    def test_ends_without_a_log_are_states_alone(self):
        devices = model.made_up(3)
        for snapshot in (model.snapshot_of(devices)["segments"], {**model.snapshot_of(devices), "device_traces": [[]]}):
            for protocol in (4, None):
                found = self.read(snapshot, protocol)
                self.assertEqual(sum(row[2] for row in found["segments"]), devices[0].reserved())
                self.assertEqual(sum(row[2] for row in found["blocks"] if row[4] == "allocated"), devices[0].allocated())
                self.assertEqual(found["entries"], [])

    def test_both_spellings_of_states_are_one(self):
        devices = model.made_up(4)
        self.assertEqual(self.read(model.snapshot_of(devices, "active_awaiting_free")), self.read(model.snapshot_of(devices)))

    def test_old_snapshots_have_histories_and_no_times(self):
        devices = model.made_up(5)
        new, old = model.snapshot_of(devices), model.snapshot_of(devices)
        for segment in old["segments"]:
            for block in segment["blocks"]:
                block["history"] = [{"addr": block.pop("address"), "real_size": block.pop("requested_size"),
                                     "frames": block.pop("frames")}]
                if block["state"] == "inactive":
                    block["history"] = []
        for entry in old["device_traces"][0]:
            del entry["time_us"], entry["pool_id"], entry["compile_context"], entry["user_metadata"]
        del old["allocator_settings"], old["external_annotations"]
        mine, reference = self.read(old), self.read(new)
        self.assertEqual(mine["blocks"], reference["blocks"])
        self.assertEqual(mine["anomalies"], [["allocator_entry_without_time", 1]])
        self.assertEqual([row[5] for row in mine["entries"]], [1000 * i for i in range(len(mine["entries"]))])

    def test_annotations_are_steps_and_name_what_is_open(self):
        devices = model.made_up(6)
        found = self.read(model.snapshot_of(devices, annotations=model.annotations_of(devices[0])))
        self.assertEqual([row[0] for row in found["steps"]], [0, 1])
        self.assertEqual({row[8] for row in found["entries"]} - {"forward"}, {"ProfilerStep#0", "ProfilerStep#1"})

    def convert(self, source, target):
        done = subprocess.run([TELLTALE, "convert", source, "-o", target, "--force"], capture_output=True, text=True, timeout=300)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_written_snapshots_are_those_that_were_read(self):
        for seed in range(4):
            devices = model.made_up(seed, devices=1 + seed % 2, expandable=seed >= 2, streams=(0, 9), pools=((0, 0), (0, 3)))
            annotations = model.annotations_of(devices[0])
            snapshot = model.snapshot_of(devices, annotations=annotations)
            found = self.read(snapshot)
            written = self.folder / "written.pickle"
            self.convert(self.folder / "snapshot.pickle", written)
            with open(written, "rb") as file:
                again = pickle.load(file)
            self.assertEqual(again["allocator_settings"], snapshot["allocator_settings"])
            self.assertEqual(again["external_annotations"], annotations)
            for log, original in zip(again["device_traces"], snapshot["device_traces"], strict=True):
                left_out = ("compile_context", "user_metadata")
                self.assertEqual(log, [{k: v for k, v in e.items() if k not in left_out} for e in original])
            by_address = sorted(snapshot["segments"], key=lambda s: (s["device"], s["address"]))
            self.assertEqual([without_stacks(s) for s in again["segments"]], [without_stacks(s) for s in by_address])
            self.assertEqual(self.read_file(written), found)
            self.convert(self.folder / "snapshot.pickle", self.folder / "written.tell")
            self.convert(self.folder / "written.tell", self.folder / "from_tell.pickle")
            self.assertEqual((self.folder / "from_tell.pickle").read_bytes(), written.read_bytes())


class Address(tuple):
    """A segment that sorts by its address."""

    def __new__(cls, segment):
        return super().__new__(cls, (segment,))

    def __lt__(self, other):
        return self[0].address < other[0].address


def without_stacks(segment):
    """Stacks of what was allocated before the log and freed in it are unknown; so are those of segments."""
    return {**segment, "frames": None, "blocks": [{**b, "frames": None} for b in segment["blocks"]]}


def small_device(seed, number, keep_from):
    chance = random.Random(1000 * seed + number)
    device = model.Device(number, chance, keep_from)
    stacks = model.stacks_of(chance)
    live = []
    for _ in range(500):
        if chance.random() < 0.55 or not live:
            live.append(device.allocate(chance.randrange(1, 700_000), chance.choice((0, 5)), frames=chance.choice(stacks)))
        else:
            pair = live.pop(chance.randrange(len(live)))
            device.request_free(*pair, frames=chance.choice(stacks))
            device.complete_free(*pair)
        if chance.random() < 0.02:
            device.empty_cache()
    return device


if __name__ == "__main__":
    unittest.main()
