"""Names in traces, and of files, may hold anything: nothing of it runs in a page, commands a terminal, or is read by
others who share the machine."""
import gzip
import json
import re
import tempfile
import unittest
from pathlib import Path

from telltale import TRACES, run
from test_terminal import on_terminal

# Sets a terminal's title, is a one-byte CSI, ends lines, runs as a script, ends what a page may have open, and turns
# the order of letters around.
HOSTILE = "\x1b]0;pwned\x07\x9b31m\r\n<script>alert(1)</script><img src=x onerror=alert(2)>\"'`]]></style></title>\u202e"
# Our own colors are such sequences, too.
COLOR = re.compile("\x1b\\[[0-9;]*m")
# A terminal turns \n into \r\n.
COMMANDS = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]|\r(?!\n)")


class HostileNames(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = Path(scratch.name)
        self.trace = self.hostile("small_train")  # of which every view has something to show

    def hostile(self, name):
        with gzip.open(TRACES / f"{name}.json.gz") as file:
            trace = json.load(file)
        for event in trace["traceEvents"]:
            if event.get("ph") != "M" and not event["name"].startswith("ProfilerStep"):
                event["name"] = HOSTILE + event["name"] + HOSTILE
            for key, value in event.get("args", {}).items():
                if isinstance(value, str):
                    event["args"][key] = value + HOSTILE
        for device in trace.get("deviceProperties", []):
            device["name"] = HOSTILE + device["name"]
        path = self.folder / f"{HOSTILE.replace('/', '')}{name}.json"
        path.write_text(json.dumps(trace), encoding="utf-8")
        return str(path)

    VIEWS = (("info",), ("top",), ("top", "--full-names"), ("top", "--by", "all"), ("top", "--group", "stack"),
             ("top", "--group", "shape"), ("analyze",), ("whatif", "--remove", "kernel:*"))

    def test_no_view_tells_a_terminal_what_to_do(self):
        seen = 0
        for view in self.VIEWS:
            text = COLOR.sub("", on_terminal(*view, self.trace))
            self.assertEqual(COMMANDS.findall(text), [], view)
            seen += text.count("script")
        self.assertGreater(seen, 20)

    def test_nor_do_data_when_they_are_shown_on_one(self):
        for view in (("info", "--json"), ("top", "--json"), ("top", "--csv"), ("analyze", "--json"),
                     ("analyze", "--markdown"), ("whatif", "--no-sync", "--json")):
            self.assertEqual(COMMANDS.findall(on_terminal(*view, self.trace)), [], view)

    def test_programs_get_data_as_they_are(self):
        names = [row["name"] for row in json.loads(run("top", self.trace, "--by", "kernel", "--json").stdout)["rows"]]
        self.assertTrue(names)
        self.assertTrue(all(name.startswith(HOSTILE) for name in names), names)

    def test_a_page_has_no_script_of_a_trace(self):
        page = self.folder / "page.html"
        self.assertEqual(run("analyze", self.trace, "--html", str(page)).returncode, 0)
        text = page.read_text(encoding="utf-8")
        self.assertIn("&lt;script&gt;alert(1)", text)
        for tag in ("<script>alert", "<img src=x", "]]></style>", "\x1b", "\x9b", "\u202e"):
            self.assertNotIn(tag, text)

    def test_markdown_has_no_markup_of_a_trace(self):
        text = run("analyze", self.trace, "--markdown").stdout
        self.assertIn("&lt;script&gt;", text)
        self.assertNotIn("<script>", text)
        self.assertNotIn("<img", text)

    def test_what_is_said_is_one_line_whatever_a_file_is_called(self):
        odd = str(self.folder / "o\x1b]0;pwned\x07\nd.json")
        done = run("info", odd)
        self.assertEqual(done.returncode, 2)
        self.assertRegex(done.stderr, r"^telltale: [^\x00-\x1f\x7f]*: there is no such file\n$")

    def test_traces_are_not_converted_onto_a_terminal(self):
        with self.assertRaises(AssertionError):  # of the exit code
            on_terminal("convert", self.trace, "-o", "-", "--format", "csv")


class Others(unittest.TestCase):
    """Who may read what was written."""

    def test_traces_are_the_users_alone_and_pages_are_to_be_shown(self):
        with tempfile.TemporaryDirectory() as folder:
            trace, page = Path(folder) / "a.json.gz", Path(folder) / "a.html"
            source = str(TRACES / "small_train.json.gz")
            for words in (("convert", source, "-o", trace), ("analyze", source, "--html", page)):
                done = run(*map(str, words), umask=0o022)
                self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(trace.stat().st_mode & 0o777, 0o600)
            self.assertEqual(page.stat().st_mode & 0o777, 0o644)


if __name__ == "__main__":
    unittest.main()
