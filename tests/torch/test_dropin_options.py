#!/usr/bin/env python3
"""What torch.profiler's options, quick annotations and execution traces give, by torch.profiler and by telltale.torch."""

from __future__ import annotations

import gc
import json
import logging
import re
import tempfile
import unittest
import warnings
from pathlib import Path
from typing import Any

import telltale.torch
import torch
import torch.profiler
from torch._C._profiler import ActiveProfilerType, _ExperimentalConfig, _RecordFunctionFast

CPU = [torch.profiler.ProfilerActivity.CPU]
NONE, KINETO = ActiveProfilerType.NONE, ActiveProfilerType.KINETO
active_type = torch._C._autograd._profiler_type


class BySide(unittest.TestCase):
    """Runs the same thing under both."""

    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.x = torch.rand(4, 4)
        torch.add(self.x, self.x)  # what the first call alone does

    def recorded(self, profiler: Any, work: Any, options: dict[str, Any] | None = None, **wanted: Any) -> Any:
        if options is not None:
            wanted["experimental_config"] = _ExperimentalConfig(**options)
        with profiler.profile(activities=CPU, **wanted) as profile:
            work()
        return profile

    def compare(self, work: Any, ask: Any, options: dict[str, Any] | None = None, **wanted: Any) -> Any:
        theirs = ask(self.recorded(torch.profiler, work, options, **wanted))
        self.assertEqual(theirs, ask(self.recorded(telltale.torch, work, options, **wanted)))
        return theirs

    def exported(self, profile: Any) -> list[dict[str, Any]]:
        path = self.folder / "exported.json"
        profile.export_chrome_trace(str(path))
        events: list[dict[str, Any]] = json.loads(path.read_text())["traceEvents"]
        return events


class QuickAnnotations(BySide):
    def annotate(self, *arguments: Any) -> None:
        with _RecordFunctionFast("quick", *arguments):
            torch.add(self.x, self.x)

    def test_stand_where_they_stand_in_torch(self) -> None:
        def nesting(profile: Any) -> list[Any]:
            return [(event.name, event.cpu_parent and event.cpu_parent.name) for event in profile.events()]

        self.assertEqual(self.compare(self.annotate, nesting), [("quick", None), ("aten::add", "quick")])

    def test_have_shapes_and_arguments_by_name(self) -> None:
        given = {"stream": 3, "grid": "(1, 2)", "is_warm": True, "share": 0.5, "kinds": ["a", "b"], "none": []}

        def told(profile: Any) -> list[Any]:
            return [(event.name, event.input_shapes, event.kwinputs) for event in profile.events()]

        def work() -> None:
            self.annotate([self.x, self.x], given)

        self.assertIn(
            ("quick", [[4, 4], [4, 4]], given), self.compare(work, told, record_shapes=True)
        )
        self.assertIn(("quick", [], {}), self.compare(work, told))

    def test_export_the_arguments_that_torch_exports(self) -> None:
        given = {"stream": "no number", "grid": [1, 2], "quoted": 'a "b"', "slashed": "c\\d", "kinds": ["e"], "count": 7}

        def exported(profile: Any) -> dict[str, Any]:
            (event,) = (event for event in self.exported(profile) if event["name"] == "quick")
            return {name: value for name, value in event["args"].items() if name in given and name != "slashed"}

        def work() -> None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's, of values that it does not tell
                self.annotate([self.x], given)

        theirs = self.compare(work, exported, record_shapes=True)
        self.assertEqual(theirs, {"quoted": "None", "kinds": ["e"], "count": 7})

    def test_of_a_users_scope_are_annotations(self) -> None:
        def annotations(profile: Any) -> list[str]:
            return [event["name"] for event in self.exported(profile) if event.get("cat") == "user_annotation"]

        def work() -> None:
            self.annotate([], {"scope": "user_scope"})

        self.assertEqual(self.compare(work, annotations, record_shapes=True), ["quick"])


class ProfilerAtWork(BySide):
    def test_is_what_torchs_own_code_sees_meanwhile(self) -> None:
        seen: list[Any] = []
        self.recorded(telltale.torch, lambda: seen.append(active_type()))
        self.assertEqual([*seen, active_type()], [KINETO, NONE])

    def test_is_gone_after_an_exception(self) -> None:
        with self.assertRaises(ZeroDivisionError):
            self.recorded(telltale.torch, lambda: 1 / 0)
        self.assertEqual(active_type(), NONE)
        self.assertIn("aten::add", {event.name for event in self.of_torch().events()})

    def test_is_not_ours_where_torchs_is_already(self) -> None:
        rows: list[Any] = []

        def work() -> None:
            rows.extend(self.recorded(telltale.torch, lambda: torch.mul(self.x, self.x)).key_averages())
            torch.add(self.x, self.x)

        outer = self.recorded(torch.profiler, work)
        self.assertIn("aten::mul", {row.key for row in rows})
        self.assertLessEqual({"aten::mul", "aten::add"}, {event.name for event in outer.events()})

    def of_torch(self) -> Any:
        return self.recorded(torch.profiler, lambda: torch.add(self.x, self.x))


