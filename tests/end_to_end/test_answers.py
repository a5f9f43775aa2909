"""What other programs read: the fields of the JSON answers, and numbers that Python can check by itself."""
import csv
import io
import unittest
from decimal import Decimal

from telltale import MLP, RESNET, ROOT, answer, events_of, run

TORCH = ROOT / "tests" / "golden" / "torch"
AUTOCAST = str(TORCH / "autocast_train.json.gz")
CPU_ONLY = str(TORCH / "cpu_only.json.gz")

ROW_FIELDS = (
    "name kind calls self_cpu_ns cpu_ns cpu_once_ns self_device_ns device_ns cpu_memory_bytes self_cpu_memory_bytes "
    "device_memory_bytes self_device_memory_bytes flops input_shapes stack source"
).split()


class Top(unittest.TestCase):
    def test_has_the_fields_of_its_schema(self):
        for options in ([], ["--by", "all"], ["--group", "shape"], ["--group", "stack"]):
            top = answer("top", AUTOCAST, *options)
            self.assertEqual(list(top), ["schema", "rows", "totals", "anomalies"])
            self.assertEqual(top["schema"], "telltale.top/1")
            self.assertEqual(list(top["totals"]), ["self_cpu_ns", "self_device_ns"])
            for row in top["rows"]:
                self.assertEqual(list(row), ROW_FIELDS)

    def test_shapes_and_stacks_are_there_when_asked_for(self):
        by_shape = answer("top", AUTOCAST, "--by", "operator", "--group", "shape")["rows"]
        self.assertIn([[32, 256], [512, 256], [512]], [row["input_shapes"] for row in by_shape])
        by_stack = answer("top", AUTOCAST, "--by", "operator", "--group", "stack", "--stack-depth", "2")["rows"]
        stacks = [row["stack"] for row in by_stack if row["stack"]]
        self.assertTrue(stacks)
        self.assertLessEqual(max(map(len, stacks)), 2)
        by_name = answer("top", AUTOCAST)["rows"]
        self.assertEqual({(row["input_shapes"], row["stack"]) for row in by_name}, {(None, None)})

    def test_backward_operators_have_the_stack_of_the_forward_pass(self):
        rows = answer("top", AUTOCAST, "--by", "operator", "--group", "stack")["rows"]
        backward = [row for row in rows if row["name"] == "AddmmBackward0"]
        self.assertTrue(backward)
        for row in backward:
            self.assertIn("linear", row["stack"][0])

    def test_absent_values_are_null(self):
        kernels = answer("top", MLP, "--by", "kernel")["rows"]
        for row in kernels:
            self.assertIn(row["kind"], ("kernel", "memcpy", "memset"))
            self.assertEqual((row["cpu_ns"], row["cpu_memory_bytes"], row["flops"]), (None, None, None))
            self.assertEqual(row["self_device_ns"], row["device_ns"])
        without_device = answer("top", CPU_ONLY)
        self.assertIsNone(without_device["totals"]["self_device_ns"])
        for row in without_device["rows"]:
            self.assertEqual((row["device_ns"], row["device_memory_bytes"]), (None, None))
            self.assertIsNotNone(row["cpu_memory_bytes"])

    def test_by_chooses_kinds(self):
        kinds = {
            "operator": {"operator"},
            "kernel": {"kernel", "memset", "memcpy"},
            "module": {"module"},
            "annotation": {"annotation"},
            "python": {"python"},
        }
        for word, expected in kinds.items():
            found = {row["kind"] for row in answer("top", AUTOCAST, "--by", word)["rows"]}
            self.assertTrue(found and found <= expected, f"{word}: {found}")
        default = {row["kind"] for row in answer("top", RESNET)["rows"]}
        self.assertEqual(default, {"operator", "annotation", "runtime", "driver"})

    def test_kernels_are_counted_and_timed_as_in_the_file(self):
        expected = {}
        for event in events_of(MLP):
            if event.get("cat") in ("kernel", "gpu_memcpy", "gpu_memset"):
                calls, time = expected.get(event["name"], (0, 0))
                expected[event["name"]] = (calls + 1, time + round(Decimal(str(event["dur"])) * 1000))
        rows = answer("top", MLP, "--by", "kernel")["rows"]
        self.assertEqual({row["name"]: (row["calls"], row["self_device_ns"]) for row in rows}, expected)

    def test_steps_add_up_to_the_whole(self):
        whole = answer("top", MLP, "--by", "kernel")
        first, second = (answer("top", MLP, "--by", "kernel", "--steps", step) for step in ("1", "2.."))
        parts = [first["totals"]["self_device_ns"], second["totals"]["self_device_ns"]]
        self.assertTrue(all(parts))
        self.assertLessEqual(sum(parts), whole["totals"]["self_device_ns"])
        both = answer("top", MLP, "--by", "kernel", "--steps", "1..2")
        self.assertEqual(both["totals"]["self_device_ns"], sum(parts))

    def test_once_is_never_more_than_the_total(self):
        rows = answer("top", MLP)["rows"]
        for row in rows:
            self.assertLessEqual(row["cpu_once_ns"], row["cpu_ns"])
        nested = [row["name"] for row in rows if row["cpu_once_ns"] < row["cpu_ns"]]
        self.assertIn("aten::abs", nested)  # aten::abs calls itself with an output

    def test_rows_are_sorted_and_limited_on_request_alone(self):
        rows = answer("top", RESNET, "--sort", "calls")["rows"]
        calls = [row["calls"] for row in rows]
        self.assertEqual(calls, sorted(calls, reverse=True))
        self.assertGreater(len(rows), 20)
        self.assertEqual(answer("top", RESNET, "--sort", "count", "--limit", "3")["rows"], rows[:3])
        names = [row["name"] for row in answer("top", RESNET, "--sort", "name")["rows"]]
        self.assertEqual(names, sorted(names))

    def test_csv_says_the_same_as_json(self):
        for options in (["--by", "all", "--group", "shape"], ["--by", "operator", "--group", "stack"]):
            rows = answer("top", AUTOCAST, *options)["rows"]
            text = run("top", AUTOCAST, *options, "--csv").stdout
            table = list(csv.DictReader(io.StringIO(text, newline="")))
            self.assertEqual(len(table), len(rows))
            for line, row in zip(table, rows):
                self.assertEqual(list(line), ROW_FIELDS)
                for field in ROW_FIELDS:
                    value = row[field]
                    expected = "" if value is None else ";".join(value) if field == "stack" else str(value)
                    self.assertEqual(line[field], expected)


