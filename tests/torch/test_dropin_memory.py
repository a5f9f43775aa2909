#!/usr/bin/env python3
"""telltale.torch's memory timeline against torch.profiler's, on training steps recorded by both."""

from __future__ import annotations

import gzip
import json
import re
import tempfile
import unittest
import warnings
import weakref
from collections import Counter
from pathlib import Path
from typing import Any

import telltale.torch
import torch
import torch.profiler
from torch import nn

# The columns of a timeline, after one of zeros.
PARAMETER, STATE, INPUT, TEMPORARY, ACTIVATION, GRADIENT, AUTOGRAD, UNKNOWN = range(1, 9)
PREEXISTING, CREATE, INCREMENT_VERSION, DESTROY = range(1, 5)
OPTIMIZERS = {
    "SGD with momentum": (lambda parameters: torch.optim.SGD(parameters, lr=0.1, momentum=0.9), 1),
    "Adam": (torch.optim.Adam, 2),
}


class Training:
    """Two recorded steps after one that is not, as each profiler tells them."""

    def __init__(self, profiler: Any, optimizer: Any, folder: Path, **wanted: Any) -> None:
        torch.manual_seed(0)
        self.model = nn.Sequential(nn.Linear(64, 128), nn.ReLU(), nn.Linear(128, 10))
        self.optimizer = optimizer(self.model.parameters())
        self.step()
        with profiler.profile(record_shapes=True, profile_memory=True, with_stack=True, **wanted) as self.profile:
            self.step()
            self.step()
        self.path = folder / f"{profiler.__name__}.json"
        self.export(self.path)
        self.times, self.sizes = json.loads(self.path.read_text())

    def step(self) -> None:
        images, classes = torch.randn(32, 64), torch.randint(0, 10, (32,))
        nn.functional.cross_entropy(self.model(images), classes).backward()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def export(self, path: Path, profile: Any = None) -> None:
        with warnings.catch_warnings():  # torch deprecates it
            warnings.simplefilter("ignore")
            (profile or self.profile).export_memory_timeline(str(path), "cpu")

    def raw(self, folder: Path) -> list[Any]:
        path = folder / "memory.raw.json.gz"
        self.export(path)
        with gzip.open(path) as file:
            return json.load(file)

    def most(self, column: int) -> int:
        return max(row[column] for row in self.sizes)


class AgainstTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.trainings = {
            name: [Training(profiler, make, cls.folder) for profiler in (torch.profiler, telltale.torch)]
            for name, (make, _) in OPTIMIZERS.items()
        }

    def each(self) -> Any:
        for name, both in self.trainings.items():
            with self.subTest(optimizer=name):
                yield name, *both

    def test_peaks_are_the_same(self) -> None:
        for _, theirs, ours in self.each():
            self.assertEqual(max(map(sum, theirs.sizes)), max(map(sum, ours.sizes)))

    def test_what_is_left_at_the_end_is_the_same_by_category(self) -> None:
        for _, theirs, ours in self.each():
            self.assertEqual(theirs.sizes[-1], ours.sizes[-1])

    def test_parameters_gradients_and_optimizer_state_are_what_the_model_has(self) -> None:
        for name, theirs, ours in self.each():
            parameters = sum(parameter.numel() * 4 for parameter in ours.model.parameters())
            steps = 4 * 4 if name == "Adam" else 0  # a number of its own for each of four parameters
            self.assertEqual(ours.sizes[-1][PARAMETER], parameters)
            self.assertEqual(ours.sizes[-1][STATE], parameters * OPTIMIZERS[name][1] + steps)
            self.assertEqual(ours.most(GRADIENT), parameters)
            self.assertEqual(theirs.most(GRADIENT), parameters)

    def test_other_categories_are_the_same_where_torch_decides_by_the_same_signs(self) -> None:
        for name, theirs, ours in self.each():
            self.assertEqual(theirs.most(TEMPORARY), ours.most(TEMPORARY))
            self.assertEqual(theirs.most(AUTOGRAD), ours.most(AUTOGRAD))
            if name != "Adam":  # torch takes one of Adam's results, made from a parameter, for an activation
                self.assertEqual(theirs.most(ACTIVATION), ours.most(ACTIVATION))

    def test_every_block_comes_and_goes_as_torch_says(self) -> None:
        """But for versions: torch tells a block that is written to from what it was before, we do not."""
        for _, theirs, ours in self.each():
            raw = {who: training.raw(self.folder) for who, training in (("theirs", theirs), ("ours", ours))}
            for action in (CREATE, DESTROY):
                expected, found = ([row[2] for row in rows if row[1] == action] for rows in raw.values())
                self.assertEqual(expected, found)
            before = [Counter(row[2] for row in rows if row[1] == PREEXISTING) for rows in raw.values()]
            self.assertEqual(*before)
            self.assertTrue(all(row[0] == -1 for row in raw["ours"] if row[1] == PREEXISTING))


