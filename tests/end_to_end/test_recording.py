"""The example server is recorded, killed, read, analyzed and exported; what comes out is what the server says it did.

INFERENCE_SERVER in the environment is the program of examples/cpp.
"""
import json
import os
import re
import signal
import subprocess
import tempfile
import time
import unittest
from collections import Counter
from pathlib import Path

from telltale import answer, run

SERVER = os.environ.get("INFERENCE_SERVER", "build/bin/inference_server")
REPORT = re.compile(r"(so far|served): (\d+) requests in (\d+) batches, p50 ([\d.]+) ms, p99 ([\d.]+) ms\n")
REQUESTS = 60  # however long the server is kept waiting, no more are under way at once than a trace has lanes for
PATIENCE = 60  # seconds until something that must happen is taken as never happening


class Report:
    """What the server prints of itself."""

    def __init__(self, line):
        self.what, requests, batches, p50, p99 = REPORT.fullmatch(line).groups()
        self.requests, self.batches, self.p50_ms, self.p99_ms = int(requests), int(batches), float(p50), float(p99)


class Exported:
    """A recording as Python's own reader sees it, after telltale convert."""

    def __init__(self, path):
        events = json.loads(Path(path).read_text())["traceEvents"]
        self.names = {event["tid"]: event["args"]["name"] for event in events if event.get("name") == "thread_name"}
        self.spans = [event for event in events if event["ph"] == "X"]
        for event in events:  # nanoseconds, which add up exactly
            event["ts"], event["dur"] = round(event.get("ts", 0) * 1000), round(event.get("dur", 0) * 1000)
        self.begins = {event["id"]: event for event in events if event["ph"] == "b"}
        self.ends = {event["id"]: event for event in events if event["ph"] == "e"}
        self.starts = {event["id"]: event for event in events if event["ph"] == "s"}
        self.arrivals = {event["id"]: event for event in events if event["ph"] == "f"}
        self.counters = [event for event in events if event["ph"] == "C"]
        self.memory = [event for event in events if event["name"] == "[memory]"]

    def named(self, name):
        return [span for span in self.spans if span["name"] == name]

    def latencies(self):
        """Of all requests, in nanoseconds, the shortest first."""
        return sorted(self.ends[number]["ts"] - begin["ts"] for number, begin in self.begins.items())

    def self_times(self):
        """Time in the spans of each name but not in those within them."""
        times, around = Counter(), {}
        for span in sorted(self.spans, key=lambda span: (span["tid"], span["ts"], -span["dur"])):
            stack = around.setdefault(span["tid"], [])
            while stack and stack[-1]["ts"] + stack[-1]["dur"] <= span["ts"]:
                stack.pop()
            if stack:
                times[stack[-1]["name"]] -= span["dur"]
            times[span["name"]] += span["dur"]
            stack.append(span)
        return times

    def around(self, name, point):
        """The span of that name on the thread and at the time of an event."""
        [found] = [span for span in self.named(name) if span["tid"] == point["tid"]
                   and span["ts"] <= point["ts"] <= span["ts"] + span["dur"]]
        return found


