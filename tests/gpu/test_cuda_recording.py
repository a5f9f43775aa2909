"""When Python recordings attach to the GPU and let go of it, and what telltale.torch says of it beside torch.profiler.

Run by tools/gpu_check; everything is skipped where there is no GPU. Each program is a process of its own: torch's
profiler stays attached to a process that it has recorded once.
"""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from collections import Counter
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "torch"))
from recorded import TELLTALE, Recorded  # noqa: E402

from check import keep  # noqa: E402  isort: skip

BEFORE = """
    import os, sys, time
    import torch
"""
TRAIN = """
    model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 8)).cuda()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    batch = torch.randn(16, 64, device="cuda")

    def step():
        optimizer.zero_grad()
        with torch.profiler.record_function("forward"):
            loss = model(batch).square().mean()
        loss.backward()
        optimizer.step()
"""


def written(*parts):
    return "\n".join(textwrap.dedent(part) for part in parts)


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class Case(unittest.TestCase):
    maxDiff = 8000  # names of kernels are long

    def run(self, result=None):
        """In a folder of its own; recordings of what fails come home."""
        result = result if result is not None else self.defaultTestResult()
        failed = len(result.failures) + len(result.errors)
        with tempfile.TemporaryDirectory() as folder:
            self.folder = Path(folder)
            super().run(result)
            if len(result.failures) + len(result.errors) > failed:
                for path in self.folder.glob("*.tell"):
                    keep(path, f"{self.id().rpartition('.')[2]}_{path.name}")
        return result

    def run_program(self, *parts, command=(), **variables):
        """What a program says on standard error; its standard output is printed where it fails."""
        script = self.folder / "program.py"
        script.write_text(written(BEFORE, *parts))
        done = subprocess.run([*command, sys.executable, str(script)], capture_output=True, text=True, cwd=self.folder,
                              env={**os.environ, **variables}, timeout=100)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.said = done.stderr
        return done.stdout

    def record(self, *parts, options=()):
        command = (TELLTALE, "record", "--no-analyze", "-o", str(self.folder / "run.tell"), *options, "--")
        return self.run_program(*parts, command=command)

    def recorded(self, name="run.tell"):
        return Recorded(self.folder / name)


def kernels(recorded):
    return [span for span in recorded.spans if span["cat"] == "kernel"]


def calls(recorded):
    return [span for span in recorded.spans if span["cat"] in ("cuda_runtime", "cuda_driver")]


def names(spans):
    return Counter(span["name"] for span in spans)


def correlations(spans):
    return Counter(span["args"]["correlation"] for span in spans)


def end(span):
    return span["ts"] + span["dur"]


def pauses(recorded):
    """The unrecorded steps of each, and the start of the recorded step behind it; None behind the last step."""
    steps = sorted(recorded.steps() + recorded.named("UnrecordedStep"), key=lambda step: step["ts"])
    found, paused = [], []
    for step in steps:
        if step["name"] == "UnrecordedStep":
            paused.append(step)
        elif paused:
            found.append((paused, step["ts"]))
            paused = []
    return found + ([(paused, None)] if paused else [])


class Pauses(Case):
    """These compare times: nothing else may use the GPU meanwhile."""

    def test_steps_aside_in_pauses_and_waits_for_the_gpu_behind_them(self):
        """A pause is as long as the host needs to make up for what recording cost, at most 1,100 steps: of 400 short
        ones, none may follow it. The GPU is behind the host, which has nothing to do."""
        program = """
            optimizer = torch.optim.SGD([torch.zeros(1, device="cuda", requires_grad=True)], lr=0.1)

            def step():
                torch.cuda._sleep(4_000_000)
                optimizer.step()

            def milliseconds(count):
                begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
                begin.record()
                for _ in range(count): torch.cuda._sleep(4_000_000)
                end.record()
                end.synchronize()
                return begin.elapsed_time(end) / count

            milliseconds(100)
            took = [milliseconds(100)]
            for _ in range(1300): step()
            torch.cuda.synchronize()
            print(sum(took + [milliseconds(100)]) / 2)
        """
        step_us = 1000 * float(self.record(program))
        recorded = self.recorded()
        waits = recorded.named("UnrecordedWait")
        ended = [pause for pause in pauses(recorded) if pause[1] is not None]
        self.assertTrue(ended, "no pause has more than 1100 steps")
        for steps, next_step in ended:
            self.assertGreaterEqual(len(steps), 6)
            begin, last = steps[0]["ts"], end(steps[-1])
            inside = [kernel for kernel in kernels(recorded) if begin <= kernel["ts"] < last]
            self.assertEqual(inside, [], "nothing of a pause is recorded")
            behind = [wait for wait in waits if last <= wait["ts"] < next_step]
            self.assertEqual(len(behind), 1, f"{len(steps)} steps to {last}, and then {next_step}: {waits}")
            self.assertGreater(behind[0]["dur"], step_us, "the host was ahead")
            self.assertAlmostEqual((end(behind[0]) - begin) / (len(steps) * step_us), 1, delta=0.1)
        self.assertEqual(len(waits), len(ended))
        ends_in_pause = pauses(recorded)[-1][1] is None
        self.assertEqual("unrecorded_wait_ns" in recorded.header, ends_in_pause)

    def test_knows_what_a_step_takes_that_the_gpu_alone_determines(self):
        """The host is ahead all the time: what it takes to launch a step is no measure of one."""
        program = """
            a = torch.randn(4096, 4096, device="cuda")
            optimizer = torch.optim.SGD([torch.zeros(1, device="cuda", requires_grad=True)], lr=0.1)

            def step():
                for _ in range(8):
                    a @ a
                optimizer.step()

            for _ in range(4): step()
            torch.cuda.synchronize()
            began = time.perf_counter()
            for _ in range(60): step()
            torch.cuda.synchronize()
            print((time.perf_counter() - began) / 60)
        """
        plain = float(self.run_program(program))
        self.record(program)
        command = [TELLTALE, "analyze", "--json", str(self.folder / "run.tell")]
        analyze = subprocess.run(command, check=True, capture_output=True)
        step = json.loads(analyze.stdout)["step"]
        self.assertEqual(step["unobserved_source"], "measured", step)
        self.assertAlmostEqual(step["unobserved_ns"] / 1e9 / plain, 1, delta=0.05)


