"""Tables reach pyarrow, pandas, polars and DuckDB whole: counted, summed and joined against what the command and the file say."""
import collections
import csv
import gc
import json
import os
import subprocess
import unittest
from pathlib import Path

import duckdb
import pandas
import polars
import pyarrow
import telltale
from common import MLP, PROGRAM, RESNET, SERVER, SOME_TRACES, answer, raw_events

PAGEABLE = next(path for path in SOME_TRACES if "pageable_batch" in path)
DEVICE_KINDS = ["kernel", "memcpy", "memset", "collective", "device"]


def rows_of(table):
    return pyarrow.table(table).to_pylist()


def csv_rows(path):
    """The events as `telltale convert` writes them."""
    lines = subprocess.run([PROGRAM, "convert", path, "-o", "-", "--format", "csv"], capture_output=True, check=True, encoding="utf-8")
    csv.field_size_limit(1 << 30)
    return list(csv.DictReader(lines.stdout.splitlines(keepends=True)))


def resident_bytes():
    gc.collect()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def number_or_none(text):
    return int(text) if text else None


class Events(unittest.TestCase):
    def test_each_is_the_line_of_the_converted_trace(self):
        for path in SOME_TRACES:
            with self.subTest(path):
                trace = telltale.load(path)
                tracks = [row["name"] for row in rows_of(trace.tracks)]
                found = [row | {"track": tracks[row["track"]]} for row in rows_of(trace.events())]
                expected = [
                    {"event": int(row["id"]), "start_ns": int(row["start_ns"]), "duration_ns": int(row["duration_ns"]),
                     "name": row["name"], "kind": row["kind"], "track": row["track"], "parent": number_or_none(row["parent"]),
                     "cause": number_or_none(row["cause"]), "step": number_or_none(row["step"])}
                    for row in csv_rows(path)]
                self.assertEqual(found, expected)

    def test_those_of_some_kinds_are_the_rows_of_all(self):
        for path in (RESNET, MLP, SERVER):
            trace = telltale.load(path)
            everything = rows_of(trace.events())
            for kinds in ("kernel", ["operator"], ["memcpy", "runtime"], [], sorted(trace.info().kinds)):
                chosen = [kinds] if isinstance(kinds, str) else kinds
                self.assertEqual(rows_of(trace.events(kinds)), [row for row in everything if row["kind"] in chosen])

    def test_they_count_as_info_does(self):
        for path in SOME_TRACES:
            info = answer("info", path)
            kinds = collections.Counter(pyarrow.table(telltale.load(path).events())["kind"].to_pylist())
            self.assertEqual(dict(kinds), info["kinds"])

    def test_device_time_by_name_is_that_of_top(self):
        expected = {(row["name"], row["kind"]): (row["calls"], row["self_device_ns"])
                    for row in answer("top", RESNET, "--by", "kernel")["rows"]}
        events = telltale.load(RESNET).events(DEVICE_KINDS)
        query = "SELECT name, kind, count(*), sum(duration_ns) FROM events GROUP BY ALL"
        self.assertEqual({(name, kind): (calls, total) for name, kind, calls, total in duckdb.sql(query).fetchall()}, expected)
        frame = polars.DataFrame(events).group_by("name", "kind").agg(polars.len(), polars.col("duration_ns").sum())
        self.assertEqual({(name, kind): (calls, total) for name, kind, calls, total in frame.rows()}, expected)
        grouped = pandas.DataFrame.from_arrow(events).groupby(["name", "kind"], observed=True)["duration_ns"].agg(["count", "sum"])
        self.assertEqual({key: (row["count"], row["sum"]) for key, row in grouped.iterrows()}, expected)

    def test_kernels_join_their_launches_as_the_file_correlates_them(self):
        raw = raw_events(RESNET)
        launches = {event["args"]["correlation"]: event["name"] for event in raw
                    if event.get("cat") in ("cuda_runtime", "cuda_driver") and event["args"].get("correlation")}
        expected = collections.Counter((event["name"], launches[event["args"]["correlation"]])
                                       for event in raw if event.get("cat") in ("kernel", "gpu_memset"))
        events = telltale.load(RESNET).events()
        query = """SELECT work.name, launch.name FROM events work JOIN events launch ON work.cause = launch.event
                   WHERE work.kind IN ('kernel', 'memset')"""
        self.assertEqual(collections.Counter(duckdb.sql(query).fetchall()), expected)


