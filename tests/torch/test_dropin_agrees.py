#!/usr/bin/env python3
"""telltale.torch against torch.profiler: the same step recorded by both in one process must give the same rows."""

from __future__ import annotations

import re
import unittest
from collections import Counter
from typing import Any

import telltale.torch
import torch.profiler
from dropin_models import models

BOTH = {"torch": torch.profiler, "ours": telltale.torch}


def recorded(profiler: Any, step: Any, **wanted: Any) -> Any:
    with profiler.profile(activities=[profiler.ProfilerActivity.CPU], **wanted) as profile:
        step()
    return profile


def path(event: Any) -> tuple[str, ...]:
    names = []
    while event is not None:
        names.append(event.name)
        event = event.cpu_parent
    return tuple(reversed(names))


def nearly(values: list[Any] | None) -> list[Any]:
    """With numbers to the nine digits that a recording keeps of them."""
    return [float(f"{value:.9g}") if isinstance(value, float) else value for value in values or []]


class TheSameModel(unittest.TestCase):
    """Nothing is filtered: torch's events and ours are compared as they come."""

    @classmethod
    def setUpClass(cls) -> None:
        cls.profiles = {}
        for name, step in models().items():
            step()  # what the first step alone does, such as making gradients
            step()
            cls.profiles[name] = {
                who: recorded(profiler, step, record_shapes=True, profile_memory=True, with_flops=True)
                for who, profiler in BOTH.items()
            }

    def compare(self, what: Any) -> None:
        for name, profiles in self.profiles.items():
            with self.subTest(model=name):
                self.assertEqual(what(profiles["torch"]), what(profiles["ours"]))

    def test_has_the_same_operators_as_often(self) -> None:
        self.compare(lambda profile: {row.key: row.count for row in profile.key_averages()})

    def test_has_the_same_operators_with_the_same_shapes_as_often(self) -> None:
        self.compare(
            lambda profile: Counter(
                {(row.key, str(row.input_shapes)): row.count for row in profile.key_averages(group_by_input_shape=True)}
            )
        )

    def test_nests_in_the_same_way(self) -> None:
        self.compare(lambda profile: Counter(path(event) for event in profile.events()))

    def test_has_events_in_the_same_order_with_the_same_inputs(self) -> None:
        self.compare(
            lambda profile: [
                (event.trace_name, event.input_shapes, nearly(event.concrete_inputs), event.is_user_annotation)
                for event in profile.events()
            ]
        )

    def test_has_rows_in_the_same_order(self) -> None:
        self.compare(lambda profile: [row.key for row in profile.key_averages()])

    def test_counts_the_same_operations(self) -> None:
        self.compare(lambda profile: {row.key: row.flops for row in profile.key_averages() if row.flops})

    def test_counts_the_same_memory(self) -> None:
        self.compare(
            lambda profile: {
                row.key: (row.cpu_memory_usage, row.self_cpu_memory_usage) for row in profile.key_averages()
            }
        )

    def test_counts_the_same_memory_of_each_event(self) -> None:
        self.compare(lambda profile: [(event.name, event.cpu_memory_usage) for event in profile.events()])

    def test_averages_of_events_are_what_the_core_computes(self) -> None:
        for name, profiles in self.profiles.items():
            with self.subTest(model=name):
                by_torch = profiles["ours"].events().key_averages()
                ours = profiles["ours"].key_averages()
                self.assertEqual([row.key for row in by_torch], [row.key for row in ours])
                for expected, row in zip(by_torch, ours, strict=True):
                    for what in ("cpu_time_total", "self_cpu_time_total"):
                        self.assertAlmostEqual(getattr(expected, what), getattr(row, what), places=6, msg=row.key)

    def test_links_backward_operators_with_the_forward_thread(self) -> None:
        for name, profiles in self.profiles.items():
            with self.subTest(model=name):
                events = profiles["ours"].events()
                forward = {event.sequence_nr for event in events if event.scope == 0}
                backward = [event for event in events if event.scope == 1 and event.sequence_nr >= 0]
                self.assertEqual(
                    Counter(event.name for event in backward),
                    Counter(e.name for e in profiles["torch"].events() if e.scope == 1 and e.sequence_nr >= 0),
                )
                self.assertLessEqual({event.sequence_nr for event in backward}, forward)