class Overloads(BySide):
    def work(self) -> None:
        torch.add(self.x, self.x)
        torch.add(self.x, self.x, out=self.x)
        self.x.sum(0)

    def test_are_told_when_asked_for(self) -> None:
        def names(profile: Any) -> list[Any]:
            return [(event.name, event.overload_name) for event in profile.events()]

        theirs = self.compare(self.work, names, {"capture_overload_names": True})
        self.assertLessEqual({("aten::add", "Tensor"), ("aten::add", "out")}, set(theirs))
        self.assertIn(("aten::add", ""), self.compare(self.work, names))

    def test_make_rows_of_their_own(self) -> None:
        def rows(profile: Any) -> list[Any]:
            averages = profile.key_averages(group_by_overload_name=True)
            self.assertIn("Overload Name", averages.table())
            return sorted((row.key, row.overload_name, row.count) for row in averages)

        self.compare(self.work, rows, {"capture_overload_names": True})

    def test_are_part_of_exported_names(self) -> None:
        def names(profile: Any) -> list[str]:
            return [event["name"] for event in self.exported(profile) if event.get("cat") == "cpu_op"]

        self.assertIn("aten::add.Tensor", self.compare(self.work, names, {"capture_overload_names": True}))


class Exports(BySide):
    def test_end_with_the_window_that_was_recorded(self) -> None:
        def marks(profile: Any) -> list[Any]:
            return [[event.get(what) for what in ("ph", "name", "pid", "tid")] for event in self.exported(profile)[-4:]]

        self.compare(lambda: torch.add(self.x, self.x), marks)
        *events, window, _, start, end = self.exported(
            self.recorded(telltale.torch, lambda: torch.add(self.x, self.x), with_stack=True, profile_memory=True)
        )
        timed = [event for event in events if "ts" in event]
        self.assertLessEqual(start["ts"], window["ts"])
        self.assertLessEqual(window["ts"], min(event["ts"] for event in timed))
        self.assertLessEqual(max(event["ts"] + event.get("dur", 0) for event in timed), end["ts"])

    def test_name_collections_as_torch_does_when_asked(self) -> None:
        def collections(profile: Any) -> set[str]:
            return {event["name"] for event in self.exported(profile) if event["name"] == "Python GC"}

        asked = {"record_python_gc_info": True}
        self.assertEqual(self.compare(gc.collect, collections, asked, with_stack=True), {"Python GC"})
        self.assertEqual(self.compare(gc.collect, collections, with_stack=True), set())

    def test_have_steps_that_nest_with_calls_when_asked(self) -> None:
        def crossings(options: dict[str, Any]) -> int:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # torch's, of a schedule without a warm-up
                steps = torch.profiler.schedule(wait=0, warmup=0, active=3, repeat=1)
            configuration = _ExperimentalConfig(**options)
            with telltale.torch.profile(
                activities=CPU, experimental_config=configuration, schedule=steps, with_stack=True
            ) as profile:
                for _ in range(3):
                    self.call_with_a_step(profile)
            events = [event for event in self.exported(profile) if event["ph"] == "X"]
            marks = [event for event in events if event["name"].startswith("ProfilerStep#")]
            calls = [event for event in events if "call_with_a_step" in event["name"]]
            self.assertEqual((len(marks), len(calls)), (3, 3))
            return sum(cross(mark, call) for mark in marks for call in calls)

        self.assertGreater(crossings({}), 0)
        self.assertEqual(crossings({"adjust_profiler_step": True}), 0)

    def call_with_a_step(self, profile: Any) -> None:
        torch.add(self.x, self.x)
        profile.step()

    def test_number_operators_as_an_execution_trace_does(self) -> None:
        observed = self.folder / "observed.json"
        observer = torch.profiler.ExecutionTraceObserver().register_callback(str(observed))

        def work() -> None:
            with torch.profiler.record_function("part"):
                torch.add(self.x, self.x)

        profile = self.recorded(telltale.torch, work, execution_trace_observer=observer)
        nodes = json.loads(observed.read_text())["nodes"]
        theirs = {
            attribute["value"]: node["name"]
            for node in nodes
            for attribute in node["attrs"]
            if attribute["name"] == "rf_id" and not node["name"].startswith("[pytorch")
        }
        events = [event for event in self.exported(profile) if event.get("cat") in ("cpu_op", "user_annotation")]
        self.assertEqual(theirs, {event["args"]["Record function id"]: event["name"] for event in events})
        self.assertEqual(sorted(theirs.values()), ["aten::add", "part"])


def cross(a: dict[str, Any], b: dict[str, Any]) -> bool:
    """One begins inside of the other and ends outside of it."""
    first, second = sorted((a, b), key=lambda event: event["ts"])
    first_end, second_end = (event["ts"] + event["dur"] for event in (first, second))
    return bool(first["ts"] < second["ts"] < first_end < second_end)


def called_from_two_lines(x: torch.Tensor) -> torch.Tensor:
    first = torch.relu(x)
    return torch.sigmoid(first)