class Details(unittest.TestCase):
    """Side tables, joined by event with the events and compared with the file."""

    @classmethod
    def setUpClass(cls):
        cls.trace = telltale.load(RESNET)
        cls.raw = raw_events(RESNET)
        cls.names = pyarrow.table(cls.trace.events())["name"].to_pylist()

    def named(self, table):
        return [row | {"name": self.names[row["event"]]} for row in rows_of(table)]

    def counted(self, rows, *keys):
        return collections.Counter(tuple(map(str, (row[key] for key in keys))) for row in rows)

    def test_kernels(self):
        expected = collections.Counter(
            tuple(map(str, (event["name"], *event["args"]["grid"], *event["args"]["block"],
                            event["args"]["registers per thread"], event["args"]["shared memory"],
                            event["args"]["est. achieved occupancy %"])))
            for event in self.raw if event.get("cat") == "kernel")
        found = self.counted(self.named(self.trace.kernels), "name", "grid_x", "grid_y", "grid_z", "block_x", "block_y", "block_z",
                             "registers_per_thread", "shared_memory_bytes", "occupancy_percent")
        self.assertEqual(found, expected)

    def test_copies(self):
        expected = collections.Counter((event["name"], str(event["args"]["bytes"])) for event in self.raw if event.get("cat") == "gpu_memset")
        self.assertEqual(self.counted(self.named(self.trace.copies), "name", "bytes"), expected)
        # Names say where from and where to: "Memcpy HtoD (Pageable -> Device)".
        trace = telltale.load(PAGEABLE)
        names = pyarrow.table(trace.events())["name"].to_pylist()
        copies = [row for row in rows_of(trace.copies) if names[row["event"]].startswith("Memcpy")]
        self.assertIn("pageable", {row["source"] for row in copies})
        for row in copies:
            self.assertIn(f"({row['source']} -> {row['destination']})".lower(), names[row["event"]].lower())

    def test_operators(self):
        raw = [event for event in self.raw if event.get("cat") == "cpu_op"]
        expected = collections.Counter(
            (event["name"], json.dumps(event["args"]["Input Dims"]), json.dumps(event["args"]["Input type"]))
            for event in raw if "Input Dims" in event["args"])
        rows = [row for row in self.named(self.trace.operators) if row["input_shapes"] is not None]
        found = collections.Counter((row["name"], json.dumps(json.loads(row["input_shapes"])), json.dumps(json.loads(row["input_types"])))
                                    for row in rows)
        self.assertEqual(found, expected)
        sequences = collections.Counter((event["name"], event["args"]["Sequence number"]) for event in raw if "Sequence number" in event["args"])
        self.assertEqual(collections.Counter((row["name"], row["sequence"]) for row in self.named(self.trace.operators)
                                             if row["sequence"] is not None), sequences)

    def test_tensors(self):
        expected = collections.Counter()
        for event in self.raw:
            arguments = event.get("args", {})
            for i, (shape, dtype) in enumerate(zip(arguments.get("Input Dims", []), arguments.get("Input type", []))):
                if shape and not isinstance(shape[0], list):
                    expected[event["name"], i, tuple(shape), dtype] += 1
        found = collections.Counter((row["name"], row["argument"], tuple(row["shape"]), row["type"]) for row in self.named(self.trace.tensors))
        self.assertEqual(found, expected)

    def test_memory(self):
        expected = sorted(
            (event["args"]["Addr"], event["args"]["Bytes"], event["args"].get("Total Allocated"), event["args"].get("Total Reserved"),
             event["args"]["Device Id"] if event["args"]["Device Type"] == 1 else None)
            for event in self.raw if event["name"] == "[memory]")
        found = sorted((row["address"], row["bytes"], row["total_allocated"], row["total_reserved"], row["device"])
                       for row in rows_of(self.trace.memory))
        self.assertEqual(found, expected)

    def test_the_rest_is_what_info_says(self):
        for path in SOME_TRACES:
            trace, info = telltale.load(path), answer("info", path)
            for name, key in {"memory": "memory_events", "counters": "counter_values", "flows": "flows"}.items():
                self.assertEqual(len(trace.table(name)), info[key])
            self.assertEqual([(row["step"], row["start_ns"], row["duration_ns"]) for row in rows_of(trace.steps)],
                             [(step["index"], step["start_ns"], step["duration_ns"]) for step in info["steps"]])
            self.assertEqual([(row["track"], row["name"], row["kind"], row["process"], row["device"], row["native_id"], row["events"])
                              for row in rows_of(trace.tracks)],
                             [(*list(track.values())[:6], track["events"]) for track in info["tracks"]])
            self.assertEqual([(row["pid"], row["name"], row["labels"]) for row in rows_of(trace.processes)],
                             [tuple(process.values()) for process in info["processes"]])
            self.assertEqual([list(row.values()) for row in rows_of(trace.devices)],
                             [list(device.values()) for device in info["devices"]])

    def test_counters(self):
        written = subprocess.run([PROGRAM, "convert", SERVER, "-o", "-", "--format", "kineto"], capture_output=True, check=True)
        expected = collections.Counter(
            (event["name"], series, value) for event in json.loads(written.stdout)["traceEvents"] if event["ph"] == "C"
            for series, value in event["args"].items())
        found = collections.Counter((row["counter"], row["series"], row["value"]) for row in rows_of(telltale.load(SERVER).counters))
        self.assertGreater(len(found), 1)
        self.assertEqual(found, expected)


