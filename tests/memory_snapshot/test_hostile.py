#!/usr/bin/env python3
"""Pickles that want more than to be read: each is refused or read in part, in time and with a sentence."""

import os
import pickle
import resource
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import allocator_model as model

PRINT_SNAPSHOT = os.environ["PRINT_SNAPSHOT"]
MOST_MEMORY = 2 << 30


class Call:
    def __init__(self, function, *arguments):
        self.function, self.arguments = function, arguments

    def __reduce__(self):
        return self.function, self.arguments


class Hostile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "x.pickle"

    def read(self, data):
        self.path.write_bytes(data)
        limit = (MOST_MEMORY, MOST_MEMORY) if os.environ.get("LIMITS_MEMORY") else None
        return subprocess.run([PRINT_SNAPSHOT, self.path], capture_output=True, text=True, timeout=300,
                              preexec_fn=limit and (lambda: resource.setrlimit(resource.RLIMIT_AS, limit)))

    def refuse(self, data, words):
        done = self.read(data)
        self.assertEqual(done.returncode, 1, done)
        self.assertIn(words, done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_calls_are_refused_and_do_not_happen(self):
        marker = self.path.with_name("marker")
        for protocol in range(6):
            for function, name in ((os.system, f"{os.system.__module__}.system"), (eval, "eval"), (exec, "exec")):
                snapshot = {"segments": [Call(function, f"open({str(marker)!r}, 'w')")], "device_traces": []}
                self.refuse(pickle.dumps(snapshot, protocol), name)
        self.assertFalse(marker.exists())

    def test_objects_are_refused(self):
        self.refuse(pickle.dumps({"segments": [Path("x")]}), "Path")
        self.refuse(pickle.dumps({"segments": [complex(1, 2)]}), "builtins.complex")

    def test_depth_is_refused_or_harmless(self):
        deep = b"\x80\x04" + b"](" * 100_000
        self.refuse(deep, "nested more than 1000 deep")
        self.refuse(b"\x80\x04" + b"]" * 300_000 + b"a" * 299_999 + b".", "memory snapshot")

    def test_lists_that_name_one_another_again_and_again_are_refused(self):
        # Each block list holds the list before it ten times over: 10^8 blocks from a file of a few hundred bytes.
        block = {"address": 1 << 20, "size": 512, "requested_size": 1, "state": "active_allocated", "frames": []}
        blocks = [block] * 20_000
        segments = [{"device": 0, "address": i << 40, "total_size": 1 << 30, "stream": 0, "blocks": blocks}
                    for i in range(20_000)]
        self.refuse(pickle.dumps({"segments": segments, "device_traces": []}), "again and again")
        entry = {"action": "alloc", "addr": 1, "size": 1, "stream": 0, "time_us": 1, "frames": []}
        self.refuse(pickle.dumps({"segments": [], "device_traces": [[entry] * 3000] * 3000}), "again and again")

    def test_lists_that_contain_themselves_end(self):
        frames = []
        frames.append(frames)
        entry = {"action": "alloc", "addr": 1 << 20, "size": 512, "stream": 0, "time_us": 1, "frames": frames}
        settings = {}
        settings["again"] = settings
        logs = [[entry]]
        logs.append(logs)
        segments = []
        segments.append(segments)
        done = self.read(pickle.dumps({"segments": segments, "device_traces": logs, "allocator_settings": settings}))
        self.assertIn(done.returncode, (0, 1), done.stderr)
        self.assertNotIn("rror: ", done.stderr)

    def test_huge_dicts_that_every_entry_names_take_no_time(self):
        entry = {str(i): i for i in range(50_000)} | {"action": "alloc", "addr": 1, "size": 1}
        done = self.read(pickle.dumps({"segments": [], "device_traces": [[entry] * 50_000]}))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn('["malformed_allocator_entry",50000]', done.stdout)

    def test_numbers_at_the_edges_are_counted_and_skipped(self):
        for number in (-1, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), 2**200, 1.5, float("nan"), None, "1", []):
            entries = [{"action": "alloc", "addr": number, "size": 512, "stream": number, "time_us": number},
                       {"action": "alloc", "addr": 512, "size": number, "stream": 0, "time_us": 1},
                       {"action": "oom", "device_free": number, "size": number, "stream": number, "time_us": number}]
            segments = [{"device": number, "address": 512, "total_size": 512, "stream": 0, "blocks": []},
                        {"device": 0, "address": 512, "total_size": number, "stream": number, "blocks": [
                            {"address": number, "size": number, "requested_size": number, "state": "active_allocated"}]}]
            for annotations in ([], [{"name": number, "stage": "START", "device": number, "time_us": number}]):
                done = self.read(pickle.dumps({"segments": segments, "device_traces": [entries],
                                               "external_annotations": annotations}))
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_wherever_it_is_cut_every_whole_entry_before_is_read(self):
        devices = model.made_up(9, steps=14, keep_from=0)
        data = pickle.dumps(model.snapshot_of(devices), 4)
        counts = []
        for size in range(0, len(data), max(1, len(data) // 120)):
            done = self.read(data[:size])
            self.assertIn(done.returncode, (0, 1), done.stderr)
            if done.returncode == 0:
                self.assertIn('["truncated",1]', done.stdout)
                counts.append(done.stdout[done.stdout.index('"entries"'):done.stdout.index('"memory"')].count("\n"))
        self.assertEqual(counts, sorted(counts))
        self.assertEqual(counts[-1], len(devices[0].log))


if __name__ == "__main__":
    sys.exit(unittest.main())
