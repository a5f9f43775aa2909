"""telltale convert: where files go, which part of a trace they hold, and what is said about it."""
import csv
import gzip
import json
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

from telltale import MLP, PROGRAM, RESNET, TRACES, answer, events_of, run

SMALL = str(TRACES / "small_train.json.gz")


class Folder(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)

    def path(self, name):
        return str(self.folder / name)

    def names(self):
        return sorted(entry.name for entry in self.folder.iterdir())

    def convert(self, source, name, *words):
        """Converts to a file of the folder, which must succeed; returns what was said."""
        done = run("convert", source, "-o", self.path(name), *words)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        return done.stderr


class Files(Folder):
    def test_the_ending_chooses_the_format(self):
        beginnings = {"a.json": b'{\n"schemaVersion"', "a.json.gz": b"\x1f\x8b", "a.json.zst": b"\x28\xb5\x2f\xfd", "a.pftrace": b"\x0a",
                      "a.csv": b"id,start_ns,", "a.folded": b"python3 thread", "a.speedscope.json": b'{\n"$schema"',
                      "a.tell": b"\x89TELL"}
        for name, beginning in beginnings.items():
            self.convert(SMALL, name)
            self.assertTrue((self.folder / name).read_bytes().startswith(beginning), name)
        self.assertEqual(self.names(), sorted(beginnings))

    def test_every_answer_is_the_same_after_a_round_trip(self):
        for name in ("a.json.gz", "a.tell"):
            self.convert(MLP, name)
            for command in (("top",), ("top", "--by", "kernel"), ("top", "--group", "shape"), ("top", "--group", "stack")):
                before, after = answer(*command, MLP), answer(*command, self.path(name))
                del before["anomalies"], after["anomalies"]  # which are those of the file
                self.assertEqual(after, before, f"{command} of {name}")

    def test_a_file_that_is_there_is_only_replaced_with_force(self):
        Path(self.path("a.csv")).write_text("mine")
        done = run("convert", SMALL, "-o", self.path("a.csv"))
        self.assertEqual(done.returncode, 2)
        self.assertEqual(done.stderr, f"telltale: {self.path('a.csv')}: already exists; --force overwrites it\n")
        self.assertEqual(Path(self.path("a.csv")).read_text(), "mine")
        self.convert(SMALL, "a.csv", "--force")
        self.assertNotEqual(Path(self.path("a.csv")).read_text(), "mine")
        self.assertEqual(self.names(), ["a.csv"])

    def test_the_trace_itself_is_never_overwritten(self):
        original = Path(SMALL).read_bytes()
        Path(self.path("in.json.gz")).write_bytes(original)
        Path(self.path("link.json.gz")).symlink_to("in.json.gz")
        for name in ("in.json.gz", "link.json.gz"):
            done = run("convert", self.path("in.json.gz"), "-o", self.path(name), "--force")
            self.assertEqual(done.returncode, 2)
            self.assertIn("the trace would be overwritten", done.stderr)
        self.assertEqual(Path(self.path("in.json.gz")).read_bytes(), original)
        self.assertEqual(self.names(), ["in.json.gz", "link.json.gz"])

    def test_errors_are_one_line_and_leave_nothing_behind(self):
        cases = {
            ("a.xyz",): r"a.xyz: its ending names no format; use .*\.json.*\.csv, or give --format",
            ("a",): "its ending names no format",
            ("none/a.json",): "none/a.json: cannot be written: its folder does not exist",
            (".", "--format", "csv"): "is a folder; name a file in it",
            ("a.json", "--format", "pdf"): "there is no format 'pdf'; choose .*perfetto",
            ("a.json", "--from", "5"): "--from 5 is not a time; write 1.5s, 200ms, 300us or 50ns",
            ("a.json", "--from", "2ms", "--to", "2ms"): "--to must be later than --from",
            ("a.json", "--from", "10s"): "nothing happens after --from: the trace lasts 8.06 ms",
            ("a.json", "--steps", "77"): r"no step matches --steps 77 \(the trace has 3 to 5\)",
            ("a.json", "--steps", "3", "--from", "8ms"): "no step matches --steps 3 after --from",
        }
        for words, sentence in cases.items():
            name, *options = words
            done = run("convert", SMALL, "-o", self.path(name), *options)
            self.assertEqual(done.returncode, 2, words)
            self.assertRegex(done.stderr, r"\Atelltale: [^\n]+\n\Z")
            self.assertRegex(done.stderr, sentence)
            self.assertEqual(self.names(), [], words)
        done = run("convert", self.path("none.json"), "-o", self.path("a.json"))
        self.assertEqual((done.returncode, self.names()), (2, []))

    def test_a_full_disk_is_an_error(self):
        for words in (["-o", "/dev/full", "--format", "kineto"], ["-o", "/dev/full", "--format", "csv"]):
            done = run("convert", SMALL, *words)
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, "telltale: /dev/full: could not be written: No space left on device\n")

    def test_devices_are_written_to_and_not_replaced(self):
        done = run("convert", SMALL, "-o", "/dev/null", "--format", "csv")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(Path("/dev/null").is_char_device())

    def test_an_interrupted_conversion_leaves_nothing_behind(self):
        with gzip.open(RESNET, "rb") as trace:
            text = trace.read()
        body = text[text.index(b'"traceEvents": [') + 16:text.rindex(b"]")]
        Path(self.path("in.json")).write_bytes(b'{"traceEvents": [' + b",".join([body] * 30) + b"]}")
        for delay in (0.1, 0.2, 0.3, 0.4, 0.5):
            process = subprocess.Popen([PROGRAM, "convert", self.path("in.json"), "-o", self.path("out.json.gz"), "--force"],
                                       stderr=subprocess.DEVNULL)
            time.sleep(delay)  # somewhere in reading or writing; how far it got makes no difference to what must hold
            process.kill()
            process.wait()
            names = self.names()
            if "out.json.gz" in names:
                self.assertEqual(gzip.open(self.path("out.json.gz")).read()[-2:], b"}\n")  # it was done
                names.remove("out.json.gz")
            self.assertEqual(names, ["in.json"])


