#!/usr/bin/env python3
"""telltale.torch goes through a schedule as torch.profiler does: the same cycles, steps, callbacks and warnings."""

from __future__ import annotations

import gc
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from typing import Any

import telltale
import telltale.torch
import torch
import torch.autograd.profiler
import torch.profiler
from torch.profiler import ProfilerAction

A = ProfilerAction


class Diary:
    """What a profile does and shows, in order."""

    def __init__(self, profiler: Any, schedule: Any, steps: int, **choices: Any) -> None:
        self.lines: list[Any] = []
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            profile = profiler.profile(
                activities=[profiler.ProfilerActivity.CPU], schedule=schedule, on_trace_ready=self.ready, **choices
            )
            for name in ("prepare_trace", "start_trace", "stop_trace"):
                self.watch(profile, name)
            with profile:
                for _ in range(steps):
                    torch.ones(2)
                    self.lines.append(("is enabled", torch.autograd.profiler._is_profiler_enabled))
                    profile.step()
                torch.ones(2)
            self.lines.append(("ended", profile.step_num, torch.autograd.profiler._is_profiler_enabled))
        self.lines.append(sorted({str(each.message) for each in caught if "schedule" in str(each.message)}))

    def watch(self, profile: Any, name: str) -> None:
        """The actions of torch's own table of transitions, which both classes have."""
        for transition, actions in profile.action_map.items():
            profile.action_map[transition] = [
                self.noting(action, name) if getattr(action, "__name__", "") == name else action for action in actions
            ]

    def noting(self, action: Any, name: str) -> Any:
        def noted() -> None:
            self.lines.append(name)
            action()

        return noted

    def ready(self, profile: Any) -> None:
        events = profile.events()
        steps = [event.trace_name for event in events if event.name == "ProfilerStep*"]
        made = sum(event.name == "aten::ones" for event in events)
        self.lines.append(("ready", profile.step_num, threading.get_ident(), steps, made))


class Schedules(unittest.TestCase):
    def assert_same(self, schedule: Any, steps: int, **choices: Any) -> None:
        theirs = Diary(torch.profiler, schedule, steps, **choices).lines
        ours = Diary(telltale.torch, schedule, steps, **choices).lines
        self.assertEqual(theirs, ours)

    def test_made_by_chance(self) -> None:
        chance = random.Random(6)
        for _ in range(25):
            choice = {name: chance.randint(0, 2) for name in ("wait", "warmup", "repeat", "skip_first")}
            choice |= {"active": chance.randint(1, 3), "skip_first_wait": chance.randint(0, 1)}
            steps = chance.randint(0, 9)
            with self.subTest(**choice, steps=steps), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                self.assert_same(telltale.torch.schedule(**choice), steps)

    def test_of_any_actions_in_any_order(self) -> None:
        chance = random.Random(7)
        for _ in range(50):
            actions = chance.choices([A.NONE, A.WARMUP, A.RECORD, A.RECORD_AND_SAVE], k=8)
            if (A.RECORD, A.WARMUP) in itertools.pairwise(actions):
                continue  # torch.profiler starts what it did not prepare then, and crashes
            with self.subTest(actions=[action.name for action in actions]):
                self.assert_same(lambda step, actions=actions: actions[step], 7)

    def test_that_torch_crashes_on_warn_and_go_on(self) -> None:
        actions = [A.RECORD, A.WARMUP, A.RECORD_AND_SAVE, A.RECORD, A.WARMUP, A.NONE, A.RECORD, A.WARMUP]
        lines = Diary(telltale.torch, lambda step: actions[step], 7).lines
        self.assertEqual([line[3] for line in lines if line[0] == "ready"], [["ProfilerStep#2"]])
        self.assertIn("Incorrect schedule: RECORD followed by WARMUP", lines[-1])

    def test_that_do_not_exist_record_everything(self) -> None:
        self.assert_same(None, 3)

    def test_that_accumulate(self) -> None:
        self.assert_same(telltale.torch.schedule(wait=1, warmup=1, active=1, repeat=2), 7, acc_events=True)


class UnrecordedSteps(unittest.TestCase):
    def run_steps(self, wait: int, steps: int) -> Any:
        schedule = telltale.torch.schedule(wait=wait, warmup=1, active=3, repeat=1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with telltale.torch.profile(activities=[telltale.torch.ProfilerActivity.CPU], schedule=schedule) as profile:
                for _ in range(steps):
                    torch.ones(2)
                    time.sleep(0.002)
                    profile.step()
        return profile

    def test_before_a_cycle_are_what_a_step_is_measured_on(self) -> None:
        profile = self.run_steps(8, 12)
        step = profile.analyze().step
        # Nine steps before, of which two warm up; of the rest the later half or five.
        self.assertEqual(step.unobserved_source, "measured")
        self.assertIn(step.count, (2, 3))  # on a busy machine, one of them may be far off the others
        self.assertIn(step.unrecorded_steps, (3, 4, 5))
        self.assertGreater(step.unobserved_low_ns, 2_000_000)  # so long it sleeps in each
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "run.json")
            profile.export_chrome_trace(path)
            with open(path, encoding="utf-8") as file:
                [stretch] = json.load(file)["unrecorded_steps"]
            self.assertEqual((stretch["when"], stretch["first"], len(stretch["took_ns"])), ("before", 0, 9))
            self.assertEqual(telltale.load(path).analyze().step.unobserved_source, "measured")

    def test_of_one_profile_are_not_those_of_the_next(self) -> None:
        self.run_steps(8, 12)
        self.assertNotEqual(self.run_steps(0, 4).analyze().step.unobserved_source, "measured")


