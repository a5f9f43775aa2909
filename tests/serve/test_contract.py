"""What the server answers is what web/src/protocol.ts promises the page: the same members, each of the type written there.
And the numbers are those of the commands."""
import json
import re
import subprocess
import unittest

from page_server import PROGRAM, ROOT, Server

TRACES = ROOT / "examples" / "traces"
# The page reads a part of telltale.analyze/1, which has more.
OPEN = {"Analyze"}


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
                for weight in ("host", "device", "memory"):
                    for by in ("stack", "module"):
                        self.check(server, cookie, f"flame?weight={weight}&by={by}", "Flame")
                self.check(server, cookie, "memory", "Memory")
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


if __name__ == "__main__":
    unittest.main()
