"""What telltale memory prints: Markdown and the page say the same as --json."""
import bisect
import json
import pickle
import re
import tempfile
import unittest
from html.parser import HTMLParser
from pathlib import Path

from telltale import RESNET, ROOT, TRACES, answer, run

SNAPSHOTS = sorted(str(path) for path in (ROOT / "examples" / "memory").glob("*.pickle"))
FILES = [RESNET, str(TRACES / "small_train.json.gz"), str(TRACES / "elementwise_chain.json.gz"), *SNAPSHOTS]
# As docs/json.md explains them; the page and Markdown have these words for the names of --json.
WORDS = {
    "parameters": "parameters", "gradients": "gradients", "optimizer_state": "optimizer state",
    "activations": "activations kept for backward", "temporaries": "temporaries", "inputs": "inputs",
    "communication": "communication buffers", "workspace": "workspace of libraries", "kv_cache": "KV cache",
    "cuda_graphs": "pools of CUDA graphs", "outside_pytorch": "outside PyTorch", "before": "from before the recording",
    "left_behind": "left behind by earlier steps", "other": "other",
}
HARDLY_ANY = 1024 * 1024  # of the host beside a device: not shown


def in_words(count):
    """Bytes as people read them: three digits, in the largest unit of which there is one."""
    size, unit = float(count), "B"
    for unit in ("B", "KiB", "MiB", "GiB", "TiB"):
        if size / 1024 < 0.9995 or unit == "TiB":
            break
        size /= 1024
    if unit == "B":
        return f"{count} B"
    return f"{size:.{2 if size < 9.995 else 1 if size < 99.95 else 0}f} {unit}"


def shown_devices(said):
    shown = []
    for device in said["devices"]:
        if device["device"] >= 0 or device["peak_allocated_bytes"] >= HARDLY_ANY or not shown:
            shown.append(device)
    return shown


def tables_in(markdown):
    """The rows of each table, without its head."""
    tables, rows = [], None
    for line in markdown.splitlines():
        if not line.startswith("|"):
            rows = None
            continue
        cells = [cell.strip().replace("\\", "") for cell in line.strip("|").split("|")]
        if rows is None:
            rows = []
            tables.append((cells, rows))
        elif not set(line) <= set("|-: "):
            rows.append(cells)
    return tables


class Tables(HTMLParser):
    """Tables, titles of drawings, and all that is amiss in a page."""

    EMPTY = {"meta", "br", "link", "input"}

    def __init__(self, text):
        super().__init__()
        self.open, self.wrong, self.tables, self.titles, self.sections, self.words = [], [], [], [], [], []
        self.policy = None
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        if tag == "section":
            self.sections.append(named.get("id"))
        if tag == "meta" and named.get("http-equiv") == "Content-Security-Policy":
            self.policy = named["content"]
        if tag == "script" or any(name.startswith("on") or name == "src" for name in named):
            self.wrong.append((tag, attributes))
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("th", "td"):
            self.tables[-1][-1].append("")
        if tag == "title":
            self.titles.append("")
        if tag not in self.EMPTY:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.wrong.append(("/" + tag, self.getpos()))

    def handle_data(self, data):
        self.words.append(data)
        if "title" in self.open:
            self.titles[-1] += data
        elif "td" in self.open or ("th" in self.open and "table" in self.open):
            self.tables[-1][-1][-1] += data


