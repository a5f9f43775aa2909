"""What the package answers is what the command answers: the same members, the same text, the same sentences."""
import copy
import dataclasses
import html
import html.parser
import json
import os
import pickle
import tempfile
import types
import typing
import unittest
from pathlib import Path

import telltale
import telltale._struct
from common import MLP, RESNET, SERVER, SNAPSHOT, SOME_TRACES, answer, command


def wrong_types(value, wanted, place):
    """Where a value is not of the type that its field promises."""
    origin, arguments = typing.get_origin(wanted), typing.get_args(wanted)
    if origin in (types.UnionType, typing.Union):
        chances = [wrong_types(value, each, place) for each in arguments]
        return [] if [] in chances else chances[0]
    if origin is tuple:
        if not isinstance(value, tuple):
            return [f"{place}: {value!r} is no tuple"]
        return [wrong for i, each in enumerate(value) for wrong in wrong_types(each, arguments[0], f"{place}[{i}]")]
    if origin is dict:
        return [wrong for key, each in value.items() for wrong in wrong_types(each, arguments[1], f"{place}[{key}]")]
    if dataclasses.is_dataclass(wanted):
        if type(value) is not wanted:
            return [f"{place}: {value!r} is no {wanted.__name__}"]
        hints = typing.get_type_hints(wanted)
        return [wrong for field in dataclasses.fields(wanted)
                for wrong in wrong_types(getattr(value, field.name), hints[field.name], f"{place}.{field.name}")]
    if wanted is float:
        return [] if type(value) in (int, float) else [f"{place}: {value!r} is no number"]
    return [] if type(value) is wanted else [f"{place}: {value!r} is no {wanted.__name__}"]