class Recording(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def start(self, *words, **options):
        server = subprocess.Popen([SERVER, *map(str, words)], stdout=subprocess.PIPE, encoding="utf-8", **options)
        self.addCleanup(server.stdout.close)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        return server

    def serve(self, *words, **options):
        """Runs the server to its end, and returns what it says last."""
        server = self.start(*words, **options)
        lines = server.stdout.readlines()
        self.assertEqual(server.wait(), 0)
        report = Report(lines[-1])
        self.assertEqual(report.what, "served")
        return report

    def convert(self, source, name):
        target = self.folder / name
        done = run("convert", str(source), "-o", str(target), "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        return target


class Finished(Recording):
    def setUp(self):
        super().setUp()
        self.tell = self.folder / "server.tell"
        self.served = self.serve("--requests", REQUESTS, "--rate", 300, "--workers", 2, "--max-batch", 6, "--out", self.tell)
        self.assertEqual(self.served.requests, REQUESTS)

    def test_info_tells_what_was_recorded(self):
        info = answer("info", str(self.tell))
        self.assertEqual(info["format"], "tell")
        self.assertEqual(info["anomalies"], [])
        self.assertEqual(info["kinds"]["async"], REQUESTS)
        self.assertEqual(info["flows"], REQUESTS)
        self.assertEqual(info["processes"][0]["name"], "inference server")
        threads = {track["name"] for track in info["tracks"] if track["kind"] == "thread"}
        self.assertEqual(threads, {"worker 0", "worker 1", "clients"})

    def test_top_counts_what_the_server_did(self):
        calls = {row["name"]: row["calls"] for row in answer("top", str(self.tell))["rows"]}
        batches = self.served.batches
        self.assertEqual(calls, {"enqueue": REQUESTS, "batch": batches, "gather": batches, "classify": batches, "softmax": batches,
                                 "answer": batches, "layer": 3 * batches})
        where = {row["name"]: row["source"] for row in answer("top", str(self.tell))["rows"]}
        self.assertEqual(Path(where["layer"]["file"]).name, "model.h")
        self.assertIn("apply", where["layer"]["function"])

    def test_the_export_has_every_request_batch_and_value(self):
        exported = Exported(self.convert(self.tell, "server.json"))
        sizes = [span["args"]["requests.size()"] for span in exported.named("batch")]
        self.assertEqual(len(sizes), self.served.batches)
        self.assertEqual(sum(sizes), REQUESTS)
        self.assertTrue(all(1 <= size <= 6 for size in sizes), sizes)
        self.assertEqual(len(exported.begins), REQUESTS)
        self.assertEqual(exported.begins.keys(), exported.ends.keys())
        self.assertEqual({begin["args"]["request.input.size()"] for begin in exported.begins.values()}, {512})
        self.assertEqual(exported.starts.keys(), exported.arrivals.keys())
        # Each batch is reached by as many arrows as it has requests.
        arrived = Counter(exported.around("batch", point)["ts"] for point in exported.arrivals.values())
        self.assertEqual(arrived, Counter({span["ts"]: span["args"]["requests.size()"] for span in exported.named("batch")}))
        depths = [counter["args"]["value"] for counter in exported.counters if counter["name"] == "queue depth"]
        self.assertEqual(len(depths), REQUESTS + self.served.batches + 2, "each arrival, each batch, and each worker's end")
        # What is taken is given back: four buffers a batch.
        sums = Counter()
        for event in exported.memory:
            sums[event["args"]["Addr"]] += event["args"]["Bytes"]
        self.assertEqual(len(exported.memory), 8 * self.served.batches)
        self.assertEqual(set(sums.values()), {0})

    def test_analyze_agrees_with_the_server_about_its_requests(self):
        said = answer("analyze", str(self.tell))
        request = said["latencies"][0]
        self.assertEqual((request["name"], request["count"], request["unfinished"]), ("request", REQUESTS, 0))
        exported = Exported(self.convert(self.tell, "server.json"))
        latencies = exported.latencies()
        self.assertEqual((request["p50_ns"], request["p99_ns"]), (latencies[29], latencies[59]), "the nearest ranks")
        # The server reads its clock before a request begins and after it has ended, and goes by other ranks: its 31st
        # and 60th request take no less than ours, however long it is kept waiting in between. The clocks may differ a bit.
        self.assertGreaterEqual(self.served.p50_ms + 0.05, latencies[30] / 1e6)
        self.assertGreaterEqual(self.served.p99_ms + 0.05, latencies[59] / 1e6)
        self.assertEqual(said["latencies"][1]["name"], "batch")
        self.assertEqual(said["latencies"][1]["count"], self.served.batches)
        self.assertEqual(said["counters"][0]["minimum"], 0)
        self.assertEqual(said["findings"], [])
        text = " ".join(run("analyze", str(self.tell)).stdout.split())
        self.assertIn(f"{REQUESTS} × request", text)
        self.assertIn("Each request takes", text)
        workers = {span["tid"] for span in exported.named("batch")}  # a busy machine may leave one of them out
        self.assertIn("The 2 threads that serve are busy" if len(workers) == 2 else "The thread that serves, worker", text)

    # Ids tie a request to its arrow in what the server recorded; analyze has only times to go by.
    def test_analyze_finds_how_long_each_request_waited(self):
        exported = Exported(self.convert(self.tell, "server.json"))
        # The exporter numbers arrows and requests anew; where an arrow starts, one request begins.
        waited, threads = 0, set()
        for arrow, start in exported.starts.items():
            enqueue = exported.around("enqueue", start)
            [begin] = [each for each in exported.begins.values() if enqueue["ts"] <= each["ts"] <= enqueue["ts"] + enqueue["dur"]]
            batch = exported.around("batch", exported.arrivals[arrow])
            waited += batch["ts"] - begin["ts"]
            threads.add(exported.names[batch["tid"]])
        waiting = answer("analyze", str(self.tell))["latencies"][0]["waiting"]
        self.assertEqual(waiting["spans"], REQUESTS)
        self.assertEqual(waiting["served_in"], "batch")
        self.assertEqual(waiting["waiting_ns"], waited)
        names = {track["id"]: track["name"] for track in answer("info", str(self.tell))["tracks"]}
        self.assertEqual({names[track] for track in waiting["threads"]}, threads)

    def test_threads_are_busy_as_long_as_their_scopes_last(self):
        exported = Exported(self.convert(self.tell, "server.json"))
        lasted = Counter()
        for span in exported.named("batch") + exported.named("enqueue"):
            lasted[exported.names[span["tid"]]] += span["dur"]
        for thread in answer("analyze", str(self.tell))["threads"]:
            self.assertEqual(thread["busy_ns"], lasted[thread["name"]])
            self.assertEqual(sum(scope["own_ns"] for scope in thread["scopes"]), thread["busy_ns"])

    def test_nothing_is_lost_on_the_way_to_other_formats_and_back(self):
        there = self.convert(self.tell, "server.json.gz")
        back = self.convert(there, "back.tell")
        want, got = answer("info", str(self.tell)), answer("info", str(back))
        for member in ("events", "kinds", "flows", "counter_values", "memory_events", "duration_ns", "anomalies"):
            self.assertEqual(got[member], want[member], member)
        for trace in (there, back):
            self.assertEqual(answer("analyze", str(trace))["latencies"], answer("analyze", str(self.tell))["latencies"])
        folded = self.convert(self.tell, "server.folded").read_text()
        self.assertRegex(folded, r"(?m)^.*batch;classify;layer \d+$")


class Killed(Recording):
    def setUp(self):
        super().setUp()
        self.tell = self.folder / "killed.tell"
        server = self.start("--seconds", 600, "--rate", 200, "--out", self.tell)
        # What a report tells of is soon in the file; how soon, on a busy machine, is not the matter here.
        self.report = Report(server.stdout.readline())
        deadline = time.monotonic() + PATIENCE
        while not self.report.requests:
            self.report = Report(server.stdout.readline())
        while not self.has_all(self.report):
            self.assertLess(time.monotonic(), deadline, "what was served does not come to the file")
        os.kill(server.pid, signal.SIGKILL)
        self.assertEqual(server.wait(), -signal.SIGKILL)

    def has_all(self, report):
        """Whether the file, as far as it has grown, has what the server says that it did."""
        exported = Exported(self.convert(self.tell, "growing.json"))
        sizes = [span["args"]["requests.size()"] for span in exported.named("batch") if "requests.size()" in span["args"]]
        return len(exported.ends) >= report.requests <= sum(sizes) and len(sizes) >= report.batches

    def test_info_says_what_is_missing(self):
        info = answer("info", str(self.tell))
        [unfinished] = [each for each in info["anomalies"] if each["kind"] == "unfinished_recording"]
        self.assertRegex(unfinished["example"]["text"], r"It reaches [\d.]+ (s|ms|µs); at most the next [\d.]+ ms of each of [23] threads are lost")
        self.assertEqual([each for each in info["anomalies"] if each["kind"] in ("dropped_events", "damaged_chunk")], [])
        card = " ".join(run("info", str(self.tell)).stdout.split())
        self.assertIn("1 × The recording has no end: it still goes on, or its process was killed or closed the file. It reaches", card)

    def test_what_was_in_the_file_is_still_there(self):
        request = answer("analyze", str(self.tell))["latencies"][0]
        self.assertEqual(request["name"], "request")
        self.assertGreaterEqual(request["count"], self.report.requests)
        exported = Exported(self.convert(self.tell, "killed.json"))
        self.assertEqual(len(exported.ends), request["count"])
        batches = exported.named("batch")
        self.assertGreaterEqual(len(batches), self.report.batches)
        self.assertGreaterEqual(sum(span["args"].get("requests.size()", 0) for span in batches), self.report.requests)

    def test_it_is_analyzed_like_any_other(self):
        done = run("analyze", str(self.tell))
        self.assertEqual(done.returncode, 0, done.stderr)
        text = " ".join(done.stdout.split())
        self.assertIn("Each request takes", text)
        self.assertIn("The recording has no end", text)
        first = answer("top", str(self.tell))["rows"][0]
        times = Exported(self.convert(self.tell, "killed.json")).self_times()
        self.assertEqual(first["name"], times.most_common(1)[0][0])
        self.assertEqual(first["self_cpu_ns"], times[first["name"]])
        page = self.folder / "page.html"
        self.assertEqual(run("analyze", str(self.tell), "--html", str(page)).returncode, 0)
        self.assertIn('<section id="latencies"', page.read_text())


class OtherWays(Recording):
    def is_complete(self, tell):
        if not tell.exists() or run("info", str(tell)).returncode != 0:
            return False
        return "unfinished_recording" not in {each["kind"] for each in answer("info", str(tell))["anomalies"]}

    def test_the_environment_records_a_program_that_starts_no_session(self):
        tell = self.folder / "by environment.tell"
        served = self.serve("--requests", 50, "--rate", 1000, env=os.environ | {"TELLTALE_RECORD": str(tell)})
        info = answer("info", str(tell))
        self.assertEqual(info["anomalies"], [])
        self.assertEqual(info["kinds"]["async"], served.requests)

    def test_a_server_that_cannot_be_recorded_serves_all_the_same(self):
        served = self.serve("--requests", 20, "--rate", 1000, "--out", "/nowhere/server.tell", stderr=subprocess.DEVNULL)
        self.assertEqual(served.requests, 20)

    def test_the_flight_recorder_writes_the_last_seconds_when_asked(self):
        tell = self.folder / "flight.tell"
        server = self.start("--seconds", 600, "--rate", 100, "--flight", 0.5, "--out", tell)
        reports = [Report(server.stdout.readline()) for _ in range(4)]
        self.assertFalse(tell.exists())
        os.kill(server.pid, signal.SIGUSR2)
        deadline = time.monotonic() + PATIENCE
        while not self.is_complete(tell):
            self.assertLess(time.monotonic(), deadline, "nothing was written")
            time.sleep(0.05)
        calls = {row["name"]: row["calls"] for row in answer("top", str(tell))["rows"]}
        self.assertGreater(calls["enqueue"], 0)
        self.assertLess(calls["enqueue"], reports[-1].requests, "of two seconds, half a second")


if __name__ == "__main__":
    unittest.main()