class Cycles(unittest.TestCase):
    @staticmethod
    def run_cycles(**choices: Any) -> Any:
        schedule = telltale.torch.schedule(wait=0, warmup=1, active=1, repeat=3)
        with telltale.torch.profile(schedule=schedule, **choices) as profile:
            for step in range(6):
                for _ in range(step):
                    torch.ones(2)
                profile.step()
        return profile

    def test_are_all_kept_when_asked(self) -> None:
        profile = self.run_cycles(keep_all_cycles=True)
        counts = [
            next(row.calls for row in profile.load(cycle).top().rows if row.name == "aten::ones") for cycle in range(3)
        ]
        self.assertEqual(counts, [1, 3, 5])
        self.assertEqual(len(profile.cycles), 3)
        self.assertEqual({row.key: row.count for row in profile.key_averages()}["aten::ones"], 5)

    def test_are_gone_otherwise_but_for_the_last(self) -> None:
        profile = self.run_cycles()
        self.assertEqual(len(profile.cycles), 1)
        folder = os.path.dirname(profile.cycles[0])
        self.assertEqual(os.listdir(folder), [os.path.basename(profile.cycles[0])])
        del profile
        gc.collect()
        self.assertFalse(os.path.exists(folder))

    def test_of_a_process_that_was_killed_go_with_the_next_one(self) -> None:
        folder = self.enterContext(tempfile.TemporaryDirectory())
        program = (
            "import os, sys, telltale.torch\n"
            "with telltale.torch.profile() as profile: pass\n"
            "print('recorded', flush=True)\n"
            "sys.stdin.readline()\n"
            "os._exit(0)"
        )

        def started() -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-c", program],
                env={**os.environ, "TMPDIR": folder},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            assert process.stdout is not None
            self.assertEqual(process.stdout.readline(), "recorded\n")
            return process

        killed, alive = started(), started()
        killed.communicate("\n")
        self.assertEqual(len(os.listdir(folder)), 2)
        last = started()
        self.assertEqual(len(os.listdir(folder)), 2)  # that of the killed one is gone, that of the living is not
        alive.communicate("\n")
        last.communicate("\n")

    def test_accumulate_when_asked(self) -> None:
        profile = self.run_cycles(acc_events=True)
        self.assertEqual({row.key: row.count for row in profile.key_averages()}["aten::ones"], 1 + 3 + 5)
        self.assertEqual(sum(event.name == "aten::ones" for event in profile.events()), 1 + 3 + 5)

    def test_that_do_not_exist_are_refused_in_a_sentence(self) -> None:
        with self.assertRaisesRegex(telltale.TelltaleError, "no cycle 7"):
            self.run_cycles().load(7)


class Misuse(unittest.TestCase):
    def test_a_negative_memory_limit_is_refused(self) -> None:
        with self.assertRaisesRegex(ValueError, "memory_limit"):
            telltale.torch.profile(memory_limit=-1)

    def test_results_before_the_start_are_refused(self) -> None:
        profile = telltale.torch.profile()
        for ask in (profile.key_averages, profile.events, profile.analyze):
            with self.assertRaises(AssertionError):
                ask()

    def test_an_argument_that_torch_does_not_know_is_refused(self) -> None:
        with self.assertRaises(TypeError):
            telltale.torch.profile(color="red")

    def test_an_exception_in_the_block_ends_the_recording_and_goes_on(self) -> None:
        with self.assertRaisesRegex(ZeroDivisionError, "zero"), telltale.torch.profile() as profile:
            torch.ones(2)
            print(1 / 0)
        self.assertEqual({row.key: row.count for row in profile.key_averages()}["aten::ones"], 1)
        with telltale.torch.profile():
            torch.ones(2)

    def test_one_inside_another_is_left_to_torch(self) -> None:
        with telltale.torch.profile() as outer:
            torch.ones(2)
            with telltale.torch.profile() as inner:
                torch.ones(2)
        calls = [{row.key: row.count for row in profile.key_averages()}["aten::ones"] for profile in (outer, inner)]
        self.assertEqual(calls, [2, 1])

    def test_a_forked_child_leaves_the_recording_to_its_parent(self) -> None:
        with telltale.torch.profile() as profile:
            torch.ones(2)
            child = os.fork()
            if child == 0:
                profile.stop()
                os._exit(7)
            self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 7)
            torch.ones(2)
        self.assertEqual({row.key: row.count for row in profile.key_averages()}["aten::ones"], 2)

    def test_a_profile_may_be_started_and_stopped_again(self) -> None:
        profile = telltale.torch.profile()
        for count in (1, 2):
            profile.start()
            for _ in range(count):
                torch.ones(2)
            profile.stop()
            self.assertEqual({row.key: row.count for row in profile.key_averages()}["aten::ones"], count)


if __name__ == "__main__":
    unittest.main()