class SameAsTheCommand(unittest.TestCase):
    maxDiff = 2000

    def check(self, struct, *words):
        self.assertEqual(struct.to_dict(), answer(*words))
        self.assertEqual(list(struct.to_dict()), list(answer(*words)))
        self.assertEqual(wrong_types(struct, type(struct), words[0]), [])

    def test_info_top_and_analyze_have_every_member_and_no_other(self):
        for path in SOME_TRACES:
            with self.subTest(path):
                trace = telltale.load(path)
                self.check(trace.top("all"), "top", path, "--by", "all")
                self.check(trace.analyze(), "analyze", path)
                info, expected = trace.info().to_dict(), answer("info", path)
                # How much memory vectors reserve depends on the order in which threads finish.
                self.assertAlmostEqual(info.pop("memory_bytes") / expected.pop("memory_bytes"), 1, delta=0.2)
                self.assertEqual(info, expected)
                self.assertEqual(wrong_types(trace.info(), telltale.Info, "info"), [])

    def test_top_takes_what_the_command_takes(self):
        trace = telltale.load(RESNET)
        self.check(trace.top(), "top", RESNET)
        self.check(trace.top("kernel", limit=3, sort="calls"), "top", RESNET, "--by", "kernel", "--limit", "3", "--sort", "calls")
        self.check(trace.top("operator", "shape", steps=2), "top", RESNET, "--by", "operator", "--group", "shape", "--steps", "2")
        mlp = telltale.load(MLP)
        self.check(mlp.top(group="stack", stack_depth=2), "top", MLP, "--group", "stack", "--stack-depth", "2")
        self.check(mlp.top(sort="self_cuda_time_total"), "top", MLP, "--sort", "self_cuda_time_total")

    def test_top_takes_kinds_of_events(self):
        trace = telltale.load(RESNET)
        rows = [row for row in answer("top", RESNET, "--by", "all")["rows"] if row["kind"] in ("memset", "runtime")]
        self.assertEqual(trace.top(kinds=["runtime", "memset"]).to_dict()["rows"], rows)
        self.assertEqual({row.kind for row in trace.top(kinds="memset").rows}, {"memset"})

    def test_analyze_takes_what_the_command_takes(self):
        trace = telltale.load(MLP)
        self.check(trace.analyze(steps="..8", rules=["host_sync"], min_saving=0),
                   "analyze", MLP, "--steps", "..8", "--rule", "host_sync", "--min-saving", "0")
        self.assertEqual({finding.rule for finding in trace.analyze(rules="host_sync").findings}, {"host_sync"})

    def test_whatif_takes_what_the_command_takes(self):
        trace = telltale.load(MLP)
        self.check(trace.whatif(remove="aten::item", no_observer=True), "whatif", MLP, "--remove", "aten::item", "--no-observer")
        self.check(trace.whatif(scale={"kernel:*gemm*": 0.5}, no_sync=True, instant_data=True, graph=True),
                   "whatif", MLP, "--scale", "kernel:*gemm*=0.5", "--no-sync", "--instant-data", "--graph")

    def test_memory_takes_what_the_command_takes(self):
        self.check(telltale.memory(SNAPSHOT), "memory", SNAPSHOT)
        self.assertEqual(telltale.load(SNAPSHOT).memory_report(), telltale.memory(SNAPSHOT))
        self.check(telltale.memory(SNAPSHOT, fits="2GB", batch="1.5x"), "memory", SNAPSHOT, "--fits", "2GB", "--batch", "1.5x")
        self.check(telltale.memory(SNAPSHOT, settings="expandable_segments:True", batch=2, other=SNAPSHOT, device=0),
                   "memory", SNAPSHOT, "--settings", "expandable_segments:True", "--batch", "2", "--other", SNAPSHOT,
                   "--device", "0")
        self.check(telltale.memory(RESNET, without="whole_batch"), "memory", RESNET, "--without", "whole_batch")
        whole_batch = telltale.load(RESNET).memory_what_if(without=["whole_batch"], fits=1 << 30)
        self.check(whole_batch, "memory", RESNET, "--without", "whole_batch", "--fits", "1GB")
        self.assertLess(whole_batch.high.peak_allocated_bytes, whole_batch.before.peak_allocated_bytes)

    def test_what_makes_no_sense_of_memory_is_said_in_pythons_words(self):
        for changes, words in (({"fits": 24}, "fits=24 is a number of bytes: write fits='24GB'"),
                               ({"fits": "24"}, "fits=24 has no unit: write fits=24GB"),
                               ({"fits": "much"}, "fits=much is not a size"),
                               ({"batch": "no"}, "batch=no makes no sense"),
                               ({"without": "nothing"}, "without=nothing is no rule about memory"),
                               ({"other": SNAPSHOT}, "say what would be different: fits, batch, settings or without"),
                               ({"batch": 2, "device": 7}, "no GPU 7")):
            with self.subTest(changes), self.assertRaises(telltale.TelltaleError) as raised:
                telltale.memory(SNAPSHOT, **changes)
            self.assertIn(words, str(raised.exception))
        with self.assertRaises(telltale.TelltaleError) as raised:
            telltale.memory(RESNET, fits="1GB")
        self.assertRegex(str(raised.exception), "no log .*, which fits, batch and settings simulate.*; without alone needs none")

    def test_steps_are_numbers_ranges_or_texts(self):
        trace = telltale.load(RESNET)
        first, both = trace.top(steps="1"), trace.top(steps="1..2")
        self.assertNotEqual(first, both)
        self.assertEqual(trace.top(steps=1), first)
        self.assertEqual(trace.top(steps=range(1, 3)), both)
        self.assertEqual(trace.top(steps="..2"), both)

    def test_text_is_what_a_terminal_shows(self):
        os.environ["COLUMNS"] = "91"
        self.addCleanup(os.environ.pop, "COLUMNS")
        for path in (RESNET, SERVER):
            trace = telltale.load(path)
            self.assertEqual(str(trace.analyze()), command("analyze", path).stdout)
            self.assertEqual(str(trace.top()), command("top", path).stdout)
            self.assertEqual(str(trace.top(limit=2)), command("top", path, "--limit", "2").stdout)
            self.assertEqual(str(trace.info()), command("info", path).stdout)
        whatif = telltale.load(MLP).whatif(no_sync=True)
        self.assertEqual(str(whatif), command("whatif", MLP, "--no-sync").stdout)

    def test_the_page_is_that_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            page = Path(folder, "page.html")
            command("analyze", MLP, "--html", page, check=True)
            self.assertEqual(telltale.load(MLP).analyze().to_html(), page.read_text(encoding="utf-8"))

    def test_reading_does_not_depend_on_threads(self):
        self.assertEqual(telltale.load(RESNET, threads=1).top("all"), telltale.load(RESNET, threads=3).top("all"))


