"""Traces as Perfetto's messages: what its own definitions read from them is what the source says."""
import json
import os
import subprocess
import sys
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from perfetto_reader import PerfettoTrace
from source_json import document_of, nanoseconds, origin_of, spans_of

ROOT = Path(__file__).resolve().parents[2]
TRACES = sorted((ROOT / "examples" / "traces").glob("*.json.gz"))
TELLTALE = os.environ.get("TELLTALE", "build/bin/telltale")


def converted(path):
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.pftrace"
        done = subprocess.run([TELLTALE, "convert", path, "-o", output], capture_output=True, encoding="utf-8")
        assert done.returncode == 0, done.stderr
        return PerfettoTrace(output.read_bytes()), done.stderr


def converted_events(events, **others):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "in.json"
        path.write_text(json.dumps({**others, "traceEvents": events}))
        return converted(path)


def span(name, start, end, tid=1, category="cpu_op", **arguments):
    return {"ph": "X", "cat": category, "name": name, "pid": 9, "tid": tid, "ts": start, "dur": end - start, "args": arguments}


class RealTraces(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = [(path.name, document_of(path), *converted(path)) for path in TRACES]

    def for_each(self):
        for name, source, trace, _ in self.pairs:
            with self.subTest(name):
                yield source["traceEvents"], trace

    def test_every_span_is_a_slice_with_its_exact_times(self):
        for events, trace in self.for_each():
            expected = Counter((event["name"], start, end) for event, start, end in spans_of(events))
            self.assertEqual(Counter((s.name, s.start, s.end) for s in trace.slices), expected)

    def test_spans_of_one_thread_or_stream_are_on_one_track(self):
        for events, trace in self.for_each():
            places, tracks = {}, {}
            for event, start, end in spans_of(events):
                places.setdefault((event["pid"], event["tid"]), Counter())[event["name"], start, end] += 1
            for s in trace.slices:
                tracks.setdefault(trace.main_track_of(s.track), Counter())[s.name, s.start, s.end] += 1
            self.assertCountEqual([sorted(c.items()) for c in places.values()],
                                  [sorted(c.items()) for c in tracks.values()])

    def test_slices_nest_in_the_shortest_one_around_them(self):
        for events, trace in self.for_each():
            on_track = {}
            for s in trace.slices:
                on_track.setdefault(s.track, []).append(s)
                if s.parent:
                    self.assertLessEqual(s.parent.start, s.start)
                    self.assertGreaterEqual(s.parent.end, s.end)
            for slices in on_track.values():
                # Those that contain one another properly, by brute force.
                for s in slices[:300]:
                    around = [o for o in slices if o.start < s.start and o.end > s.end]
                    if around:
                        shortest = min(o.end - o.start for o in around)
                        self.assertLessEqual(s.parent.end - s.parent.start, shortest)

    def test_threads_and_processes_have_their_ids_and_names(self):
        for events, trace in self.for_each():
            names = {(e["pid"], e["tid"]): e["args"]["name"] for e in events if e["name"] == "thread_name"}
            threads = {(t.thread.pid, t.thread.tid): t.thread.thread_name
                       for t in trace.tracks.values() if t.HasField("thread")}
            self.assertTrue(threads)
            for place, name in threads.items():
                self.assertEqual(name, names[place].rstrip())
            for track in trace.tracks.values():
                if track.HasField("thread"):
                    self.assertEqual(trace.tracks[track.parent_uuid].process.pid, track.thread.pid)

    def test_streams_stand_below_their_device(self):
        for events, trace in self.for_each():
            kernels = {trace.path_of(s.track)[:2] for s in trace.slices if s.category == "kernel"}
            self.assertTrue(kernels)
            for device, stream in kernels:
                self.assertEqual(device, "GPU 0 NVIDIA H200")
                self.assertRegex(stream, r"^stream \d+$")

    def test_arguments_are_annotations(self):
        compact = {"separators": (",", ":")}
        for events, trace in self.for_each():
            by_span = {}
            for s in trace.slices:
                by_span.setdefault((s.name, s.start, s.end), []).append(s.arguments)
            checked = Counter()
            for event, start, end in spans_of(events):
                for arguments in by_span[event["name"], start, end]:
                    if len(by_span[event["name"], start, end]) > 1:
                        continue
                    for name, value in event.get("args", {}).items():
                        if name in ("Input Dims", "Input type", "Concrete Inputs", "grid", "block"):
                            value = json.dumps(value, ensure_ascii=False, **compact)
                        elif name not in ("Sequence number", "bytes", "registers per thread", "graph node id", "Op count"):
                            continue
                        if name.startswith("graph") and value == 0:
                            continue
                        checked[name] += 1
                        self.assertEqual(arguments[name], value, f"{name} of {event}")
            self.assertGreater(checked["grid"], 0)

    def test_flows_lead_from_launches_to_what_they_launched(self):
        for events, trace in self.for_each():
            launches = {e["args"]["correlation"]: e["name"] for e in events
                        if e.get("cat") in ("cuda_runtime", "cuda_driver")}
            expected = Counter((launches[e["args"]["correlation"]], e["name"]) for e in events
                               if e.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset")
                               and e["args"].get("correlation") in launches)
            starts = {flow: s for s in trace.slices for flow in s.flows}
            self.assertEqual(len(starts), sum(len(s.flows) for s in trace.slices))
            found = Counter((starts[flow].name, s.name) for s in trace.slices for flow in s.ending_flows
                            if s.category in ("kernel", "memcpy", "memset") and starts[flow].category in ("runtime", "driver"))
            self.assertEqual(found, expected)

    def test_memory_is_counted(self):
        for events, trace in self.for_each():
            origin = origin_of(events)
            expected = sorted((nanoseconds(e["ts"]) - origin, e["args"]["Total Allocated"]) for e in events
                              if e["name"] == "[memory]" and e["args"]["Device Type"] == 1)
            found = [values for uuid, values in trace.counters.items() if trace.name_of(uuid) == "Memory allocated, GPU 0"]
            self.assertEqual(sorted(found[0]) if found else [], expected)

    def test_the_time_of_day_is_that_of_the_file(self):
        for name, source, trace, _ in self.pairs:
            expected = source["baseTimeNanoseconds"] + origin_of(source["traceEvents"])
            self.assertEqual(trace.clocks[1] - trace.clocks[6], expected)

    def test_what_is_left_out_is_said(self):
        for name, source, trace, said in self.pairs:
            count = sum(event["name"] == "[memory]" for event in source["traceEvents"])
            self.assertEqual(f"{count:,} address" in said, count > 0)


class SmallTraces(unittest.TestCase):
    def test_spans_that_overlap_in_part_get_tracks_of_their_own(self):
        trace, _ = converted_events([span("a", 0, 10), span("b", 5, 15), span("c", 7, 20), span("d", 8, 9), span("e", 30, 31)])
        self.assertEqual([(s.name, s.start, s.end, s.parent and s.parent.name) for s in trace.slices],
                         [("a", 0, 10000, None), ("b", 5000, 15000, None), ("c", 7000, 20000, None),
                          ("d", 8000, 9000, "a"), ("e", 30000, 31000, None)])
        self.assertEqual([trace.path_of(s.track)[1:] for s in trace.slices],
                         [("thread 1",), ("thread 1", "overlapping 1"), ("thread 1", "overlapping 2"), ("thread 1",), ("thread 1",)])

    def test_any_number_of_spans_may_overlap(self):
        trace, _ = converted_events([span(f"s{i}", i, i + 5000) for i in range(600)])
        self.assertEqual(len({s.track for s in trace.slices}), 600)

    def test_spans_without_duration_and_spans_that_touch_keep_their_order(self):
        trace, _ = converted_events([span("outer", 0, 10), span("first", 0, 0), span("last", 10, 10), span("before", 20, 30),
                                     span("next", 30, 40), span("same", 30, 40), span("in same", 32, 32)])
        self.assertEqual({s.name: s.parent and s.parent.name for s in trace.slices},
                         {"outer": None, "first": "outer", "last": "outer", "before": None, "next": None, "same": "next",
                          "in same": "same"})

    def test_marks_counters_and_spans_of_no_thread(self):
        trace, _ = converted_events([
            {"ph": "i", "s": "t", "name": "mark", "pid": 9, "tid": 1, "ts": 3, "args": {"why": "so", "n": 2.5, "deep": {"a": [1]}}},
            {"ph": "C", "name": "queue", "pid": 9, "tid": 1, "ts": 1, "args": {"depth": 4}},
            {"ph": "C", "name": "queue", "pid": 9, "tid": 1, "ts": 2, "args": {"depth": 1.5}},
            {"ph": "b", "cat": "request", "id": 1, "name": "r1", "pid": 9, "tid": 1, "ts": 1},
            {"ph": "b", "cat": "request", "id": 2, "name": "r2", "pid": 9, "tid": 1, "ts": 2},
            {"ph": "e", "cat": "request", "id": 1, "name": "r1", "pid": 9, "tid": 1, "ts": 5},
            {"ph": "e", "cat": "request", "id": 2, "name": "r2", "pid": 9, "tid": 1, "ts": 7}])
        self.assertEqual([(m.name, m.start, m.arguments) for m in trace.instants],
                         [("mark", 2000, {"why": "so", "n": 2.5, "deep": '{"a":[1]}'})])
        self.assertEqual([(trace.name_of(uuid), values) for uuid, values in trace.counters.items()],
                         [("queue depth", [(0, 4.0), (1000, 1.5)])])
        self.assertEqual([(s.name, s.start, s.end, trace.path_of(s.track)[1:]) for s in trace.slices],
                         [("r1", 0, 4000, ("request",)), ("r2", 1000, 6000, ("request", "overlapping 1"))])

    def test_flows_of_other_tools(self):
        trace, _ = converted_events([
            span("put", 0, 2), span("take", 5, 9, tid=2),
            {"ph": "s", "cat": "queue", "id": 1, "name": "handover", "pid": 9, "tid": 1, "ts": 1},
            {"ph": "f", "bp": "e", "cat": "queue", "id": 1, "name": "handover", "pid": 9, "tid": 2, "ts": 6}])
        put, take = trace.slices
        self.assertEqual(put.flows, take.ending_flows)
        self.assertEqual(len(put.flows), 1)

    def test_ids_that_perfetto_cannot_hold_become_plain_tracks(self):
        events = [dict(span(f"s{i}", i, i + 1), pid=pid, tid=tid)
                  for i, (pid, tid) in enumerate([("Spans", "Profiler"), (2**40, 5), (9, 2**40), (9, -3), (0, 0)])]
        trace, _ = converted_events(events)
        self.assertEqual([trace.path_of(s.track) for s in trace.slices],
                         [("Spans", "Profiler"), (f"process {2**40}", "thread 5"), ("", f"thread {2**40}"),
                          ("", "thread -3"), ("process 0", "thread 0")])
        self.assertFalse(any(track.HasField("thread") for track in trace.tracks.values()))

    def test_names_may_be_any_text(self):
        names = ['quote " and \\', "tab\tnewline\n", "größe → 😀", "", "\x01\x00"]
        trace, _ = converted_events([span(name, i, i + 1, key='a"b\\c') for i, name in enumerate(names)])
        self.assertEqual([s.name for s in trace.slices], names)
        self.assertEqual([s.arguments["key"] for s in trace.slices], ['a"b\\c'] * len(names))

    def test_a_trace_of_nothing(self):
        trace, said = converted_events([])
        self.assertEqual((trace.slices, trace.tracks, said), ([], {}, ""))

    def test_metadata_is_a_mark_at_the_start(self):
        trace, _ = converted_events([span("a", 0, 1)], cuda_driver_version=13000, trace_id="F0", flags=[1, 2])
        self.assertEqual([(m.name, m.start, m.arguments) for m in trace.instants],
                         [("Recording", 0, {"cuda_driver_version": 13000, "trace_id": "F0", "flags": "[1,2]"})])


if __name__ == "__main__":
    unittest.main()