class Info(unittest.TestCase):
    def test_has_the_fields_of_its_schema(self):
        info = answer("info", RESNET)
        fields = (
            "schema path format bytes text_bytes tool versions recorded_at events memory_events counter_values flows "
            "duration_ns memory_bytes steps devices processes tracks kinds recorded device_clock distributed anomalies"
        )
        self.assertEqual(list(info), fields.split())
        self.assertEqual(info["schema"], "telltale.info/1")
        self.assertEqual(info["path"], RESNET)
        self.assertEqual(info["format"], "kineto")
        self.assertEqual(list(info["steps"][0]), ["index", "name", "start_ns", "duration_ns"])
        self.assertEqual(list(info["tracks"][0]), "id name kind process device native_id events".split())
        for anomaly in info["anomalies"]:
            self.assertEqual(list(anomaly), ["kind", "severity", "count", "example", "description"])
            self.assertEqual(list(anomaly["example"]), ["byte_offset", "text"])

    def test_counts_what_the_file_has(self):
        events = events_of(MLP)
        info = answer("info", MLP)
        kinds = {
            "operator": "cpu_op",
            "annotation": "user_annotation",
            "runtime": "cuda_runtime",
            "kernel": "kernel",
            "memcpy": "gpu_memcpy",
            "memset": "gpu_memset",
            "device_annotation": "gpu_user_annotation",
        }
        for kind, category in kinds.items():
            expected = sum(1 for event in events if event.get("cat") == category)
            self.assertEqual(info["kinds"][kind], expected, kind)
        self.assertEqual(info["memory_events"], sum(1 for event in events if event["name"] == "[memory]"))
        self.assertEqual(sum(info["kinds"].values()), info["events"])
        self.assertEqual(sum(track["events"] for track in info["tracks"]), info["events"])

    def test_knows_steps_devices_and_what_was_recorded(self):
        info = answer("info", RESNET)
        steps = [event for event in events_of(RESNET) if event["name"].startswith("ProfilerStep#") and "dur" in event]
        steps = {event["name"]: round(Decimal(str(event["dur"])) * 1000) for event in steps if event["cat"] == "user_annotation"}
        self.assertEqual({step["name"]: step["duration_ns"] for step in info["steps"]}, steps)
        self.assertEqual([step["index"] for step in info["steps"]], [1, 2])
        self.assertEqual(info["devices"][0]["name"], "NVIDIA H200")
        self.assertEqual(info["devices"][0]["multiprocessors"], 132)
        self.assertEqual(info["versions"]["cuda_runtime"], "13.0")
        recorded = {"shapes": True, "stacks": False, "memory": True, "modules": False, "flops": True, "sampled": False}
        self.assertEqual(info["recorded"], recorded)
        self.assertIsNone(info["distributed"])

    def test_standard_input_has_no_size_on_disk(self):
        with open(RESNET, "rb") as trace:
            info = answer("info", "-", stdin=trace)
        self.assertIsNone(info["bytes"])
        self.assertEqual(info["text_bytes"], answer("info", RESNET)["text_bytes"])


if __name__ == "__main__":
    unittest.main()