class Errors(unittest.TestCase):
    def error(self, ask):
        with self.assertRaises(telltale.TelltaleError) as caught:
            ask()
        return caught.exception

    def test_they_are_the_sentences_of_the_command(self):
        with tempfile.TemporaryDirectory() as folder:
            empty, text = Path(folder, "empty.json"), Path(folder, "text.json")
            empty.touch()
            text.write_text("hello")
            for path in (folder, empty, text, Path(folder, "nothing.json"), Path(folder, "grün\udcff.json")):
                error = self.error(lambda path=path: telltale.load(path))
                printed = command("info", path, errors="replace").stderr
                self.assertEqual(f"telltale: {error}\n", printed)
                self.assertEqual(error.path, str(path))
        trace = telltale.load(RESNET)
        for ask, words in (
            (lambda: trace.whatif(remove="aten::addd_"), ("whatif", RESNET, "--remove", "aten::addd_")),
            (lambda: trace.whatif(remove="kernal:x"), ("whatif", RESNET, "--remove", "kernal:x")),
        ):
            self.assertEqual(f"telltale: {self.error(ask)}\n", command(*words).stderr)

    def test_each_names_what_is_wrong(self):
        trace = telltale.load(RESNET)
        for ask, part in {
            lambda: trace.top("kernels"): "by cannot be 'kernels'; did you mean 'kernel'?",
            lambda: trace.top("kernel", kinds="memcpy"): "give by or kinds, not both",
            lambda: trace.top(group="names"): "group cannot be 'names'; did you mean 'name'?",
            lambda: trace.top(sort="size"): "sort cannot be 'size'; choose self-cpu, cpu,",
            lambda: trace.top(limit=-1): "limit must be 0 or more, not -1",
            lambda: trace.top(stack_depth=0): "stack_depth must be 1 or more, not 0",
            lambda: trace.top(steps=7): "no step matches steps=7 (the trace has 1 to 2)",
            lambda: trace.top(steps="x"): "steps=x is not a range of steps",
            lambda: trace.top(steps=range(3, 3)): "range(3, 3) is not a range of steps",
            lambda: trace.analyze(rules=["host_snc"]): "did you mean 'host_sync'?",
            lambda: trace.analyze(min_saving=101): "min_saving must be a percentage from 0 to 100, not 101",
            lambda: trace.whatif(): "say what to change: remove,",
            lambda: trace.whatif(scale={"aten::add_": float("nan")}): "scale='aten::add_=nan' is not PATTERN=FACTOR with a factor from 0 to 10,000",
            lambda: trace.whatif(remove=""): "remove='' has no name to match",
            lambda: trace.whatif(remove="instant:x"): "events of kind instant take none of their own; choose operator",
            lambda: trace.events("kernal"): "did you mean 'kernel'?",
            lambda: trace.table("kernel"): "did you mean 'kernels'?",
            lambda: telltale.load("a\0b"): "zero byte",
            lambda: telltale.load(RESNET, threads=0): "threads must be 1 or more",
        }.items():
            with self.subTest(part):
                self.assertIn(part, str(self.error(ask)))


