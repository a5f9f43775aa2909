"""What telltale analyze says of real traces: that its numbers agree with each other and with the trace, in every form."""
import base64
import hashlib
import json
import os
import re
import subprocess
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

from telltale import MLP, PROGRAM, RESNET, ROOT, answer, events_of, run

CPU_ONLY = str(ROOT / "tests" / "golden" / "torch" / "cpu_only.json.gz")
# Of each sort that we have: a busy device, a waiting one, copies, a graph, several streams, no device, no steps.
TRACES = [RESNET, MLP, CPU_ONLY, *map(str, sorted((ROOT / "tests" / "diagnosis").glob("*.json.gz")))]
NEVER_CLOSED = {"meta"}


class Page(HTMLParser):
    """Checks that elements nest, and collects what there is."""

    def __init__(self, text):
        super().__init__()
        self.open, self.sections, self.words, self.scripts, self.wrong, self.policy = [], [], [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        if tag in ("img", "iframe", "link", "object"):
            self.wrong.append(tag)
        if tag == "script":
            self.scripts.append((dict(attributes), ""))
        if ("http-equiv", "Content-Security-Policy") in attributes:
            self.policy = dict(attributes)["content"]
        if tag == "section":
            self.sections.append(dict(attributes)["id"])
        if tag not in NEVER_CLOSED:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(f"/{tag}")

    def handle_data(self, data):
        if self.open[-1:] == ["script"]:
            attributes, text = self.scripts[-1]
            self.scripts[-1] = (attributes, text + data)
        else:
            self.words.append(data)


class Analyze(unittest.TestCase):
    def assert_fails(self, done, *parts):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atelltale: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_a_trace_alone_is_analyzed(self):
        self.assertEqual(run(MLP).stdout, run("analyze", MLP).stdout)
        self.assertEqual(run(MLP, "--json").stdout, run("analyze", MLP, "--json").stdout)
        self.assertEqual(run("--json", "--threads", "1", MLP).stdout, run("analyze", MLP, "--json").stdout)
        with open(MLP, "rb") as trace:
            done = subprocess.run([PROGRAM, "-", "--markdown"], stdin=trace, capture_output=True, encoding="utf-8")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("### standard input", done.stdout)

    def test_the_parts_of_a_step_add_up(self):
        for trace in TRACES:
            with self.subTest(Path(trace).name):
                said = answer("analyze", trace)
                self.assertEqual(said["schema"], "telltale.analyze/1")
                step = said["step"]
                self.assertEqual(sum(row["ns"] for row in said["breakdown"]), step["mean_ns"])
                self.assertTrue(all(row["ns"] > 0 for row in said["breakdown"]))
                self.assertAlmostEqual(sum(row["percent"] for row in said["breakdown"]), 100, delta=0.05)
                idle = [row for row in said["breakdown"] if row["category"].startswith("idle_")]
                self.assertEqual(idle, [row for row in said["breakdown"] if row["is_idle"]])
                self.assertLessEqual(step["unobserved_ns"], step["mean_ns"])
                observer = 100 * (step["mean_ns"] - step["unobserved_ns"]) / step["mean_ns"]
                self.assertAlmostEqual(step["observer_percent"], observer, delta=0.01)
                self.assertEqual(step["count"], len(said["steps"]))

    def test_steps_and_evidence_are_those_of_the_trace(self):
        said = answer("analyze", MLP)
        events = events_of(MLP)
        marks = sorted((e for e in events if e.get("name", "").startswith("ProfilerStep#") and e["cat"] == "user_annotation"),
                       key=lambda e: e["ts"])
        self.assertEqual([step["index"] for step in said["steps"]], [int(e["name"].split("#")[1]) for e in marks])
        names = {e.get("name") for e in events}
        for finding in said["findings"]:
            for each in finding["evidence"]:
                self.assertIn(each["name"], names)

    def test_findings_are_ranked_and_have_a_fix_that_tools_know(self):
        header = (ROOT / "src" / "advise" / "finding.h").read_text()
        known = set(re.findall(r'"(\w+)"', header[header.index("kFixIds") : header.index("struct Fix")]))
        for trace in TRACES:
            with self.subTest(Path(trace).name):
                said = answer("analyze", trace)
                likely = [finding["saving"]["likely_ns"] for finding in said["findings"]]
                self.assertEqual(likely, sorted(likely, reverse=True))
                for finding in said["findings"]:
                    saving = finding["saving"]
                    self.assertLessEqual(saving["low_ns"], saving["likely_ns"])
                    self.assertLessEqual(saving["likely_ns"], saving["high_ns"])
                    share = 100 * saving["likely_ns"] / said["step"]["unobserved_ns"]
                    self.assertAlmostEqual(saving["likely_percent"], share, delta=0.01)
                    self.assertIn(finding["fix"]["id"], known)
                    self.assertIn(finding["confidence"], ("low", "medium", "high"))
                    self.assertTrue(finding["title"] and finding["explanation"] and finding["fix"]["text"])
                    self.assertLessEqual(len(finding["evidence"]), 8)

    def test_every_form_tells_the_same(self):
        for trace in (RESNET, MLP, CPU_ONLY):
            said = answer("analyze", trace)
            text = " ".join(run("analyze", trace).stdout.split())
            markdown = run("analyze", trace, "--markdown").stdout
            for finding in said["findings"]:
                self.assertIn(" ".join(finding["title"].split()), text)
                self.assertIn(f"Rule `{finding['rule']}`", markdown)
            sentence = markdown.splitlines()[2]
            self.assertIn(sentence, text)

    def test_pages_are_whole_and_small(self):
        with tempfile.TemporaryDirectory() as folder:
            for trace in TRACES:
                with self.subTest(Path(trace).name):
                    path = Path(folder, "page.html")
                    done = run("analyze", trace, "--html", str(path), "--json")
                    self.assertEqual(done.returncode, 0, done.stderr)
                    self.assertEqual(done.stderr, f"telltale: the page is in {path}\n")
                    said = json.loads(done.stdout)
                    text = path.read_text(encoding="utf-8")
                    self.assertLess(len(text.encode()), 2_000_000)
                    page = Page(text)
                    self.assertEqual(page.wrong, [])
                    self.assertEqual(page.open, [])
                    self.assertIn("breakdown", page.sections)
                    self.assertIn("strip", page.sections)
                    (about, data), (no_attributes, script) = page.scripts
                    self.assertEqual(about, {"type": "application/json", "id": "timeline-data"})
                    self.assertTrue(json.loads(data)["lanes"])
                    self.assertEqual(no_attributes, {})
                    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
                    self.assertEqual(page.policy, f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'")
                    self.assertEqual("kernels" in page.sections, bool(said["kernels"]))
                    self.assertEqual("memory" in page.sections, said["memory"] is not None)
                    words = " ".join("".join(page.words).split())
                    for finding in said["findings"]:
                        self.assertIn(" ".join(finding["title"].split()), words)

    def test_a_page_that_cannot_be_written_is_an_error(self):
        self.assert_fails(run("analyze", MLP, "--html", "/nowhere/page.html"), "/nowhere/page.html", "cannot be written: its folder does not exist")
        self.assert_fails(run("analyze", MLP, "--html", "/dev/full"), "/dev/full", "could not be written")

    def test_a_page_names_its_trace_and_no_folder(self):
        with tempfile.TemporaryDirectory(prefix="secret-folder-") as folder:
            for name in ("plain.json", "threads.tell"):
                trace, page = Path(folder, name), Path(folder, "page.html")
                # Python's frames have the paths of the program, which often lies beside its traces.
                events = [{"ph": "X", "cat": cat, "name": what, "pid": 1, "tid": 1, "ts": 1000 * i + at, "dur": took} for i in range(4)
                          for cat, what, at, took in (("user_annotation", f"ProfilerStep#{i}", 0, 990),
                                                      ("python_function", f"{folder}/train.py(13): step", 10, 900),
                                                      ("python_function", f"{folder}/data.py(3): __next__", 20, 500),
                                                      ("cpu_op", "aten::mm", 600, 200))]
                source = Path(folder, "source.json")
                source.write_text(json.dumps({"traceEvents": events}))
                self.assertEqual(run("convert", str(source), "-o", str(trace), "--force").returncode, 0)
                self.assertEqual(run("analyze", str(trace), "--html", str(page)).returncode, 0)
                text = page.read_text(encoding="utf-8")
                self.assertIn(name, text)
                self.assertIn("train.py(13): step", text)
                self.assertNotIn(folder, text)

    def test_a_page_does_not_overwrite_its_trace(self):
        with tempfile.TemporaryDirectory() as folder:
            trace = Path(folder, "trace.json.gz")
            trace.write_bytes(Path(MLP).read_bytes())
            self.assert_fails(run("analyze", str(trace), "--html", str(trace)), "would overwrite the trace")
            self.assertEqual(trace.read_bytes(), Path(MLP).read_bytes())

    def test_a_page_replaces_an_older_one_and_nothing_else(self):
        with tempfile.TemporaryDirectory() as folder:
            page, notes = Path(folder, "page.html"), Path(folder, "notes.html")
            for _ in range(2):
                self.assertEqual(run("analyze", RESNET, "--html", str(page)).returncode, 0)
            notes.write_text("<!doctype html><title>notes</title>")
            self.assert_fails(run("analyze", RESNET, "--html", str(notes)), "notes.html: already exists and is not a report of telltale")
            self.assertEqual(notes.read_text(), "<!doctype html><title>notes</title>")
            self.assertEqual(sorted(path.name for path in Path(folder).iterdir()), ["notes.html", "page.html"])

    def test_hostile_names_stay_text(self):
        evil = "</script><img src=x>\u202e\x1b[2J|`# *"
        step = {"ph": "X", "cat": "user_annotation", "pid": 1, "tid": 1, "dur": 900}
        events = []
        for i in range(3):
            events.append(step | {"name": f"ProfilerStep#{i}", "ts": 1000 * i})
            events.append({"ph": "X", "cat": "python_function", "name": evil, "pid": 1, "tid": 1, "ts": 1000 * i, "dur": 400})
            events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1, "ts": 1000 * i + 50,
                           "dur": 9, "args": {"correlation": i + 1}})
            events.append({"ph": "X", "cat": "kernel", "name": evil, "pid": 0, "tid": 7, "ts": 1000 * i + 100, "dur": 300,
                           "args": {"device": 0, "stream": 7, "correlation": i + 1}})
        with tempfile.TemporaryDirectory() as folder:
            trace, page = Path(folder, "<b>.json"), Path(folder, "page.html")
            trace.write_text(json.dumps({"traceEvents": events, "deviceProperties": [{"id": 0, "name": evil}]}))
            done = run("analyze", str(trace), "--html", str(page))
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("\x1b", done.stdout)
            text = page.read_text(encoding="utf-8")
            self.assertIn("&lt;img src=x&gt;", text)
            self.assertEqual(Page(text).wrong, [])
            self.assertEqual(len(Page(text).scripts), 2)
            self.assertNotIn("<img", run("analyze", str(trace), "--markdown").stdout)
            self.assertEqual(answer("analyze", str(trace))["kernels"][0]["name"], evil)

    def test_odd_traces_are_no_reason_to_fail(self):
        bare = {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 0, "dur": 0}
        for events in ([bare], [bare | {"dur": 5}], [bare, bare | {"cat": "kernel", "name": "gemm", "dur": 3, "pid": 0}]):
            text = json.dumps({"traceEvents": events})
            for form in ((), ("--json",), ("--markdown",), ("--html", "/dev/null")):
                done = run("analyze", "-", *form, input=text)
                self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_trace_without_a_device_is_about_its_busiest_thread(self):
        said = answer("analyze", CPU_ONLY)
        self.assertEqual(said["devices"], [])
        self.assertFalse(any(row["is_idle"] for row in said["breakdown"]))
        self.assertIn("operators", {row["category"] for row in said["breakdown"]})
        text = run("analyze", CPU_ONLY).stdout
        self.assertIn("busiest thread", text)
        self.assertNotIn("The GPU is", text)

    def test_no_view_of_a_trace_without_a_device_speaks_of_one(self):
        of_devices = re.compile(r"\bGPUs?\b|\bdevices?\b|\bkernels?\b|CUDA|pin_memory|\blaunch", re.IGNORECASE)
        views = {form: run("analyze", CPU_ONLY, *form).stdout for form in ((), ("--markdown",))}
        with tempfile.TemporaryDirectory() as folder:
            run("analyze", CPU_ONLY, "--html", f"{folder}/page.html")
            page = Path(folder, "page.html").read_text()
        views["page"] = re.sub(r"<style>.*?</style>|<script.*?</script>|<[^>]*>", " ", page, flags=re.DOTALL)
        views["top"] = run("top", CPU_ONLY).stdout
        views["whatif"] = run("whatif", CPU_ONLY, "--scale", "aten::*=0.5").stdout
        for view, text in views.items():
            self.assertTrue(text.strip(), view)
            self.assertIsNone(of_devices.search(text), f"{view}: {text}")

    def test_chosen_steps_are_all_that_counts(self):
        self.assertEqual([step["index"] for step in answer("analyze", RESNET, "--steps", "2")["steps"]], [2])
        self.assert_fails(run("analyze", RESNET, "--steps", "7..9"), "no step matches --steps 7..9 (the trace has 1 to 2)")

    def test_rules_can_be_chosen_and_savings_limited(self):
        rules = {finding["rule"] for finding in answer("analyze", MLP)["findings"]}
        self.assertTrue(rules)
        for rule in rules:
            chosen = answer("analyze", MLP, "--rule", rule)["findings"]
            self.assertTrue({finding["rule"] for finding in chosen} <= {rule})
        if len(rules) > 1:
            both = sorted(rules)[:2]
            for words in (("--rule", ",".join(both)), ("--rule", both[0], "--rule", both[1])):
                found = {finding["rule"] for finding in answer("analyze", MLP, *words)["findings"]}
                self.assertTrue(found <= set(both))
        for finding in answer("analyze", MLP, "--min-saving", "100")["findings"]:
            self.assertEqual(finding["saving"]["high_ns"], 0)
        self.assert_fails(run("analyze", MLP, "--rule", "host_snyc"), "'host_snyc'", "did you mean 'host_sync'?")
        self.assert_fails(run("analyze", MLP, "--min-saving", "much"), "--min-saving")

    def test_a_rule_explains_itself_without_a_trace(self):
        done = run("analyze", "--explain", "host_sync", env=os.environ | {"COLUMNS": "80"})
        self.assertEqual(done.returncode, 0, done.stderr)
        for part in ("host_sync\n", "Looks for\n", "Needs\n", "Saving\n"):
            self.assertIn(part, done.stdout)
        self.assertEqual(run("--explain", "host_sync", env=os.environ | {"COLUMNS": "80"}).stdout, done.stdout)
        everything = run("analyze", "--explain", "all", env=os.environ | {"COLUMNS": "80"}).stdout
        self.assertIn(done.stdout, everything)
        self.assertIn("data_loading\n", everything)
        self.assert_fails(run("analyze", "--explain", "host_snyc"), "did you mean 'host_sync'?")
        self.assert_fails(run("analyze", "--explain", "frobnicate"), "there is no rule 'frobnicate'; choose", "host_sync", "data_loading")

    def test_wrong_words(self):
        self.assert_fails(run("analyze"), "TRACE")
        self.assert_fails(run("analyze", MLP, "--json", "--markdown"), "--json", "--markdown")
        self.assert_fails(run(MLP, "--jsn"), "'--jsn'", "did you mean '--json'?")


if __name__ == "__main__":
    unittest.main()
