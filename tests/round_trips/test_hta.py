"""Holistic Trace Analysis reads the same from what torch wrote and from what we wrote of it."""
import logging
import os
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

logging.disable(logging.CRITICAL)

from hta.common.trace import parse_trace_file  # noqa: E402  (it logs while it is imported)

ROOT = Path(__file__).resolve().parents[2]
TRACES = [*sorted((ROOT / "examples" / "traces").glob("*.json.gz")),
          ROOT / "tests" / "diagnosis" / "item_at_the_end.json.gz",
          ROOT / "tests" / "golden" / "torch" / "double_backward.json.gz"]
TELLTALE = os.environ.get("TELLTALE", "build/bin/telltale")


class Loaded:
    """What HTA makes of a file; events are named by what they are, not by where they stand in the file."""

    def __init__(self, path):
        self.metadata, frame, symbols = parse_trace_file(str(path))
        names = symbols.get_sym_table()
        frame = frame.assign(name=frame["name"].map(names.__getitem__), cat=frame["cat"].map(names.__getitem__))
        # HTA counts whole microseconds from the file's own base.
        base = self.metadata["baseTimeNanoseconds"] // 1000
        self.events = {row.index: (row.cat, row.name, str(row.pid), str(row.tid), int(row.ts) + base, int(row.dur), row.stream)
                       for row in frame.itertuples(index=False)}
        self.frame = frame

    def links(self, column):
        """Pairs of events that a column of indices joins."""
        if column not in self.frame:
            return Counter()
        joined = self.frame[self.frame[column] > 0]
        return Counter((self.events[row.index], self.events[getattr(row, column)])
                       for row in joined.itertuples(index=False) if getattr(row, column) in self.events)


def converted(path, folder):
    output = Path(folder) / "ours.json.gz"
    subprocess.run([TELLTALE, "convert", path, "-o", output], check=True)
    return output


class Hta(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = []
        with tempfile.TemporaryDirectory() as folder:
            for path in TRACES:
                ours = converted(path, folder)
                cls.pairs.append((path.name, Loaded(path), Loaded(ours)))
                ours.unlink()

    def test_events_are_the_same(self):
        for name, theirs, ours in self.pairs:
            self.assertGreater(len(theirs.events), 100)
            self.assertEqual(Counter(ours.events.values()), Counter(theirs.events.values()))

    def test_device_work_is_linked_to_its_launches(self):
        for name, theirs, ours in self.pairs:
            self.assertGreater(len(theirs.links("index_correlation")), 3)
            self.assertEqual(ours.links("index_correlation"), theirs.links("index_correlation"))

    def test_events_belong_to_the_same_steps(self):
        for name, theirs, ours in self.pairs:
            steps = [Counter((loaded.events[row.index], row.iteration) for row in loaded.frame.itertuples(index=False))
                     for loaded in (theirs, ours)]
            self.assertEqual(*steps)

    def test_metadata_is_the_same(self):
        for name, theirs, ours in self.pairs:
            for key in ("schemaVersion", "trace_id", "cuda_driver_version", "record_shapes", "displayTimeUnit", "traceName"):
                self.assertEqual(ours.metadata.get(key), theirs.metadata.get(key))
            # The model has the properties that analyses need; the others are not kept.
            for device, original in zip(ours.metadata["deviceProperties"], theirs.metadata["deviceProperties"]):
                self.assertLessEqual(device.items(), original.items())
                self.assertEqual(device["numSms"], original["numSms"])


if __name__ == "__main__":
    unittest.main(warnings="ignore")
