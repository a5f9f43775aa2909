"""What the server answers is what web/src/protocol.ts promises the page: the same members, each of the type written there.
And the numbers are those of the commands."""
import json
import re
import subprocess
import unittest

from page_server import PROGRAM, ROOT, Server

TRACES = ROOT / "examples" / "traces"
SNAPSHOTS = ROOT / "examples" / "memory"
# The page reads a part of telltale.analyze/1 and of telltale.memory/1, which have more.
OPEN = {"Analyze", "HeldMemory"}


class Types:
    """The interfaces and types of a TypeScript file, as far as this one needs them."""

    def __init__(self, text):
        text = re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)
        self.tokens = re.findall(r'"[^"]*"|[\w.-]+|[{}\[\]()|:;?,=<>]', text)
        self.at, self.named = 0, {}
        while self.at < len(self.tokens):
            word = self.take()
            if word == "interface":
                name = self.take()
                self.named[name] = self.type()
            elif word == "type":
                name = self.take()
                assert self.take() == "="
                self.named[name] = self.type()

    def peek(self):
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def type(self):
        if self.peek() == "|":
            self.take()
        choices = [self.listed()]
        while self.peek() == "|":
            self.take()
            choices.append(self.listed())
        return choices[0] if len(choices) == 1 else ("one of", choices)

    def listed(self):
        found = self.single()
        while self.tokens[self.at:self.at + 2] == ["[", "]"]:
            self.at += 2
            found = ("list", found)
        return found

    def single(self):
        word = self.take()
        if word == "(":
            found = self.type()
            assert self.take() == ")"
            return found
        if word != "{":
            return word
        members = {}
        while self.peek() != "}":
            name = self.take()
            assert self.take() == ":", name
            members[name] = self.type()
            if self.peek() in ";,":
                self.take()
        self.take()
        return ("object", members)

    def problem(self, value, wanted, where, is_open=False):
        """What is wrong with the value; empty when nothing is."""
        if isinstance(wanted, tuple):
            sort, rest = wanted
            if sort == "one of":
                problems = [self.problem(value, each, where, is_open) for each in rest]
                return "" if "" in problems else problems[0]
            if sort == "list":
                if not isinstance(value, list):
                    return f"{where} is no list"
                return next(filter(None, (self.problem(each, rest, f"{where}[{i}]", is_open) for i, each in enumerate(value))), "")
            if not isinstance(value, dict):
                return f"{where} is no object"
            if missing := rest.keys() - value.keys():
                return f"{where} lacks {sorted(missing)}"
            if not is_open and (extra := value.keys() - rest.keys()):
                return f"{where} has {sorted(extra)}, which nobody promised"
            return next(filter(None, (self.problem(value[name], each, f"{where}.{name}", is_open) for name, each in rest.items())), "")
        if wanted in self.named:
            return self.problem(value, self.named[wanted], where, is_open or wanted in OPEN)
        fits = {"number": isinstance(value, (int, float)) and not isinstance(value, bool), "string": isinstance(value, str),
                "boolean": isinstance(value, bool), "null": value is None}.get(wanted, wanted == json.dumps(value))
        return "" if fits else f"{where} is {json.dumps(value)[:80]}, not {wanted}"


