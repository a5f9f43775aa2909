"""What `telltale memory` says of programs on the CPU that count their own tensors, and of programs that leak."""
import itertools
import json
import subprocess
import tempfile
import unittest
from pathlib import Path

import torch
from recorded import TELLTALE, record

STEPS = 8


def memory_of(work):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "run.tell"
        record(work, str(path), memory=True, shapes=True, stacks=True, modules=True)
        done = subprocess.run([TELLTALE, "memory", "--json", str(path)], check=True, capture_output=True)
    return json.loads(done.stdout)


def bytes_of(tensors):
    return sum(tensor.untyped_storage().nbytes() for tensor in tensors)


class PeakByCategory(unittest.TestCase):
    def test_parameters_gradients_and_state_are_those_that_python_counts(self):
        counted = {}

        def train():
            model = torch.nn.Sequential(*[torch.nn.Linear(256, 256) for _ in range(4)])
            optimizer = torch.optim.Adam(model.parameters(), foreach=False)
            for step in range(STEPS):
                with torch.profiler.record_function(f"ProfilerStep#{step}"):
                    loss = model(torch.ones(512, 256)).square().mean()
                    loss.backward()
                    counted["gradients"] = bytes_of(p.grad for p in model.parameters())
                    optimizer.step()
                    optimizer.zero_grad()
            counted["parameters"] = bytes_of(model.parameters())
            counted["optimizer_state"] = bytes_of(
                value for state in optimizer.state.values() for value in state.values() if torch.is_tensor(value)
            )

        host = memory_of(train)["devices"][-1]
        found = {row["name"]: row["bytes"] for row in host["categories"]}
        self.assertEqual(sum(found.values()), host["peak_allocated_bytes"])
        for name in ("parameters", "optimizer_state"):
            self.assertAlmostEqual(found.get(name, 0), counted[name], delta=0.03 * counted[name], msg=name)
        # At the peak, at the latest when the optimizer steps, all gradients may be there, and never more.
        self.assertLessEqual(found.get("gradients", 0), 1.03 * counted["gradients"])
        self.assertGreater(found.get("activations", 0) + found.get("gradients", 0), 0)


def peak_by_torch(work):
    """Beyond what was there before, by the memory events of torch's own profiler."""
    with torch.profiler.profile(profile_memory=True) as profiler:
        work()
    with tempfile.TemporaryDirectory() as folder:
        profiler.export_chrome_trace(f"{folder}/trace.json")
        events = json.loads(Path(f"{folder}/trace.json").read_text())["traceEvents"]
    changes = sorted((event["ts"], event["args"]["Bytes"]) for event in events if event["name"] == "[memory]")
    return max(itertools.accumulate(change for _, change in changes))


class Fixes(unittest.TestCase):
    def test_free_as_much_as_they_promise_gradients_that_are_freed_behind_the_optimizer(self):
        model = torch.nn.Sequential(*[torch.nn.Linear(512, 512) for _ in range(6)])
        optimizer = torch.optim.SGD(model.parameters(), lr=1e-3)

        def train(frees_late):
            for step in range(STEPS):
                with torch.profiler.record_function(f"ProfilerStep#{step}"):
                    loss = model(torch.ones(256, 512)).square().mean()
                    if frees_late:
                        optimizer.zero_grad()
                    loss.backward()
                    optimizer.step()
                    if not frees_late:
                        optimizer.zero_grad()

        early = peak_by_torch(lambda: train(False))  # which leaves no gradients
        measured = peak_by_torch(lambda: train(True)) - early
        self.assertGreater(measured, 0)
        optimizer.zero_grad()
        findings = {each["rule"]: each["saving_bytes"] for each in memory_of(lambda: train(True))["findings"]}
        self.assertAlmostEqual(findings.get("kept_gradients", 0), measured, delta=0.1 * measured)
        optimizer.zero_grad()
        findings = [each["rule"] for each in memory_of(lambda: train(False))["findings"]]
        self.assertNotIn("kept_gradients", findings)


class Leaks(unittest.TestCase):
    def expect_leak(self, step, least):
        """A program whose function `leaking` makes what stays."""
        model = torch.nn.Linear(256, 256)

        def train():
            for number in range(STEPS):
                with torch.profiler.record_function(f"ProfilerStep#{number}"):
                    step(model)

        leaks = memory_of(train)["leaks"]
        self.assertTrue(leaks)
        lines = [leak["source"]["function"] for leak in leaks if leak["source"]]
        self.assertIn("leaking", lines)
        self.assertGreaterEqual(sum(leak["bytes_per_step"] for leak in leaks), least)

    def test_a_list_of_losses_keeps_the_graph_of_each(self):
        losses = []

        def leaking(model):
            loss = model(torch.ones(64, 256)).square().mean()
            loss.backward(retain_graph=True)
            losses.append(loss)

        self.expect_leak(leaking, 64 * 256 * 4)

    def test_a_running_sum_keeps_the_graph(self):
        total = []

        def leaking(model):
            loss = model(torch.ones(64, 256)).square().mean()
            total[:] = [loss + total[0] if total else loss]

        self.expect_leak(leaking, 64 * 256 * 4)

    def test_a_cache_without_a_limit_keeps_all_that_was_asked(self):
        cache = {}

        def leaking(model):
            with torch.no_grad():
                cache[len(cache)] = model(torch.ones(64, 256))

        self.expect_leak(leaking, 64 * 256 * 4)

    def test_a_program_that_frees_what_it_makes_leaks_nothing(self):
        model = torch.nn.Linear(256, 256)
        newest = []

        def train():
            for number in range(STEPS):
                with torch.profiler.record_function(f"ProfilerStep#{number}"):
                    newest[:] = [*newest[-1:], model(torch.ones(64, 256)).detach()]

        self.assertEqual(memory_of(train)["leaks"], [])


class Errors(unittest.TestCase):
    def test_a_trace_without_memory_says_what_to_record(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "run.tell"
            record(lambda: torch.ones(4).add(1), str(path))
            done = subprocess.run([TELLTALE, "memory", str(path)], capture_output=True, text=True)
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("record with telltale record --memory", done.stderr)
        self.assertEqual(done.stdout, "")


if __name__ == "__main__":
    unittest.main()