class TheTable(unittest.TestCase):
    SORT_KEYS = (
        *("cpu_time", "cpu_time_total", "self_cpu_time_total", "cpu_memory_usage", "self_cpu_memory_usage", "count"),
        *("cuda_time", "cuda_time_total", "self_cuda_time_total", "cuda_memory_usage", "self_cuda_memory_usage"),
        *("device_time_total", "self_device_time_total", "xpu_time_total"),
    )

    @classmethod
    def setUpClass(cls) -> None:
        step = models()["MLP"]
        step()
        step()
        wanted = {"record_shapes": True, "profile_memory": True, "with_flops": True}
        cls.profiles = {who: recorded(profiler, step, **wanted) for who, profiler in BOTH.items()}

    @staticmethod
    def skeleton(table: str) -> list[str]:
        """A table with all numbers that depend on the clock left out, and the widths that depend on those."""
        table = re.sub(r"[\d.]+(%|us|ms|s)", "·", table)
        return [re.sub(r"[ -]+", " ", line) for line in table.splitlines()]

    def tables(self, averages: dict[str, Any] | None = None, **choices: Any) -> list[list[str]]:
        return [
            self.skeleton(profile.key_averages(**(averages or {})).table(**choices))
            for profile in self.profiles.values()
        ]

    def test_reads_as_torchs_does(self) -> None:
        theirs, ours = self.tables(row_limit=-1)
        self.assertEqual(theirs, ours)
        self.assertIn("Self CPU time total: ·", ours)

    def test_reads_as_torchs_does_by_shape(self) -> None:
        theirs, ours = self.tables({"group_by_input_shape": True}, row_limit=-1)
        self.assertEqual(sorted(theirs), sorted(ours))  # rows of one shape list may begin in another order
        self.assertTrue(any("Input Shapes" in line for line in ours))

    def test_takes_every_sort_key(self) -> None:
        for key in self.SORT_KEYS:
            with self.subTest(key=key):
                rows = self.profiles["ours"].key_averages()
                attribute = re.sub("cuda|xpu", "device", key)
                by_hand = sorted(rows, key=lambda row: getattr(row, attribute), reverse=True)
                lines = rows.table(sort_by=key, max_name_column_width=200, row_limit=-1).splitlines()
                shown = [line.split("  ")[0].strip() or line.strip().split("  ")[0] for line in lines]
                expected = [row.key for row in by_hand]
                self.assertEqual([name for name in shown if name in set(expected)], expected)

    def test_refuses_a_sort_key_that_does_not_exist(self) -> None:
        with self.assertRaises(AttributeError):
            self.profiles["ours"].key_averages().table(sort_by="loudness")

    def test_adds_up(self) -> None:
        rows = self.profiles["ours"].key_averages()
        total = rows.total_average()
        self.assertEqual(total.count, sum(row.count for row in rows))
        self.assertAlmostEqual(rows.self_cpu_time_total, total.self_cpu_time_total)
        self.assertAlmostEqual(self.profiles["ours"].profiler.self_cpu_time_total, total.self_cpu_time_total)


class Stacks(unittest.TestCase):
    def test_say_where_an_operator_was_called_from(self) -> None:
        def outer() -> None:
            inner()

        def inner() -> None:
            torch.ones(3).mul_(2)

        profile = recorded(telltale.torch, outer, with_stack=True)
        multiplied = next(event for event in profile.events() if event.name == "aten::mul_")
        frames = " < ".join(multiplied.stack)
        self.assertRegex(frames, r"test_dropin_agrees\.py\(\d+\): inner < .*test_dropin_agrees\.py\(\d+\): outer")
        rows = profile.key_averages(group_by_stack_n=20)
        self.assertIn("Source Location", rows.table())
        both = profile.key_averages(group_by_input_shape=True, group_by_stack_n=20)
        self.assertEqual(sum(row.count for row in both), sum(row.count for row in rows))


if __name__ == "__main__":
    unittest.main()