class Stacks(BySide):
    """Frames show the line that was executing, not the one at which their function begins."""

    def setUp(self) -> None:
        super().setUp()
        self.first_line = called_from_two_lines.__code__.co_firstlineno
        self.profile = self.recorded(telltale.torch, lambda: called_from_two_lines(self.x), with_stack=True)

    def lines(self, stack: list[str]) -> list[int]:
        return [int(match[1]) for frame in stack if (match := re.search(r"\((\d+)\): called_from_two_lines$", frame))]

    def test_of_events(self) -> None:
        lines = {event.name: self.lines(event.stack) for event in self.profile.events()}
        self.assertEqual(lines["aten::relu"], [self.first_line + 1])
        self.assertEqual(lines["aten::clamp_min"], [self.first_line + 1])  # inside of the former
        self.assertEqual(lines["aten::sigmoid"], [self.first_line + 2])

    def test_of_rows_and_of_flame_graphs(self) -> None:
        rows = {row.key: self.lines(row.stack) for row in self.profile.key_averages(group_by_stack_n=5)}
        self.assertEqual(rows["aten::sigmoid"], [self.first_line + 2])
        path = self.folder / "stacks.txt"
        self.profile.export_stacks(str(path), "self_cpu_time_total")
        shown = set(re.findall(r"\((\d+)\):_called_from_two_lines", path.read_text()))
        self.assertEqual(shown, {str(self.first_line + 1), str(self.first_line + 2)})


class Options(BySide):
    def test_events_have_metadata_when_asked(self) -> None:
        def metadata(profile: Any) -> list[Any]:
            return [(event.name, event._metadata_json or "") for event in profile.events()]

        theirs = self.compare(
            lambda: torch.add(self.x, self.x), metadata, {"expose_kineto_event_metadata": True}
        )
        self.assertEqual(theirs, [("aten::add", '"Ev Idx": 0')])
        self.compare(lambda: torch.add(self.x, self.x), metadata)

    def test_events_can_be_found_again_in_what_is_exported(self) -> None:
        def work() -> None:
            with torch.profiler.record_function("part"):
                torch.add(self.x, self.x)

        for profiler in (torch.profiler, telltale.torch):
            with self.subTest(profiler=profiler.__name__):
                profile = self.recorded(profiler, work)
                listed = [(event.name, event.activity_type, event.external_id) for event in profile.events()]
                exported = [
                    (event["name"], event["cat"], event["args"]["External id"])
                    for event in self.exported(profile)
                    if event.get("cat") in ("cpu_op", "user_annotation")
                ]
                self.assertEqual(listed, exported)
                self.assertEqual([name for name, _, _ in listed], ["part", "aten::add"])
                self.assertEqual(len({number for _, _, number in listed}), 2)

    def test_arrows_from_forward_to_backward_are_those_that_are_exported(self) -> None:
        weight = torch.rand(4, 4, requires_grad=True)

        def arrows(profile: Any) -> Any:
            events = profile.events()
            listed = {
                start: {event.flow_id for event in events if event.flow_type == 1 and event.flow_start == start}
                for start in (True, False)
            }
            exported = [event for event in self.exported(profile) if event.get("cat") == "fwdbwd"]
            for start, phase in ((True, "s"), (False, "f")):
                self.assertEqual(listed[start], {event["id"] for event in exported if event["ph"] == phase})
            ends = {event.flow_id: event.name for event in events if event.flow_type == 1 and not event.flow_start}
            return [
                (event.name, ends[event.flow_id]) for event in events if event.flow_type == 1 and event.flow_start
            ]

        found = self.compare(lambda: torch.relu(self.x @ weight).sum().backward(), arrows)
        self.assertIn("aten::relu", {forward for forward, _ in found})

    def test_activities_that_are_chosen_by_name_are_left_to_torch(self) -> None:
        chosen: Any = [{torch.profiler.ProfilerActivity.CPU: ["CPU_OP"]}]
        with telltale.torch.profile(activities=chosen) as profile, torch.profiler.record_function("left out"):
            torch.add(self.x, self.x)
        listed = {event["name"] for event in self.exported(profile)}
        self.assertEqual(listed & {"aten::add", "left out"}, {"aten::add"})
        chosen = [{torch.profiler.ProfilerActivity.CPU: ["NO_SUCH_THING"]}]
        with self.assertRaises(RuntimeError), telltale.torch.profile(activities=chosen):
            pass

    def test_a_timeout_gives_what_there_is_and_says_so(self) -> None:
        for timeout, expected in ((0.0, []), (3600.0, ["aten::add"])):
            with self.subTest(timeout=timeout):
                profile = self.recorded(
                    telltale.torch, lambda: torch.add(self.x, self.x), post_processing_timeout_s=timeout
                )
                with self.assertNoLogs("torch.autograd.profiler", logging.WARNING) if expected else self.assertLogs(
                    "torch.autograd.profiler", logging.WARNING
                ):
                    self.assertEqual([event.name for event in profile.events()], expected)


if __name__ == "__main__":
    unittest.main()
