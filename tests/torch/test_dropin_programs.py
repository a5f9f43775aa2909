#!/usr/bin/env python3
"""What PyTorch's profiler recipe and tutorials do, with only the import changed; and what files come of it."""

from __future__ import annotations

import gzip
import inspect
import json
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from typing import Any

import numpy
import telltale
import telltale.torch as profiler
import torch
import torch.profiler
from telltale.torch import ProfilerActivity, profile, record_function, tensorboard_trace_handler
from torch import nn

CPU = [ProfilerActivity.CPU]


class Network(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(nn.Conv2d(3, 6, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten())
        self.head = nn.Linear(6 * 9, 10)

    def forward(self, images: torch.Tensor) -> torch.Tensor:
        with record_function("features of the images"):
            found = self.features(images)
        return self.head(found)


def read(path: str | Path) -> Any:
    with gzip.open(path) if str(path).endswith(".gz") else open(path, "rb") as file:
        return json.load(file)


class InFolder(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))


class Recipe(InFolder):
    def setUp(self) -> None:
        super().setUp()
        torch.manual_seed(3)
        self.model, self.images = Network(), torch.randn(4, 3, 8, 8)

    def test_time_by_operator(self) -> None:
        with profile(activities=CPU, record_shapes=True) as prof, record_function("model_inference"):
            self.model(self.images)
        table = prof.key_averages().table(sort_by="cpu_time_total", row_limit=10)
        self.assertRegex(table, r"\n *model_inference ")
        self.assertRegex(table, r"\n *features of the images ")
        self.assertIn("aten::conv2d", table)
        by_shape = prof.key_averages(group_by_input_shape=True).table(sort_by="cpu_time_total", row_limit=10)
        self.assertIn("[[4, 3, 8, 8], [6, 3, 3, 3]", by_shape)

    def test_memory_by_operator(self) -> None:
        with profile(activities=CPU, profile_memory=True, record_shapes=True) as prof:
            self.model(self.images)
        table = prof.key_averages().table(sort_by="self_cpu_memory_usage", row_limit=10)
        self.assertIn("Self CPU Mem", table)
        made = {row.key: row.self_cpu_memory_usage for row in prof.key_averages()}
        self.assertEqual(made["aten::addmm"], 4 * 10 * 4)

    def test_trace_for_a_viewer(self) -> None:
        with profile(activities=CPU) as prof:
            self.model(self.images)
        path = self.folder / "trace.json"
        prof.export_chrome_trace(str(path))
        names = {event["name"] for event in read(path)["traceEvents"] if event["ph"] == "X"}
        self.assertLessEqual({"aten::conv2d", "features of the images"}, names)

    def test_stacks_for_a_flame_graph(self) -> None:
        with profile(activities=CPU, with_stack=True) as prof:
            self.model(self.images)
        self.assertTrue(prof.key_averages(group_by_stack_n=5).table(sort_by="self_cpu_time_total", row_limit=2))
        path = self.folder / "stacks.txt"
        prof.export_stacks(str(path), "self_cpu_time_total")
        lines = path.read_text().splitlines()
        self.assertTrue(lines)
        for line in lines:
            self.assertRegex(line, r"^[^ ]+(;[^ ]+)* [1-9]\d*$")
        self.assertTrue(any("test_dropin_programs.py" in line and ":_forward" in line for line in lines))
        with self.assertRaisesRegex(ValueError, "metric should be one of"):
            prof.export_stacks(str(path), "loudness")

    def test_long_jobs_with_a_schedule(self) -> None:
        seen = []

        def trace_handler(p: Any) -> None:
            seen.append((p.step_num, p.key_averages().table(sort_by="self_cpu_time_total", row_limit=10)))
            p.export_chrome_trace(str(self.folder / f"trace_{p.step_num}.json"))

        with profile(
            activities=CPU, schedule=profiler.schedule(wait=1, warmup=1, active=2), on_trace_ready=trace_handler
        ) as p:
            for _ in range(8):
                self.model(self.images)
                p.step()
        self.assertEqual([step for step, _ in seen], [4, 8])
        self.assertTrue(all("ProfilerStep*" in table for _, table in seen))
        names = {event["name"] for event in read(self.folder / "trace_8.json")["traceEvents"]}
        self.assertEqual({name for name in names if "ProfilerStep" in name}, {"ProfilerStep#6", "ProfilerStep#7"})


class Tutorials(InFolder):
    def test_training_for_tensorboard(self) -> None:
        model = Network()
        optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
        images = torch.utils.data.TensorDataset(torch.randn(16, 3, 8, 8), torch.randint(0, 10, (16,)))
        prof = profile(
            schedule=profiler.schedule(wait=1, warmup=1, active=2, repeat=1),
            on_trace_ready=tensorboard_trace_handler(str(self.folder / "log"), use_gzip=True),
            record_shapes=True,
            profile_memory=True,
            with_stack=True,
        )
        prof.start()
        for step, (inputs, classes) in enumerate(torch.utils.data.DataLoader(images, batch_size=4)):
            prof.step()
            if step >= 4:
                break
            loss = nn.functional.cross_entropy(model(inputs), classes)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        prof.stop()
        (written,) = os.listdir(self.folder / "log")
        self.assertRegex(written, rf"^.+_{os.getpid()}\.\d+\.pt\.trace\.json\.gz$")
        trace = read(self.folder / "log" / written)
        self.assertEqual((trace["record_shapes"], trace["profile_memory"], trace["with_stack"]), (1, 1, 1))
        names = {event["name"] for event in trace["traceEvents"]}
        self.assertLessEqual({"aten::conv2d", "Optimizer.step#SGD.step", "[memory]"}, names)
        self.assertTrue(any(name.startswith("enumerate(DataLoader)#") for name in names))
        self.assertTrue(any(name.startswith("nn.Module: Conv2d") for name in names))

    def test_finding_what_a_layer_costs(self) -> None:
        """A module that copies to NumPy and back, told apart by record_function and by its source line."""

        class Masked(nn.Module):
            def __init__(self) -> None:
                super().__init__()
                self.linear = nn.Linear(20, 20)

            def forward(self, batch: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
                with record_function("LINEAR PASS"):
                    out = self.linear(batch)
                with record_function("MASK INDICES"):
                    threshold = out.sum(axis=1).mean().item()
                    hits = torch.from_numpy(numpy.argwhere(mask.numpy() > threshold))
                return out[:2], hits

        model, batch, mask = Masked(), torch.rand(8, 20), torch.rand(8, 8)
        with profile(with_stack=True, profile_memory=True) as prof:
            model(batch, mask)
        table = prof.key_averages(group_by_stack_n=5).table(sort_by="self_cpu_time_total", row_limit=5)
        self.assertIn("Source Location", table)
        calls = {row.key: row.count for row in prof.key_averages()}
        self.assertEqual((calls["LINEAR PASS"], calls["MASK INDICES"]), (1, 1))


class Files(InFolder):
    def test_carry_what_the_program_says_about_itself(self) -> None:
        with profile(activities=CPU) as prof:
            prof.add_metadata("said", 'a "quoted" text\n')
            prof.add_metadata_json("listed", "[1, 2, 3]")
            torch.ones(2)
        for ending in ("json", "json.gz"):
            prof.export_chrome_trace(str(self.folder / f"trace.{ending}"))
            trace = read(self.folder / f"trace.{ending}")
            self.assertEqual((trace["said"], trace["listed"]), ('a "quoted" text\n', [1, 2, 3]))

    def test_carry_what_was_preset_in_every_cycle(self) -> None:
        prof = profile(activities=CPU)
        prof.preset_metadata_json("preset", '{"a": 1}')
        with prof:
            torch.ones(2)
        prof.export_chrome_trace(str(self.folder / "trace.json"))
        self.assertEqual(read(self.folder / "trace.json")["preset"], {"a": 1})

    def test_have_the_trace_id_that_was_asked_for(self) -> None:
        with profile(activities=CPU, custom_trace_id_callback=lambda: "run 7") as prof:
            torch.ones(2)
        self.assertEqual(prof.get_trace_id(), "run 7")
        prof.export_chrome_trace(str(self.folder / "trace.json"))
        self.assertEqual(read(self.folder / "trace.json")["trace_id"], "run 7")

    def test_are_kept_for_telltale_when_saved(self) -> None:
        with profile(activities=CPU, record_shapes=True) as prof:
            torch.ones(2, 3)
        prof.save(self.folder / "run.tell")
        expected = {row.key: row.count for row in prof.key_averages()}
        del prof
        trace = telltale.load(self.folder / "run.tell")
        self.assertEqual({row.name: row.calls for row in trace.top().rows}, expected)

    def test_are_the_users_alone_when_saved_and_as_torch_has_them_when_exported(self) -> None:
        with profile(activities=CPU) as prof:
            torch.ones(2)
        target = self.folder / "target"
        target.write_text("precious")
        (self.folder / "run.tell").symlink_to(target)
        before = os.umask(0o022)
        prof.save(self.folder / "run.tell")
        prof.export_chrome_trace(str(self.folder / "trace.json"))
        os.umask(before)
        self.assertEqual(os.lstat(self.folder / "run.tell").st_mode & 0o777, 0o600)
        self.assertEqual(target.read_text(), "precious")
        self.assertEqual(os.lstat(self.folder / "trace.json").st_mode & 0o777, 0o644)
        self.assertEqual(sorted(os.listdir(self.folder)), ["run.tell", "target", "trace.json"])

    def test_have_the_calls_that_were_recorded(self) -> None:
        with profile(activities=CPU, record_shapes=True, profile_memory=True) as prof:
            torch.ones(2, 3).mul(2).exp()
        prof.export_chrome_trace(str(self.folder / "trace.json"))
        names = [event["name"] for event in read(self.folder / "trace.json")["traceEvents"] if event["ph"] == "X"]
        for row in prof.key_averages():
            if row.key != "[memory]":
                self.assertEqual(names.count(row.key), row.count, row.key)

    def test_have_the_numbers_and_the_header_of_torchs(self) -> None:
        def numbered(kind: Any) -> tuple[dict[str, Any], list[Any]]:
            with kind(activities=CPU, record_shapes=True) as prof:
                with torch.profiler.record_function("block"):
                    torch.ones(2, 3).mul(2).exp()
                torch.zeros(2)
            path = self.folder / f"{kind.__module__}.json"
            prof.export_chrome_trace(str(path))
            trace = read(path)
            events = [
                (event["name"], event["args"].get("Record function id"), event["args"].get("Ev Idx"))
                for event in trace["traceEvents"]
                if event.get("cat") in ("cpu_op", "user_annotation")
            ]
            return trace, sorted(events, key=lambda event: event[2])

        ours, our_events = numbered(profile)
        theirs, their_events = numbered(torch.profiler.profile)
        self.assertEqual(our_events, their_events)
        self.assertEqual([event[2] for event in our_events], list(range(len(our_events))))
        self.assertEqual(ours["host_name"], theirs["host_name"])
        self.assertEqual(ours["deviceProperties"], theirs["deviceProperties"])
        self.assertLessEqual(set(theirs), set(ours))

    def test_that_cannot_be_written_are_an_error(self) -> None:
        with profile(activities=CPU) as prof:
            torch.ones(2)
        with self.assertRaisesRegex(telltale.TelltaleError, "nowhere"):
            prof.export_chrome_trace(str(self.folder / "nowhere" / "trace.json"))


class Interface(unittest.TestCase):
    def test_has_all_that_torchs_has(self) -> None:
        self.assertLessEqual(set(torch.profiler.__all__), set(profiler.__all__))
        for name in ("profile", "_KinetoProfile"):
            public = {member for member in dir(getattr(torch.profiler, name)) if not member.startswith("_")}
            self.assertLessEqual(public, set(dir(getattr(profiler, name))))

    def test_takes_all_that_torchs_takes(self) -> None:
        theirs = inspect.signature(torch.profiler.profile).parameters
        ours = inspect.signature(profile).parameters
        self.assertEqual(set(ours) - set(theirs), {"memory_limit", "keep_all_cycles"})
        self.assertLessEqual(set(theirs), set(ours))
        self.assertEqual(
            set(inspect.signature(torch.profiler.tensorboard_trace_handler).parameters),
            set(inspect.signature(tensorboard_trace_handler).parameters),
        )

    def test_uses_torchs_own_words(self) -> None:
        for name in ("ProfilerAction", "ProfilerActivity", "record_function", "schedule", "supported_activities"):
            self.assertIs(getattr(profiler, name), getattr(torch.profiler, name))
        self.assertIsInstance(profile(), torch.profiler.profile)

    @unittest.skipIf(torch.cuda.is_available(), "needs a machine without CUDA")
    def test_warns_of_a_device_that_is_not_there_as_torch_does(self) -> None:
        both = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
        with self.assertWarnsRegex(UserWarning, "CUDA is not available"), profile(activities=both) as prof:
            torch.ones(2)
        self.assertEqual({row.key: row.count for row in prof.key_averages()}["aten::ones"], 1)

    def test_stops_collecting_and_goes_on(self) -> None:
        with profile(activities=CPU) as prof:
            torch.ones(2)
            prof.toggle_collection_dynamic(False, CPU)
            torch.zeros(2)
            prof.toggle_collection_dynamic(True, CPU)
            torch.ones(2)
        calls = {row.key: row.count for row in prof.key_averages()}
        self.assertEqual(calls.get("aten::ones"), 2)
        self.assertNotIn("aten::zeros", calls)

    def test_runs_the_execution_trace_observer(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "observed.json")
            observer = profiler.ExecutionTraceObserver().register_callback(path)
            with profile(activities=CPU, execution_trace_observer=observer):
                torch.ones(2)
            self.assertIn("aten::ones", Path(path).read_text())

    def test_starts_and_stops_without_a_schedule(self) -> None:
        low = profiler._KinetoProfile(activities=CPU)
        low.start()
        torch.ones(2)
        low.stop()
        self.assertEqual({row.key: row.count for row in low.key_averages()}["aten::ones"], 1)


class WithoutAReader(unittest.TestCase):
    PROGRAM = """
import sys
sys.modules["telltale._core"] = None  # as in a build that only records
import telltale.torch as profiler, torch
with profiler.profile(profile_memory=True) as p:
    torch.ones(2, 3)
p.save(sys.argv[1])
for ask in (p.key_averages, p.events, p.analyze, lambda: p.export_chrome_trace("x.json")):
    try:
        ask()
    except profiler._profile.telltale.TelltaleError as error:
        print(error)
"""

    def test_a_training_node_records_and_saves(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.tell")
            done = subprocess.run([sys.executable, "-c", self.PROGRAM, path], capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(done.stdout.count("this build of Telltale records but cannot read"), 4, done.stdout)
            names = {row.name for row in telltale.load(path).top().rows}
            self.assertIn("aten::ones", names)


class WithoutAnAdapter(unittest.TestCase):
    PROGRAM = """
import telltale.torch as profiler, torch, sys
for _ in range(2):
    with profiler.profile(record_shapes=True) as p:
        p.add_metadata("said", "so")
        torch.ones(2, 3)
p.export_chrome_trace(sys.argv[1])
p.export_chrome_trace(sys.argv[1] + ".gz")
print(p.key_averages().table())
print(p.load().info().events)
"""

    def test_torchs_own_profiler_records_and_says_why_once(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "trace.json")
            nothing = {"CXX": "", "PATH": folder, "TELLTALE_CACHE": os.path.join(folder, "cache")}
            done = subprocess.run(
                [sys.executable, "-c", self.PROGRAM, path], env=os.environ | nothing, capture_output=True, text=True
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout, "aten::ones")
            said = re.findall("telltale: .*", done.stderr)
            self.assertEqual(len(said), 1, done.stderr)
            self.assertRegex(said[0], "torch.profiler records instead of Telltale: no C\\+\\+ compiler was found")
            self.assertEqual(read(path)["said"], read(path + ".gz")["said"])


if __name__ == "__main__":
    unittest.main()