class Inputs(unittest.TestCase):
    def of_five_calls(self, **wanted: Any) -> list[int]:
        """The addresses that are noted as inputs of a model that is called five times, and those that it got."""
        model = nn.Sequential(nn.Linear(4, 4), nn.ReLU())
        batches = [torch.ones(2, 4) for _ in range(5)]
        with telltale.torch.profile(profile_memory=True, **wanted) as profile:
            for batch in batches:
                model(batch)
        notes = memoryview(profile.profiler.cycles[-1].notes.to_bytes()).cast("q").tolist()
        noted = [notes[i + 2] for i in range(0, len(notes), 5) if notes[i + 4] == INPUT - 1]
        expected = [batch.data_ptr() for batch in batches]
        self.assertEqual(noted, expected[: len(noted)])
        return noted

    def test_of_outermost_modules_are_noted_at_each_call_with_stacks_and_at_two_without(self) -> None:
        self.assertEqual(len(self.of_five_calls(with_stack=True)), 5)
        self.assertEqual(len(self.of_five_calls()), 2)


class Files(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory()))
        cls.training = Training(telltale.torch, OPTIMIZERS["Adam"][0], cls.folder)

    def test_compressed_and_not_say_the_same(self) -> None:
        self.training.export(self.folder / "memory.json.gz")
        with gzip.open(self.folder / "memory.json.gz") as file:
            self.assertEqual(json.load(file), [self.training.times, self.training.sizes])
        self.assertEqual(self.training.times, sorted(set(self.training.times)))

    def test_raw_changes_add_up_to_the_timeline(self) -> None:
        sums = [0] * 8
        for _, _, size, category in self.training.raw(self.folder):
            sums[category] += size
        self.assertEqual([0, *sums], self.training.sizes[-1])

    def test_the_page_needs_nothing_else(self) -> None:
        self.training.export(self.folder / "memory.html")
        text = (self.folder / "memory.html").read_text()
        self.assertEqual(text.count("<svg"), 1)
        self.assertNotRegex(text, r"https?://|<script|<link|src=")
        self.assertIn(f"At most {max(map(sum, self.training.sizes)) / 1024:.3g} KiB", text)
        numbers = re.search(r"parameters<td>([\d.]+) KiB<td>([\d.]+) KiB", text)
        self.assertEqual(float(numbers[2]), float(f"{self.training.sizes[-1][PARAMETER] / 1024:.3g}"))

    def test_of_a_device_that_was_not_recorded_are_empty(self) -> None:
        for name in ("none.json", "none.html"):
            self.training.profile.export_memory_timeline(str(self.folder / name), "cuda:0")
        self.assertEqual(json.loads((self.folder / "none.json").read_text()), [[], []])
        self.assertIn("No memory of this device", (self.folder / "none.html").read_text())

    def test_need_memory_to_be_recorded(self) -> None:
        with telltale.torch.profile() as profile:
            torch.ones(2)
        with self.assertRaisesRegex(ValueError, "no memory was recorded: use profile_memory=True"):
            profile.export_memory_timeline(str(self.folder / "x.json"), "cpu")


class Notes(unittest.TestCase):
    def test_keep_nothing_alive(self) -> None:
        model = nn.Linear(4, 4)
        optimizer = torch.optim.Adam(model.parameters())
        with telltale.torch.profile(profile_memory=True) as profile:
            model(torch.ones(2, 4)).sum().backward()
            optimizer.step()
            watched = [weakref.ref(each) for each in (model, model.weight, model.weight.grad, optimizer)]
            del model, optimizer
            self.assertEqual([each() for each in watched], [None] * 4)
        self.assertGreater(len(profile.events()), 0)

    def test_leave_no_hook_behind(self) -> None:
        from torch.nn.modules import module

        def hooks() -> int:
            return len(module._global_forward_hooks) + len(module._global_forward_pre_hooks)

        before = hooks()
        with telltale.torch.profile(profile_memory=True):
            self.assertGreater(hooks(), before)
        self.assertEqual(hooks(), before)


if __name__ == "__main__":
    unittest.main()
