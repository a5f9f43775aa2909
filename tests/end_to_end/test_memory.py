"""What telltale memory says of files and of fixes: numbers known beforehand, and sentences about what is missing."""
import json
import tempfile
import unittest
from pathlib import Path

from telltale import RESNET, ROOT, answer, run

SNAPSHOT = ROOT / "examples" / "memory" / "made_up_training.pickle"
KIB = 1024


def leaking(steps, leak, lines=4):
    """A snapshot, as JSON, of a loop of which one line leaves so many bytes per step; others free what they make."""
    segment, entries, kept = 1 << 30, [], []
    for step in range(steps):
        held = []

        def add(action, address, size, line=None):
            frames = [] if line is None else [{"filename": "train.py", "line": line, "name": "step"}]
            entries.append({"action": action, "addr": address, "size": size, "stream": 0, "frames": frames,
                            "time_us": len(entries)})

        for line in range(lines):
            address = segment + (1 << 20) + line * 64 * KIB
            add("alloc", address, 64 * KIB, 10 + line)
            held.append(address)
        kept.append(segment + step * leak)
        add("alloc", kept[-1], leak, 20)
        for address in held:
            add("free_requested", address, 64 * KIB)
            add("free_completed", address, 64 * KIB)
    blocks = [{"address": address, "size": leak, "requested_size": leak, "state": "active_allocated", "frames": []}
              for address in kept]
    blocks.append({"address": segment + steps * leak, "size": (2 << 20) - steps * leak, "requested_size": 0,
                   "state": "inactive", "frames": []})
    return {"segments": [{"device": 0, "address": segment, "total_size": 2 << 20, "stream": 0, "segment_type": "small",
                          "blocks": blocks}], "device_traces": [entries]}