class Streams(Folder):
    def test_standard_output_needs_a_format(self):
        done = run("convert", SMALL, "-o", "-")
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"\Atelltale: standard output: say what to write there with --format: .*kineto")

    def test_standard_output_has_what_a_file_has(self):
        self.convert(SMALL, "a.json")
        done = run("convert", SMALL, "-o", "-", "--format", "kineto")
        self.assertEqual((done.returncode, done.stdout), (0, Path(self.path("a.json")).read_text()))

    def test_standard_input_gives_what_the_file_gives(self):
        self.convert(SMALL, "a.csv")
        with open(SMALL, "rb") as trace:
            done = subprocess.run([PROGRAM, "convert", "-", "-o", self.path("b.csv")], stdin=trace, capture_output=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(Path(self.path("a.csv")).read_bytes(), Path(self.path("b.csv")).read_bytes())

    def test_a_reader_that_goes_away_is_no_error(self):
        process = subprocess.Popen([PROGRAM, "convert", RESNET, "-o", "-", "--format", "csv"], stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE)
        self.assertTrue(process.stdout.readline().startswith(b"id,"))
        process.stdout.close()
        process.stderr.read()
        process.stderr.close()
        self.assertEqual(process.wait(), 0)


class Parts(Folder):
    def test_steps_are_chosen_by_their_number(self):
        self.convert(SMALL, "a.json", "--steps", "4")
        info = answer("info", self.path("a.json"))
        self.assertEqual([step["index"] for step in info["steps"]], [4])
        whole = {kernel["name"]: kernel["calls"] for kernel in answer("top", SMALL, "--by", "kernel", "--steps", "4")["rows"]}
        part = {kernel["name"]: kernel["calls"] for kernel in answer("top", self.path("a.json"), "--by", "kernel")["rows"]}
        self.assertEqual(part, whole)

    def test_a_window_of_time_keeps_whole_what_overlaps_it(self):
        self.convert(SMALL, "a.json", "--from", "2ms", "--to", "2500us")
        events = [event for event in events_of(SMALL) if event["ph"] == "X"]
        origin = min(event["ts"] for event in events_of(SMALL) if event["ph"] in "Xi")
        expected = Counter((event["name"], round(event["dur"] * 1000)) for event in events
                           if event["ts"] - origin < 2500 and event["ts"] - origin + event["dur"] > 2000)
        with open(self.path("a.json"), encoding="utf-8") as file:
            found = Counter((event["name"], round(event["dur"] * 1000)) for event in json.load(file)["traceEvents"]
                            if event["ph"] == "X")
        self.assertEqual(found, expected)


class LeftOut(Folder):
    def test_what_a_format_has_no_place_for_is_counted(self):
        memory = sum(event["name"] == "[memory]" for event in events_of(RESNET))
        for name in ("a.csv", "a.folded", "a.speedscope.json"):
            self.assertIn(f"left out: {memory:,} memory events: ", self.convert(RESNET, name), name)

    def test_json_of_torch_loses_nothing_but_what_is_wrong_with_it(self):
        self.assertEqual(self.convert(RESNET, "a.json"), "")
        Path(self.path("odd.json")).write_text(
            '{"traceEvents": [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": 1, "dur": -5}, 7]}'
        )
        said = "left out: 2 anomalies of the trace: telltale info lists them\n"
        self.assertEqual(self.convert(self.path("odd.json"), "b.json"), said)
        self.assertEqual(run("convert", self.path("b.json"), "-o", self.path("c.json")).stderr, "")


class Tables(Folder):
    """The simpler formats, compared with the source as Python reads it."""

    def spans(self):
        events = events_of(RESNET)
        origin = min(event["ts"] for event in events if event["ph"] in "Xi")
        return [(event, round((event["ts"] - origin) * 1000), round(event["dur"] * 1000)) for event in events if event["ph"] == "X"]

    def test_csv_has_a_line_for_each_event(self):
        self.convert(RESNET, "a.csv")
        with open(self.path("a.csv"), newline="", encoding="utf-8") as file:
            rows = list(csv.DictReader(file))
        expected = Counter((event["name"], start, duration) for event, start, duration in self.spans())
        self.assertEqual(Counter((row["name"], int(row["start_ns"]), int(row["duration_ns"])) for row in rows
                                 if row["kind"] != "instant"), expected)
        for row in rows:
            if row["parent"]:
                parent = rows[int(row["parent"])]
                self.assertEqual(parent["track"], row["track"])
                self.assertLessEqual(int(parent["start_ns"]), int(row["start_ns"]))
            if row["kind"] == "kernel":
                self.assertIn(rows[int(row["cause"])]["kind"], ("runtime", "driver"))
                self.assertEqual(len(json.loads(row["args"])["grid"]), 3)

    def test_collapsed_stacks_add_up_to_the_time_of_each_thread_and_kernel(self):
        self.convert(RESNET, "a.folded")
        with open(self.path("a.folded"), encoding="utf-8") as file:
            stacks = [(*line.rstrip("\n").rpartition(" ")[::2],) for line in file]
        self.assertEqual(len(stacks), len({stack for stack, _ in stacks}))
        kernels, threads = Counter(), Counter()
        for stack, weight in stacks:
            frames = stack.split(";")
            if frames[0].startswith("GPU"):
                kernels[frames[-1]] += int(weight)
            else:
                threads[frames[0]] += int(weight)
        spans = self.spans()
        self.assertEqual(kernels, sum((Counter({event["name"]: duration}) for event, _, duration in spans
                                       if event["cat"] in ("kernel", "gpu_memset", "gpu_memcpy")), Counter()))
        for tid, name in ((399, "python3 thread 399 (python3)"), (425, "python3 thread 425 (pt_autograd_0)")):
            busy, end = 0, 0  # the length of the union of all spans of the thread
            for start, duration in sorted((s, d) for event, s, d in spans if (event["pid"], event["tid"]) == (399, tid)):
                busy += max(0, start + duration - max(start, end))
                end = max(end, start + duration)
            self.assertEqual(threads[name], busy)

    def test_speedscope_profiles_open_and_close_what_the_source_has(self):
        self.convert(RESNET, "a.speedscope.json")
        with open(self.path("a.speedscope.json"), encoding="utf-8") as file:
            document = json.load(file)
        self.assertEqual(document["$schema"], "https://www.speedscope.app/file-format-schema.json")
        frames, found = [frame["name"] for frame in document["shared"]["frames"]], Counter()
        self.assertEqual(len(frames), len(set(frames)))
        for profile in document["profiles"]:
            self.assertEqual((profile["type"], profile["unit"]), ("evented", "nanoseconds"))
            stack, last = [], profile["startValue"]
            for event in profile["events"]:
                self.assertGreaterEqual(event["at"], last)
                last = event["at"]
                if event["type"] == "O":
                    stack.append(event)
                else:
                    begin = stack.pop()
                    self.assertEqual(begin["frame"], event["frame"])
                    found[frames[event["frame"]], begin["at"], event["at"] - begin["at"]] += 1
            self.assertEqual(stack, [])
            self.assertLessEqual(last, profile["endValue"])
        self.assertEqual(found, Counter((event["name"], start, duration) for event, start, duration in self.spans()))


if __name__ == "__main__":
    unittest.main()