class Memory(unittest.TestCase):
    def check_categories(self, rows, device):
        expected = [[WORDS[row["name"]], in_words(row["bytes"])] for row in device["categories"]]
        self.assertEqual([row[:2] for row in rows], expected)
        for row, category in zip(rows, device["categories"]):
            if category["name"] == "outside_pytorch":
                self.assertEqual(row[2], "–")
            else:
                share = 100 * category["bytes"] / device["peak_allocated_bytes"]
                self.assertAlmostEqual(float(row[2].removesuffix("%")), share, delta=0.06 if share < 9.95 else 0.6)

    def check_peak(self, text, device):
        self.assertIn(f"{in_words(device['peak_allocated_bytes'])} allocated at most", text)
        if device["peak_reserved_bytes"]:
            self.assertIn(f"PyTorch reserves up to {in_words(device['peak_reserved_bytes'])}", text)
        lost = device["fragmentation"]
        if lost and sum(lost[f"{cause}_bytes"] for cause in ("hard", "soft", "stream", "rounding")):
            self.assertIn(f"{in_words(lost['hard_bytes'])} beside live blocks", text)
            self.assertIn(f"{in_words(lost['soft_bytes'])} in free segments that are too small", text)
            self.assertIn(f"{in_words(lost['stream_bytes'])} in those of other streams", text)
            self.assertIn(f"{in_words(lost['rounding_bytes'])} by rounding", text)

    def test_what_was_asked_for_over_time_is_what_the_snapshot_says_backwards(self):
        for file in SNAPSHOTS:
            with open(file, "rb") as opened:
                snapshot = pickle.load(opened)
            start = min(log[0]["time_us"] for log in snapshot["device_traces"] if log)
            for device in answer("memory", file)["devices"]:
                blocks = [block for segment in snapshot["segments"] for block in segment["blocks"]
                          if segment["device"] == device["device"] and block["state"] != "inactive"]
                asked_for = sum(block["requested_size"] for block in blocks)
                log, latest, times_of_log = snapshot["device_traces"][device["device"]], 0, []
                for entry in log:
                    latest = max(latest + 1, entry["time_us"] * 1000)  # those of one microsecond, one after the other
                    times_of_log.append(latest - start * 1000)
                after = {}  # by time
                for time, entry in zip(reversed(times_of_log), reversed(log), strict=True):
                    after[time] = asked_for
                    change = {"alloc": entry["size"], "free_completed": -entry["size"]}
                    asked_for -= change.get(entry["action"], 0)
                times = sorted(after)
                expected = [after[times[bisect.bisect(times, time) - 1]] for time, _, _ in device["curve"]]
                with self.subTest(Path(file).name, device=device["device"]):
                    self.assertEqual(device["requested_over_time"], expected)
                    self.assertEqual(device["device_used_over_time"], [])

    def test_that_memory_ran_out_comes_first_in_every_form(self):
        file = SNAPSHOTS[SNAPSHOTS.index(str(ROOT / "examples" / "memory" / "made_up_training.pickle"))]
        first = answer("memory", file)["remarks"][0]
        self.assertTrue(first.startswith("Memory ran out on GPU 0"), first)
        markdown = run("memory", file, "--markdown").stdout.replace("\\", "")
        self.assertEqual(markdown.splitlines()[2], f"**{first}**")
        self.assertEqual(markdown.count(first), 1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            run("memory", file, "--html", str(path))
            words = " ".join("".join(Tables(path.read_text(encoding="utf-8")).words).split())
        self.assertEqual(words.count(first), 1)
        self.assertLess(words.index(first), words.index("Who made what"))
        self.assertLess(words.index(first), words.index("The peak is at"))

    def test_markdown_has_the_numbers_of_json(self):
        for file in FILES:
            with self.subTest(Path(file).name):
                said, markdown = answer("memory", file), run("memory", file, "--markdown").stdout
                self.assertTrue(markdown.startswith(f"### {Path(file).name}".replace("_", "\\_")), markdown[:100])
                tables = tables_in(markdown)
                of_categories = [rows for head, rows in tables if head[0] == "at the peak"]
                of_lines = [rows for head, rows in tables if head[0] == "made by line"]
                of_tensors = [rows for head, rows in tables if head[0] == "largest"]
                devices = shown_devices(said)
                self.assertEqual(len(of_categories), len(devices))
                for rows, device in zip(of_categories, devices):
                    self.check_categories(rows, device)
                    self.check_peak(markdown, device)
                with_lines = [device for device in devices if any(row["source"] for row in device["lines"])]
                self.assertEqual([[(row[1], row[3]) for row in rows] for rows in of_lines],
                                 [[(in_words(row["bytes"]), WORDS[row["category"]]) for row in device["lines"][:10]] for device in with_lines])
                self.assertEqual([[(row[1], row[2]) for row in rows] for rows in of_tensors],
                                 [[(in_words(row["bytes"]), WORDS[row["category"]]) for row in device["tensors"]]
                                  for device in devices if device["tensors"]])
                findings = [rows for head, rows in tables if head[1:2] == ["finding"]]
                self.assertEqual([row[0] for row in sum(findings, [])], [str(i + 1) for i in range(len(said["findings"]))])
                for row, finding in zip(sum(findings, []), said["findings"]):
                    self.assertEqual("–" not in row[2], finding["saving_bytes"] > 0)
                    if finding["saving_bytes"] > 0:
                        self.assertIn(in_words(finding["saving_bytes"]), row[2])
                self.assertEqual(markdown.count(" behind in every step"), min(10, len(said["leaks"])))

    def test_the_page_has_the_numbers_of_json_and_runs_no_script(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "page.html")
            for file in FILES:
                with self.subTest(Path(file).name):
                    done = run("memory", file, "--html", str(path), "--json")
                    self.assertEqual((done.returncode, done.stderr), (0, f"telltale: the page is in {path}\n"))
                    said, text = json.loads(done.stdout), path.read_text(encoding="utf-8")
                    self.assertLess(len(text.encode()), 2_000_000)
                    page = Tables(text)
                    self.assertEqual((page.wrong, page.open), ([], []))
                    self.assertEqual(page.policy, "default-src 'none'; style-src 'unsafe-inline'")
                    words = " ".join("".join(page.words).split())
                    devices = shown_devices(said)
                    of_categories = [rows[1:] for rows in page.tables if rows[0][0] == "for"]
                    self.assertEqual(len(of_categories), len(devices))
                    for rows, device in zip(of_categories, devices):
                        self.check_categories(rows, device)
                        self.check_peak(words, device)
                        self.assertEqual([row[3] for row in rows], [f"{row['blocks']:,}" if row["blocks"] else "–" for row in device["categories"]])
                    of_lines = [rows[1:] for rows in page.tables if rows[0][0] == "made by line"]
                    with_lines = [device for device in devices if any(row["source"] for row in device["lines"])]
                    self.assertEqual([[row[1] for row in rows] for rows in of_lines],
                                     [[in_words(row["bytes"]) for row in device["lines"][:20]] for device in with_lines])
                    of_tensors = [rows[1:] for rows in page.tables if rows[0][0] == "the largest"]
                    self.assertEqual([[(row[1], row[2]) for row in rows] for rows in of_tensors],
                                     [[(in_words(row["bytes"]), WORDS[row["category"]]) for row in device["tensors"]]
                                      for device in devices if device["tensors"]])
                    for finding in said["findings"]:
                        self.assertIn(" ".join(finding["title"].split()), words)
                        if finding["saving_bytes"] > 0:
                            self.assertIn(in_words(finding["saving_bytes"]), words)
                    self.assertEqual("findings" in page.sections, bool(said["findings"]))
                    self.assertEqual("leaks" in page.sections, bool(said["leaks"]))
                    self.check_pictures(page, said, devices)

    def check_pictures(self, page, said, devices):
        """Under the pointer stands what --json says of that time; segments are there where the allocator's log is."""
        times = {}
        for title in page.titles:
            if found := re.match(r"(\S+ \S+): (\S+ \S+) allocated\n?(.*)", title, re.S):
                times.setdefault(found.group(2), []).append(found.group(3))
        for device in devices:
            amounts = {in_words(allocated) for _, allocated, _ in device["curve"]}
            self.assertTrue(amounts & times.keys(), f"{amounts} {times.keys()}")
            self.assertTrue(times.keys() <= {in_words(allocated) for each in devices for _, allocated, _ in each["curve"]})
        maps = [section for section in page.sections if section and section.endswith("-map")]
        self.assertEqual(len(maps), sum(device["fragmentation"] is not None for device in devices))

    def test_collapsed_stacks_add_up_to_the_peaks(self):
        for file in FILES:
            with self.subTest(Path(file).name):
                devices = shown_devices(answer("memory", file))
                done = run("memory", file, "--collapsed")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                stacks = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
                self.assertEqual(sum(map(int, stacks.values())), sum(device["peak_allocated_bytes"] for device in devices))
                before = sum(row["bytes"] for device in devices for row in device["categories"] if row["name"] == "before")
                self.assertEqual(sum(int(size) for stack, size in stacks.items() if stack.endswith("from before the recording")), before)
                for device in devices:
                    for line in device["lines"]:
                        if line["source"] and not device["operators"][0]["name"]:  # of a snapshot, whose stacks are all there is
                            name = Path(line["source"]["file"]).name
                            self.assertTrue(any(f"{name}({line['source']['line']})" in stack for stack in stacks), line)

    def test_hostile_names_stay_text(self):
        evil = "</title><img src=x onerror=alert(1)>|`# *"
        events = [{"ph": "X", "cat": "cpu_op", "name": evil, "pid": 1, "tid": 1, "ts": 0, "dur": 100},
                  {"ph": "i", "cat": "cpu_instant_event", "name": "[memory]", "pid": 1, "tid": 1, "ts": 50, "s": "t",
                   "args": {"Device Type": 1, "Device Id": 0, "Addr": 1, "Bytes": 1 << 30, "Total Allocated": 1 << 30, "Total Reserved": 1 << 30}}]
        with tempfile.TemporaryDirectory() as folder:
            trace, page = Path(folder, "<b>.json"), Path(folder, "page.html")
            trace.write_text(json.dumps({"traceEvents": events}))
            done = run("memory", str(trace), "--html", str(page))
            self.assertEqual(done.returncode, 0, done.stderr)
            text = page.read_text(encoding="utf-8")
            self.assertIn("&lt;img src=x", text)
            self.assertEqual(Tables(text).wrong, [])
            self.assertNotIn("<img", run("memory", str(trace), "--markdown").stdout)


if __name__ == "__main__":
    unittest.main()
