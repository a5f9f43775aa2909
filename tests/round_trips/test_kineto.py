"""The JSON that we write, beside the JSON that torch wrote, compared with nothing but Python's own json module."""
import json
import os
import subprocess
import tempfile
import unittest
from collections import Counter
from pathlib import Path

from source_json import document_of, nanoseconds, spans_of

ROOT = Path(__file__).resolve().parents[2]
TRACES = sorted((ROOT / "examples" / "traces").glob("*.json.gz"))
TELLTALE = os.environ.get("TELLTALE", "build/bin/telltale")

# Numbers that only tie events together, and what numbers things for torch's own use.
MADE_UP = {"External id", "correlation", "Record function id", "Ev Idx", "Python id", "Python parent id", "Python module id",
           "cbid", "context", "queued",
           # Of a memory event, always false:
           "finished"}


def converted(path):
    with tempfile.TemporaryDirectory() as folder:
        output = Path(folder) / "out.json"
        subprocess.run([TELLTALE, "convert", path, "-o", output], check=True)
        return document_of(output)


def arguments_of(event):
    arguments = {name: value for name, value in event.get("args", {}).items() if name not in MADE_UP}
    if arguments.get("graph id") == 0 and arguments.get("graph node id") == 0:
        del arguments["graph id"], arguments["graph node id"]
    for name in ("blocks per SM", "warps per SM", "memory bandwidth (GB/s)"):
        if name in arguments:
            arguments[name] = f"{float(arguments[name]):.5g}"  # the model has a float
    return json.dumps(arguments, sort_keys=True, default=str)


def ends_of_arrows(document, category):
    """Pairs of (pid, tid, absolute time) for each id that has both a start and ends."""
    base = document["baseTimeNanoseconds"]
    starts, pairs = {}, Counter()
    arrows = [e for e in document["traceEvents"] if e.get("cat") == category]

    def point(event):
        return event["pid"], event["tid"], base + nanoseconds(event["ts"])

    for arrow in arrows:
        if arrow["ph"] == "s":
            starts[arrow["id"]] = point(arrow)
    for arrow in arrows:
        if arrow["ph"] == "f" and arrow["id"] in starts:
            pairs[starts[arrow["id"]], point(arrow)] += 1
    return pairs


class Kineto(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pairs = [(path.name, document_of(path), converted(path)) for path in TRACES]

    def test_spans_have_the_same_names_places_times_and_arguments(self):
        for name, theirs, ours in self.pairs:
            spans = [Counter((e["cat"], e["name"], e["pid"], e["tid"], start, end, arguments_of(e))
                             for e, start, end in spans_of(document["traceEvents"])) for document in (theirs, ours)]
            self.assertEqual(spans[0] - spans[1], Counter(), name)
            self.assertEqual(spans[1] - spans[0], Counter(), name)

    def test_arrows_join_the_same_places_and_times(self):
        for name, theirs, ours in self.pairs:
            for category in ("ac2g", "fwdbwd"):
                self.assertEqual(ends_of_arrows(ours, category), ends_of_arrows(theirs, category), f"{name} {category}")

    def test_every_arrow_has_a_start_and_an_end(self):
        for name, _, ours in self.pairs:
            arrows = [e for e in ours["traceEvents"] if e["ph"] in "sf"]
            ids = {phase: {(e["cat"], e["id"]) for e in arrows if e["ph"] == phase} for phase in "sf"}
            self.assertEqual(ids["s"], ids["f"])

    def test_memory_events_are_the_same(self):
        for name, theirs, ours in self.pairs:
            events = [[(e["pid"], e["tid"], e["ph"], document["baseTimeNanoseconds"] + nanoseconds(e["ts"]), arguments_of(e))
                       for e in document["traceEvents"] if e["name"] == "[memory]"] for document in (theirs, ours)]
            self.assertEqual(Counter(events[0]), Counter(events[1]))

    def test_the_values_around_the_events_are_the_same(self):
        for name, theirs, ours in self.pairs:
            for key in theirs.keys() - {"traceEvents", "deviceProperties", "baseTimeNanoseconds"}:
                self.assertEqual(ours[key], theirs[key])


if __name__ == "__main__":
    unittest.main()