class TelltaleRecord(Case):
    def test_has_the_kernels_of_an_unmodified_program(self):
        self.record(TRAIN, "for _ in range(6): step()", options=("--no-pauses",))
        recorded = self.recorded()
        counts = names(kernels(recorded))
        self.assertTrue(any(count % 6 == 0 for count in counts.values()), counts)
        for name in ("aten::relu", "aten::mm", "aten::addmm"):
            self.assertTrue(recorded.named(name), name)
        self.assertEqual([kernel for kernel in kernels(recorded) if "correlation" not in kernel["args"]], [])

    def test_attaches_in_the_warm_up_and_lets_go_in_the_file(self):
        """Both files have the kernels of two steps, and the first step may find the GPU still at work on the one
        before it, which ends in the optimizer: what began to run in the file is in it, though not its launch."""
        steps = "for _ in range(14): step(); torch.cuda.synchronize()"
        self.record(TRAIN, steps, options=("--wait", "1", "--warmup", "2", "--active", "2", "--repeat", "2"))
        launched = []
        for name in ("run.tell", "run.1.tell"):
            recorded = self.recorded(name)
            self.assertEqual(recorded.named("CUPTI start"), [], "it was there before the file was")
            self.assertEqual(len(recorded.named("CUPTI stop")), 1)
            self.assertEqual(len(recorded.steps()), 2)
            launches = [call for call in calls(recorded) if "LaunchKernel" in call["name"]]
            own = [kernel for kernel in kernels(recorded) if "correlation" in kernel["args"]]
            self.assertEqual(correlations(own), correlations(launches), names(own))
            launched.append(names(own))
            of_before = [kernel for kernel in kernels(recorded) if "correlation" not in kernel["args"]]
            first = min(kernel["ts"] for kernel in own)
            self.assertEqual([kernel for kernel in of_before if kernel["ts"] > first], [], names(own))
            of_a_step = Counter({kernel: count // 2 for kernel, count in names(own).items()})
            self.assertLessEqual(names(of_before), of_a_step)
        self.assertGreater(launched[0].total(), 10)
        self.assertEqual(launched[0], launched[1])
        self.assertEqual({kernel: count for kernel, count in launched[0].items() if count % 2}, {}, "of two steps")

    def test_lets_children_use_cuda_that_are_forked_before_the_program_does(self):
        program = """
            child = os.fork()
            if child == 0:
                assert torch.ones(3, device="cuda").sum().item() == 3
                os._exit(0)
            assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
            print(torch.ones(5, device="cuda").sum().item())
        """
        self.assertIn("5.0", self.record(program))


class BesideOthers(Case):
    """What the program itself does with the GPU that stands in a recording's way."""

    def test_goes_on_when_a_step_ends_in_a_capture(self):
        program = """
            parameter = torch.zeros(64, device="cuda", requires_grad=True)
            parameter.grad = torch.ones_like(parameter)
            optimizer = torch.optim.SGD([parameter], lr=0.1)
            for _ in range(40): optimizer.step()
            torch.cuda.synchronize()
            for _ in range(20):
                graph = torch.cuda.CUDAGraph()
                with torch.cuda.graph(graph):
                    optimizer.step()
                graph.replay()
            torch.cuda.synchronize()
            print(round(parameter[0].item(), 3))
        """
        self.assertIn("-6.0", self.record(program))

    def test_makes_way_for_torchs_profiler_in_the_program(self):
        program = """
            for _ in range(3): step()
            with torch.profiler.profile() as profile:
                for _ in range(3): step()
                torch.cuda.synchronize()
            profile.export_chrome_trace("torchs.json")
            for _ in range(3): step()
            torch.cuda.synchronize()
        """
        self.record(TRAIN, program, options=("--no-pauses",))
        self.assertEqual(self.said.count("PyTorch's profiler was started by the program"), 1, self.said)
        theirs = [event for event in json.loads((self.folder / "torchs.json").read_text())["traceEvents"]
                  if event.get("cat") == "kernel"]
        ours = kernels(self.recorded())
        self.assertEqual(len(theirs) % 3, 0)
        came_back = "the GPU is recorded no more" not in self.said
        of_batch = 1  # torch.randn, before the first step
        wanted = of_batch + len(theirs) * (2 if came_back else 1)
        self.assertEqual(len(ours), wanted, f"{self.said}{names(theirs)}, and ours {names(ours)}")


# Both record the same steps in one process, ours first: torch's stays.
COMPARED = """
    import json
    import telltale.torch

    side = torch.cuda.Stream()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.stream(side):
        batch.sin().cos()
    torch.cuda.synchronize()
    with torch.cuda.graph(graph):
        batch.sin().cos()

    def work(profile):
        for _ in range(4):
            step()
            graph.replay()
            host = batch.cpu()
            profile.step()

    class Nothing:
        def step(self): pass

    # What has a row in torch's tables whoever records it: of CUDA's calls ours has fewer, and of CUPTI's overhead none.
    CALLS = ("cudaLaunchKernel", "cudaGraphLaunch", "cudaMemcpyAsync", "cudaDeviceSynchronize")
    OURS = ("aten::", "autograd::", "torch::", "Optimizer", "forward", "ProfilerStep")

    def is_of_program(row):
        on_device = str(row.device_type).endswith("CUDA")
        return on_device or row.key.startswith(OURS) or row.key.endswith("Backward0")

    work(Nothing())
    told = {}
    for name, profiler in (("ours", telltale.torch), ("theirs", torch.profiler)):
        activities = [profiler.ProfilerActivity.CPU, profiler.ProfilerActivity.CUDA]
        schedule = profiler.schedule(wait=1, warmup=1, active=2)
        with profiler.profile(activities=activities, schedule=schedule, profile_memory=True) as profile:
            work(profile)
        rows = [row for row in profile.key_averages() if is_of_program(row)]
        told[name] = {
            "rows": sorted((row.key, str(row.device_type), bool(row.is_user_annotation), row.count) for row in rows),
            "memory": sorted((row.key, row.self_device_memory_usage) for row in rows if row.self_device_memory_usage),
            "timed": sorted((row.key, str(row.device_type)) for row in rows if row.self_device_time_total > 0),
            "kernels": sorted((event.name, kernel.name) for event in profile.events() for kernel in event.kernels),
            "calls": {row.key: row.count for row in profile.key_averages() if row.key in CALLS},
            "device": sum(row.self_device_time_total for row in rows
                          if str(row.device_type).endswith("CUDA") and not row.is_user_annotation),
        }
    print(json.dumps(told))
"""


class DropIn(Case):
    @classmethod
    def setUpClass(cls):
        cls.told = None

    def both(self):
        cls = type(self)
        if cls.told is None:
            cls.told = json.loads(self.run_program(TRAIN, COMPARED).splitlines()[-1])
            self.assertNotIn("torch.profiler records instead", self.said)
        return cls.told["ours"], cls.told["theirs"]

    def test_has_torchs_rows(self):
        ours, theirs = self.both()
        self.assertEqual(ours["rows"], theirs["rows"])

    def test_has_device_times_where_torch_has_them(self):
        ours, theirs = self.both()
        self.assertEqual(ours["timed"], theirs["timed"])
        self.assertAlmostEqual(ours["device"] / theirs["device"], 1, delta=0.2)

    def test_has_torchs_device_memory(self):
        ours, theirs = self.both()
        self.assertEqual(ours["memory"], theirs["memory"])

    def test_gives_events_torchs_kernels(self):
        ours, theirs = self.both()
        self.assertEqual(ours["kernels"], theirs["kernels"])

    def test_has_torchs_calls_by_torchs_names(self):
        ours, theirs = self.both()
        self.assertEqual(ours["calls"], theirs["calls"])


if __name__ == "__main__":
    unittest.main()