class Page(html.parser.HTMLParser):
    def __init__(self, text):
        super().__init__()
        self.tags = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))


class Notebooks(unittest.TestCase):
    def test_a_diagnosis_is_shown_in_a_frame_of_its_own(self):
        analysis = telltale.load(MLP).analyze()
        [(tag, attributes)] = Page(analysis._repr_html_()).tags
        self.assertEqual(tag, "iframe")
        self.assertEqual(attributes["srcdoc"], analysis.to_html())
        self.assertEqual(attributes["sandbox"], "")

    def test_a_trace_shows_its_diagnosis(self):
        trace = telltale.load(MLP)
        self.assertEqual(trace._repr_html_(), trace.analyze()._repr_html_())

    def test_names_from_a_file_are_no_markup(self):
        name = "</pre></iframe><script>alert(1)</script>\""
        events = [{"ph": "X", "cat": "cpu_op", "name": name, "pid": 1, "tid": 1, "ts": 10 * i, "dur": 9} for i in range(9)]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "trace.json")
            path.write_text(json.dumps({"traceEvents": events}))
            trace = telltale.load(path)
            for shown, tag in ((trace, "iframe"), (trace.top(), "pre")):
                self.assertEqual([each for each, _ in Page(shown._repr_html_()).tags], [tag])
            self.assertIn(html.escape(name), trace.top()._repr_html_())
            self.assertNotIn("<script>alert", trace.analyze().to_html())


def shortened(value):
    """The same with at most one element in each list."""
    if isinstance(value, dict):
        return {key: shortened(each) for key, each in value.items()}
    return [shortened(each) for each in value[:1]] if isinstance(value, list) else value


def without_one_member(value):
    """The same again and again, each time without another member, and what that was."""
    if isinstance(value, list):
        yield from (([each], name) for first in value[:1] for each, name in without_one_member(first))
    if isinstance(value, dict):
        for key in value:
            yield {other: each for other, each in value.items() if other != key}, key
            yield from ((value | {key: each}, f"{key}.{name}") for each, name in without_one_member(value[key]))


class Structs(unittest.TestCase):
    def test_they_survive_pickling_copying_and_dictionaries(self):
        analysis = telltale.load(MLP).analyze()
        for other in (pickle.loads(pickle.dumps(analysis)), copy.deepcopy(analysis), telltale.Diagnosis.from_dict(analysis.to_dict())):
            self.assertEqual(other, analysis)
            self.assertEqual(json.loads(str(other)), analysis.to_dict())
            self.assertIn("<pre>", other._repr_html_())

    def test_they_cannot_be_changed(self):
        with self.assertRaises(dataclasses.FrozenInstanceError):
            telltale.load(MLP).analyze().step.mean_ns = 1

    def test_they_ignore_members_of_later_versions(self):
        top = telltale.load(MLP).top()
        self.assertEqual(telltale.Top.from_dict(top.to_dict() | {"mood": "good"}), top)

    def test_they_read_what_an_older_version_wrote(self):
        trace = telltale.load(MLP)
        for struct in (trace.info(), trace.top(), trace.analyze(), trace.whatif(no_sync=True), telltale.load(SERVER).analyze()):
            members = 0
            for older, member in without_one_member(shortened(struct.to_dict())):
                members += 1
                with self.subTest(member):
                    self.assertEqual(wrong_types(type(struct).from_dict(older), type(struct), member), [])
            self.assertGreater(members, 8)
        nothing = telltale.Diagnosis.from_dict({})
        self.assertEqual((nothing.findings, nothing.memory, nothing.step.mean_ns, nothing.trace.path), ((), None, 0, ""))

    def test_a_short_description_says_what_a_trace_is(self):
        self.assertEqual(repr(telltale.load(RESNET)), f"<telltale.Trace '{RESNET}': 12,154 events, 86.1 ms>")


if __name__ == "__main__":
    unittest.main()