class Arrow(unittest.TestCase):
    def test_every_table_of_every_trace_is_valid_and_taken_by_all_four(self):
        for path in SOME_TRACES:
            trace = telltale.load(path)
            for name in trace.tables():
                with self.subTest(path=path, table=name):
                    given = table = trace.table(name)
                    arrow = pyarrow.table(table)
                    arrow.validate(full=True)
                    self.assertEqual(pyarrow.schema(table), arrow.schema)
                    self.assertEqual((table.name, table.column_names), (name, arrow.column_names))
                    self.assertEqual(repr(table), f"<telltale.Table '{name}': {len(table)} rows of {', '.join(table.column_names)}>")
                    expected = (len(table), len(table.column_names))
                    self.assertEqual(arrow.shape, expected)
                    self.assertEqual(polars.DataFrame(table).shape, expected)
                    self.assertEqual(pandas.DataFrame.from_arrow(table).shape, expected)
                    self.assertEqual(duckdb.sql("SELECT * FROM given").shape, expected)

    def test_each_table_is_an_attribute(self):
        trace = telltale.load(RESNET)
        for name in trace.tables():
            table = trace.events() if name == "events" else getattr(trace, name)
            self.assertEqual(table.name, name)

    def test_plain_columns_are_not_copied(self):
        trace = telltale.load(RESNET)
        first, second = pyarrow.table(trace.events()), pyarrow.table(trace.events())
        for name in ("start_ns", "duration_ns", "track", "parent", "cause"):
            addresses = {table[name].chunk(0).buffers()[1].address for table in (first, second)}
            self.assertEqual(len(addresses), 1, name)
        kinds = {table["kind"].chunk(0).indices.buffers()[1].address for table in (first, second)}
        self.assertEqual(len(kinds), 1)
        memory = [pyarrow.table(trace.memory)["address"].chunk(0).buffers()[1].address for _ in range(2)]
        self.assertEqual(*memory)

    def test_data_outlives_its_trace(self):
        trace = telltale.load(RESNET)
        expected = {name: pyarrow.table(trace.table(name)).to_pylist() for name in trace.tables()}
        kept = {name: pyarrow.table(trace.table(name)) for name in trace.tables()}
        half = pyarrow.RecordBatchReader.from_stream(trace.events())
        del trace
        gc.collect()
        others = [telltale.load(MLP) for _ in range(3)]  # would write over memory that is free
        self.assertEqual({name: table.to_pylist() for name, table in kept.items()}, expected)
        self.assertEqual(half.read_all().to_pylist(), expected["events"])
        del others

    def test_what_nobody_takes_is_released(self):
        trace = telltale.load(MLP)
        for _ in range(200):
            trace.events().__arrow_c_stream__()
            trace.tensors.__arrow_c_schema__()
            pyarrow.RecordBatchReader.from_stream(trace.memory)
        before = resident_bytes()
        for _ in range(500):  # each would leave a few hundred kilobytes behind
            trace.events().__arrow_c_stream__()
        self.assertLess(resident_bytes() - before, 50e6)


if __name__ == "__main__":
    unittest.main()