class Contract(unittest.TestCase):
    types = Types((ROOT / "web" / "src" / "protocol.ts").read_text())

    def check(self, server, cookie, target, wanted):
        reply = server.ask(f"/api/{target}", cookie=cookie)
        self.assertEqual(reply.status, 200, f"{target}: {reply.body[:300]}")
        self.assertEqual(self.types.problem(reply.json(), wanted, target), "")
        return reply.json()

    def test_a_wrong_answer_would_be_noticed(self):
        place = {"id": 1, "name": "a", "kind": "kernel", "track": 0, "lane": 0, "start_ns": 0, "duration_ns": 1, "color": 2}
        self.assertEqual(self.types.problem(place, "EventPlace", "place"), "")
        for wrong in (place | {"name": None}, place | {"more": 1}, {**place, "lane": "0"}, dict(list(place.items())[1:])):
            self.assertNotEqual(self.types.problem(wrong, "EventPlace", "place"), "")

    def test_answers_are_as_promised(self):
        for trace in ("small_train.json.gz", "decode_cuda_graph.json.gz", "inference_server.tell"):
            with self.subTest(trace), Server(str(TRACES / trace), "--source", str(ROOT / "examples")) as server:
                cookie = server.open()
                self.check(server, cookie, "state", "State")
                shape = self.check(server, cookie, "trace", "TraceShape")
                overview = self.check(server, cookie, "overview", "Overview")
                self.check(server, cookie, "fixes", "FixesAnswer")
                for i, finding in enumerate(overview["findings"]):
                    if finding["can_be_tried"]:
                        step = self.check(server, cookie, f"fixes?finding={i}", "FixesAnswer")
                        self.assertEqual(step["before_ns"] - step["after_ns"], overview["analyze"]["findings"][i]["saving"]["likely_ns"])
                for rows in ("operators", "kernels", "annotations", "python", "modules", "lines"):
                    self.check(server, cookie, f"table?rows={rows}&limit=5", "Table")
                for weight in ("host", "device", "memory", "peak"):
                    for by in ("stack", "module"):
                        self.check(server, cookie, f"flame?weight={weight}&by={by}", "Flame")
                self.check(server, cookie, "memory", "Memory")
                if shape["has_memory"]:
                    self.check(server, cookie, f"memory?at=5&start=3&end={shape['duration_ns']}&points=20", "Memory")
                    self.check(server, cookie, "memory_report", "MemoryReport")
                else:
                    self.assertEqual(server.ask("/api/memory_report", cookie=cookie).status, 400)
                self.check(server, cookie, "roofline", "Roofline")
                for file in self.check(server, cookie, "source", "SourceFiles")["files"]:
                    self.check(server, cookie, f"source?file={file['id']}", "SourceText")
                self.check(server, cookie, f"range?start=0&end={shape['duration_ns']}", "RangeAnswer")
                self.check(server, cookie, "event?id=0", "EventDetails")
                self.check(server, cookie, "search?q=a", "SearchAnswer")

    def test_numbers_are_those_of_the_commands(self):
        trace = str(TRACES / "small_train.json.gz")

        def said(*words):
            return json.loads(subprocess.run([PROGRAM, *words, trace, "--json"], check=True, capture_output=True).stdout)

        with Server(trace) as server:
            cookie = server.open()
            self.assertEqual(server.ask("/api/overview", cookie=cookie).json()["analyze"], said("analyze"))
            table = server.ask("/api/table?rows=operators&limit=1000", cookie=cookie).json()
            ids = [column["id"] for column in table["columns"]]
            rows = {row["search"]: dict(zip(ids, row["cells"])) for row in table["rows"]}
            top = said("top", "--by", "operator")["rows"]
            self.assertEqual(len(rows), len(top))
            for row in top:
                for name in ("calls", "self_cpu_ns", "cpu_ns", "self_device_ns", "device_ns"):
                    self.assertEqual(rows[row["name"]][name], row[name], row["name"])

    def test_memory_is_that_of_the_command(self):
        for trace in (TRACES / "resnet50_train.json.gz", TRACES / "small_train.json.gz", *sorted(SNAPSHOTS.glob("*.pickle"))):
            with self.subTest(trace.name), Server(str(trace)) as server:
                cookie = server.open()
                done = subprocess.run([PROGRAM, "memory", str(trace), "--json"], check=True, capture_output=True)
                said = json.loads(done.stdout)
                report = self.check(server, cookie, "memory_report", "MemoryReport")
                self.assertEqual(report["memory"].keys(), said.keys())
                for member in said:
                    self.assertEqual(report["memory"][member], said[member], member)
                words = {each["category"]: each["words"] for each in report["categories"]}
                self.assertEqual([each["device"] for each in report["devices"]], [each["device"] for each in said["devices"]])
                self.assertEqual(len(report["leaks"]), len(said["leaks"]))
                for by in ("stack", "module"):
                    flame = self.check(server, cookie, f"flame?weight=peak&by={by}", "Flame")
                    self.assertEqual(flame["unit"], "bytes")
                    self.assertIn(flame["total"], (sum(each["peak_allocated_bytes"] for each in said["devices"]),
                                                   sum(each["peak_allocated_bytes"] for each in said["devices"] if each["device"] >= 0)))
                self.assertEqual(len(report["findings"]), len(said["findings"]))
                for device, drawn in zip(said["devices"], report["devices"]):
                    self.check_device(self.check(server, cookie, f"memory?device={device['device']}", "Memory"), device, words)
                    self.check_segments(drawn["segments"], device, len(words))

    def check_device(self, shown, said, words):
        """What the page draws of a device is what the command says of it."""
        self.assertEqual(shown["device"], said["device"])
        of_curve = zip(shown["time_ns"], shown["allocated_bytes"], (bytes or 0 for bytes in shown["reserved_bytes"]))
        self.assertEqual([list(point) for point in of_curve], said["curve"])
        layers = {layer["category"]: layer for layer in shown["layers"]}
        for i, point in enumerate(said["categories_over_time"]):
            self.assertEqual({name: layer["bytes"][i] for name, layer in layers.items() if layer["bytes"][i]}, point["bytes"])
            largest = [shown["tensors"][place]["bytes"] for place in shown["largest"][i]]
            self.assertEqual(largest, sorted(largest, reverse=True))
            self.assertLessEqual(sum(largest), sum(point["bytes"].values()))
        at = shown["at"]
        self.assertEqual((at["time_ns"], at["allocated_bytes"]), (said["peak_time_ns"], said["peak_allocated_bytes"]))
        self.assertEqual([(row["category"], row["bytes"], row["noted_bytes"], row["blocks"]) for row in at["categories"]],
                         [(row["name"], row["bytes"], row["noted_bytes"], row["blocks"]) for row in said["categories"]])
        self.assertEqual({row["words"] for row in at["categories"]}, {words[row["name"]] for row in said["categories"]})
        for rows in ("lines", "modules", "operators"):
            self.assertEqual([(row["bytes"], row["blocks"]) for row in at[rows]], [(row["bytes"], row["blocks"]) for row in said[rows]])
        for shown_row, row in zip(at["lines"], said["lines"]):
            if row["source"]:
                self.assertIn(str(row["source"]["line"]), shown_row["name"])
        self.assertEqual([[row[name] for name in ("bytes", "category", "made_ns", "freed_ns")] for row in at["tensors"]],
                         [[row[name] for name in ("bytes", "category", "made_ns", "freed_ns")] for row in said["tensors"]])
        for shown_row, row in zip(at["tensors"], said["tensors"]):
            self.assertIn(row["operator"] or "", shown_row["maker"])

    def check_segments(self, drawn, said, categories):
        """Segments are what is reserved at the peak, and their parts fill them."""
        if said["fragmentation"] is None:
            self.assertEqual(drawn["segments"], [])
            return
        reserved = drawn["left_out_bytes"]
        for segment in drawn["segments"]:
            reserved += segment["bytes"]
            self.assertEqual(sum(segment["part_bytes"]), segment["bytes"])
            self.assertEqual(sum(segment["part_used_bytes"]), segment["used_bytes"])
            for name in ("used_bytes", "blocks", "state", "category", "maker"):
                self.assertEqual(len(segment[f"part_{name}"]), len(segment["part_bytes"]))
            for state, category, maker in zip(segment["part_state"], segment["part_category"], segment["part_maker"]):
                self.assertLess(category, categories)
                self.assertLess(maker, len(drawn["makers"]))
                self.assertEqual(category >= 0, state in (1, 2))
        self.assertEqual(reserved, said["reserved_at_peak_bytes"])


if __name__ == "__main__":
    unittest.main()