class Memory(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def written(self, name, content):
        path = self.folder / name
        path.write_bytes(content if isinstance(content, bytes) else json.dumps(content).encode())
        return str(path)

    def assert_fails(self, done, *parts):
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Atelltale: [^\n]+\n\Z")
        for part in parts:
            self.assertIn(part, done.stderr)

    def test_finds_what_a_snapshot_leaks_over_steps_that_it_infers(self):
        said = answer("memory", self.written("leak.json", leaking(12, 8 * KIB)))
        self.assertEqual([(leak["source"]["line"], leak["bytes_per_step"]) for leak in said["leaks"]], [(20, 8 * KIB)])
        self.assertTrue(any("11 steps were inferred" in remark for remark in said["remarks"]), said["remarks"])

    def test_knows_what_stands_at_a_peak_that_is_over_within_its_microsecond(self):
        snapshot = leaking(12, 8 * KIB)
        for entry in snapshot["device_traces"][0]:
            entry["time_us"] //= 20
        device = answer("memory", self.written("fast.json", snapshot))["devices"][0]
        self.assertEqual(device["peak_allocated_bytes"], (12 * 8 + 4 * 64) * KIB)
        self.assertNotIn("before", [row["name"] for row in device["categories"]])
        self.assertEqual({row["source"]["line"]: row["bytes"] for row in device["lines"]},
                         {10: 64 * KIB, 11: 64 * KIB, 12: 64 * KIB, 13: 64 * KIB, 20: 96 * KIB})

    def test_chooses_the_gpu_that_a_question_is_about(self):
        file = str(SNAPSHOT.with_name("made_up_two_devices.pickle"))
        peaks = {device["device"]: device["peak_allocated_bytes"] for device in answer("memory", file)["devices"]}
        for device, peak in peaks.items():
            said = answer("memory", file, "--settings", "max_split_size_mb:512", "--device", str(device))
            self.assertEqual(said["device"], device)
            self.assertAlmostEqual(said["before"]["peak_allocated_bytes"], peak, delta=0.01 * peak)  # simulated
        self.assert_fails(run("memory", file, "--settings", "max_split_size_mb:512", "--device", "7"), "no GPU 7")
        self.assert_fails(run("memory", file, "--settings", "max_split_size_mb:512", "--device", "x"), "--device")
        self.assert_fails(run("memory", file, "--device", "0"), "--fits")

    def test_says_nothing_of_steps_where_nothing_repeats(self):
        snapshot = leaking(12, 8 * KIB)
        for number, entry in enumerate(snapshot["device_traces"][0]):
            for frame in entry["frames"]:
                frame["line"] = number
        said = answer("memory", self.written("odd.json", snapshot))
        self.assertEqual((said["leaks"], said["remarks"]), ([], []))

    def test_says_what_stands_in_a_snapshot_without_history(self):
        segments = leaking(12, 8 * KIB)["segments"]
        for number, block in enumerate(segments[0]["blocks"]):
            block["frames"] = [{"filename": "train.py", "line": 20, "name": "step"}]
        for name, content in {"dict": {"segments": segments}, "list": segments,
                              "empty": {"segments": segments, "device_traces": [[]]}}.items():
            with self.subTest(name):
                file = self.written("moment.json", content)
                said = answer("memory", file)
                device = said["devices"][0]
                self.assertFalse(device["has_history"])
                self.assertEqual((device["peak_allocated_bytes"], device["peak_reserved_bytes"]), (96 * KIB, 2 << 20))
                self.assertEqual([(line["source"]["line"], line["bytes"]) for line in device["lines"]], [(20, 96 * KIB)])
                self.assertEqual(device["fragmentation"]["hard_bytes"], (2 << 20) - 96 * KIB)
                self.assertIn("no history", " ".join(said["remarks"]))
                self.assertIn("allocated when the snapshot is taken", run("memory", file).stdout)

    def test_is_named_by_analyze_where_nothing_else_was_recorded(self):
        said = run("analyze", SNAPSHOT).stdout
        self.assertRegex(said, r"allocated at most")
        self.assertIn("telltale memory made_up_training.pickle says who made it", said.replace("\n", " "))
        self.assertNotIn("allocator of device", said)

    def test_says_that_a_snapshot_was_cut_off(self):
        whole = SNAPSHOT.read_bytes()
        refused = 0
        for share in (0.0005, 0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.99):
            with self.subTest(share):
                done = run("memory", self.written("cut.pickle", whole[: int(share * len(whole))]))
                self.assertNotIn("no memory events", done.stderr)
                if done.returncode == 0:
                    self.assertRegex(done.stdout, "cut|truncated|lost")
                else:
                    refused += 1
                    self.assert_fails(done, "cut off")
        self.assertGreater(refused, 0)

    def test_a_fix_lowers_the_peak_by_what_its_finding_promises_or_less(self):
        found = answer("memory", RESNET)
        for finding in found["findings"]:
            if not finding["saving_bytes"]:
                continue
            with self.subTest(finding["rule"]):
                said = answer("memory", RESNET, "--without", finding["rule"])
                self.assertEqual(said["without"], [{"rule": finding["rule"], "title": finding["title"],
                                                    "fix_id": finding["fix"]["id"]}])
                before = found["devices"][0]["peak_allocated_bytes"]
                self.assertEqual(said["before"]["peak_allocated_bytes"], before)
                freed = before - said["low"]["peak_allocated_bytes"]
                self.assertGreater(freed, 0)
                self.assertLessEqual(freed, 1.1 * finding["saving_bytes"])

    def test_a_fix_decides_whether_it_fits(self):
        peak = answer("memory", RESNET)["devices"][0]["peak_allocated_bytes"]
        half = answer("memory", RESNET, "--without", "whole_batch")
        fits = f'{half["high"]["peak_reserved_bytes"]}B'
        self.assertEqual(answer("memory", RESNET, "--without", "whole_batch", "--fits", fits)["verdict"], "fits")
        between = f'{(half["low"]["peak_reserved_bytes"] + half["high"]["peak_reserved_bytes"]) // 2}B'
        self.assertEqual(answer("memory", RESNET, "--without", "whole_batch", "--fits", between)["verdict"], "may_fit")
        self.assertLess(half["low"]["peak_allocated_bytes"], peak)
        tight = f'{half["low"]["peak_allocated_bytes"] - 1}B'
        self.assertEqual(answer("memory", RESNET, "--without", "whole_batch", "--fits", tight)["verdict"], "fails")

    def test_a_size_without_a_unit_is_an_error(self):
        self.assert_fails(run("memory", SNAPSHOT, "--fits", "24"), "--fits 24 has no unit: write --fits 24GB")
        self.assertEqual(answer("memory", SNAPSHOT, "--fits", "24GB"),
                         answer("memory", SNAPSHOT, "--fits", f"{24 << 30}B"))

    def test_settings_that_are_not_simulated_are_an_error(self):
        self.assert_fails(run("memory", SNAPSHOT, "--settings", "nonsense:1"), "the simulation knows nothing of nonsense")
        self.assert_fails(run("memory", SNAPSHOT, "--settings", ""), "no setting is named")
        named = run("memory", SNAPSHOT, "--settings", "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True").stdout
        self.assertIn("With expandable_segments:True", named)

    def test_a_batch_is_told_in_times_the_recorded_one(self):
        self.assertIn("With 2 times the recorded batch", run("memory", SNAPSHOT, "--batch", "2").stdout)

    def test_a_rule_that_is_named_twice_is_fixed_once(self):
        once = answer("memory", RESNET, "--without", "whole_batch")
        self.assertEqual(answer("memory", RESNET, "--without", "whole_batch", "whole_batch"), once)

    def test_a_rule_that_found_nothing_or_does_not_exist_is_an_error(self):
        self.assert_fails(run("memory", RESNET, "--without", "whole_logits"), "whole_logits found nothing")
        self.assert_fails(run("memory", RESNET, "--without", "host_sync"), "is no rule about memory", "whole_batch")


if __name__ == "__main__":
    unittest.main()
