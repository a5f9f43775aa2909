"""Operators that launch kernels, recorded as on a GPU: the package and its library for devices, with a scripted CUPTI.

FAKE_CUDA is the library that stands in for CUPTI and the driver.
"""
import ctypes
import os
import tempfile
import threading
import time
import unittest
from contextlib import ExitStack
from pathlib import Path
from unittest import mock

import pyarrow
import telltale
import telltale.torch
import torch
from recorded import Recorded
from telltale import _recorder
from telltale._capture import Recording, Wanted, cuda
from telltale._capture import recording as recording_module
from torch.profiler import ProfilerActivity

MICROSECONDS = 1000
KERNEL = "work(float*)"

os.environ["TELLTALE_CUDA_LIBRARY"] = os.environ["TELLTALE_CUPTI_LIBRARY"] = os.environ["FAKE_CUDA"]
fake = ctypes.CDLL(os.environ["FAKE_CUDA"])


def run_kernel(microseconds):
    fake.fake_run_kernel(b"_Z4workPf", ctypes.c_uint64(microseconds * MICROSECONDS))


@torch.library.custom_op("fake::launch", mutates_args=())
def launch(x: torch.Tensor, microseconds: int) -> torch.Tensor:
    run_kernel(microseconds)
    return x.clone()


@torch.library.custom_op("fake::outer", mutates_args=())
def outer(x: torch.Tensor) -> torch.Tensor:
    return launch(launch(x, 1), 2)


X = torch.ones(3)


class Case(unittest.TestCase):
    def setUp(self):
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for place, name, value in (
            (cuda, "can_have_gpu", lambda: True),
            (recording_module, "can_have_gpu", lambda: True),
            (torch.cuda, "is_initialized", lambda: True),
            (torch.cuda, "is_available", lambda: True),
            (torch.cuda, "is_current_stream_capturing", lambda: False),
            (torch.cuda, "synchronize", lambda: None),
            (torch.cuda, "current_stream", lambda: mock.Mock(query=lambda: True)),
        ):
            stack.enter_context(mock.patch.object(place, name, value))


class DropIn(Case):
    def profile(self, work, **options):
        with telltale.torch.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], **options) as profile:
            work(profile)
        return profile

    def test_ties_kernels_to_operators_of_all_threads(self):
        def work(_):
            outer(X)
            thread = threading.Thread(target=launch, args=(X, 4))
            thread.start()
            thread.join()
            with telltale.torch.record_function("by hand"):
                run_kernel(8)

        profile = self.profile(work)
        rows = {(row.key, str(row.device_type)): row for row in profile.key_averages()}
        times = {key: (row.count, round(row.self_device_time_total, 1), round(row.device_time_total, 1))
                 for (key, on), row in rows.items() if on.endswith("CPU")}
        self.assertEqual(times["fake::launch"], (3, 1 + 2 + 4, 1 + 2 + 4))
        self.assertEqual(times["fake::outer"], (1, 0, 1 + 2))
        self.assertEqual(times["by hand"], (1, 0, 0))  # as in torch's: no operator launched it
        self.assertEqual(times["cudaLaunchKernel"], (4, 0, 0))
        kernels = rows[KERNEL, "DeviceType.CUDA"]
        self.assertEqual((kernels.count, round(kernels.self_device_time_total, 1)), (4, 15))
        self.assertRegex(profile.key_averages().table(), r"Self CUDA time total: 1(4\.9|5\.0)\d\dus")

    def test_records_the_kernels_of_active_steps_alone(self):
        def work(profile):
            for step in range(6):
                launch(X, 1 << step)
                profile.step()

        schedule = telltale.torch.schedule(wait=1, warmup=1, active=2, repeat=1)
        profile = self.profile(work, schedule=schedule)
        [row] = [row for row in profile.key_averages() if row.key == KERNEL]
        self.assertEqual((row.count, round(row.self_device_time_total, 1)), (2, 4 + 8))
        self.assertEqual([event.name for event in profile.events() if event.kernels], ["fake::launch"] * 2)


class Sessions(Case):
    def test_have_the_kernels_of_their_steps_by_the_drivers_names(self):
        path = self.folder / "run.tell"
        schedule = {"wait": 2, "warmup": 1, "active": 2, "repeat": 2}
        recording = Recording(str(path), Wanted(cuda=True), schedule=schedule)
        recording.start()
        for _ in range(12):
            outer(X)
            _recorder.step()
        recording.stop()
        for name in ("run.tell", "run.1.tell"):
            recorded = Recorded(self.folder / name)
            kernels = [span for span in recorded.spans if span["cat"] == "kernel"]
            launches = {span["args"]["correlation"]: span for span in recorded.named("cuLaunchKernel")}
            self.assertEqual(len(kernels), 4)
            self.assertEqual({kernel["args"]["correlation"] for kernel in kernels}, set(launches))
            self.assertEqual(recorded.named("CUPTI start"), [], "it was there before the file was")
            self.assertEqual(len(recorded.named("CUPTI stop")), 1)
            self.assertEqual(recorded.header["cuda_calls"], "chosen")
            self.assertEqual(recorded.header["deviceProperties"][0]["name"], 'Fake "GPU"')

    def test_leave_pauses_out(self):
        path = self.folder / "run.tell"
        recording = Recording(str(path), Wanted(cuda=True), pauses=True)
        recording.start()
        for _ in range(40):
            outer(X)
            _recorder.step()
        recording.stop()
        recorded = Recorded(path)
        steps = len(recorded.steps())
        self.assertLess(steps, 40)
        self.assertEqual(sum(span["cat"] == "kernel" for span in recorded.spans), 2 * steps)
        self.assertEqual(steps + len(recorded.named("UnrecordedStep")), 40)


class Graphs(Case):
    def capture(self, node):
        fake.fake_capture(node)  # captured here

    def replay(self, node):
        fake.fake_replay(node, KERNEL.encode())

    def origins(self, path):
        """The stack in which each kernel was captured; None where nobody knows."""
        trace = telltale.load(path)
        nodes, origins = (pyarrow.table(table).to_pydict() for table in (trace.graph_nodes, trace.graph_origins))
        stacks = dict(zip(origins["event"], origins["call_stack"]))
        return [stacks.get(kernel) for kernel in nodes["event"]]

    def assert_captured_here(self, stack):
        line = next(number for number, text in enumerate(Path(__file__).read_text().splitlines(), 1)
                    if text.endswith("# captured here"))
        self.assertTrue((stack or "").partition(";")[0].endswith(f"test_cuda_recorded.py({line}): capture"), stack)

    def test_captured_in_a_pause_have_the_stacks_of_their_capture(self):
        path = self.folder / "run.tell"
        recording = Recording(str(path), Wanted(cuda=True, load=True, samples=True), pauses=True)
        recording.start()
        while _recorder.is_recording():
            time.sleep(0.001)  # so that steps are worth recording
            _recorder.step()
        self.capture(1)
        while not _recorder.is_recording():
            time.sleep(0.001)
            _recorder.step()
        self.replay(1)
        recording.stop()
        [stack] = self.origins(path)
        self.assert_captured_here(stack)

    def test_captured_between_cycles_have_the_stacks_of_their_capture(self):
        recording = Recording(str(self.folder / "run.tell"), Wanted(cuda=True, load=True, samples=True),
                              schedule={"wait": 2, "active": 1, "repeat": 2})
        recording.start()
        for step in range(8):
            if step == 3:
                self.capture(2)
            elif step == 5:
                self.replay(2)
            _recorder.step()
        recording.stop()
        [stack] = self.origins(self.folder / "run.1.tell")
        self.assert_captured_here(stack)

    def test_are_captured_while_another_thread_has_the_gil(self):
        path = self.folder / "run.tell"
        with_gil = ctypes.PyDLL(os.environ["FAKE_CUDA"])
        recording = Recording(str(path), Wanted(cuda=True, load=True, samples=True))
        recording.start()
        capturing = threading.Thread(target=lambda: fake.fake_capture_while_awaited(3))
        capturing.start()
        is_done = with_gil.fake_await_capture(10)
        capturing.join()
        self.replay(3)
        recording.stop()
        self.assertTrue(is_done, "it waited for the GIL")
        [stack] = self.origins(path)
        self.assertIn("test_cuda_recorded.py", stack)

    def test_have_stacks_of_modules_and_of_code_with_any_name(self):
        path = self.folder / "run.tell"
        code = compile("def größe_名(capture): capture(4)", "/x/naïve_😀.py", "exec")
        functions = {}
        exec(code, functions)

        class Captured(torch.nn.Module):
            def forward(self):
                functions["größe_名"](fake.fake_capture)

        recording = Recording(str(path), Wanted(cuda=True, load=True, samples=True))
        recording.start()
        Captured()()
        self.replay(4)
        recording.stop()
        [stack] = self.origins(path)
        innermost, forward, module, *_ = stack.split(";")
        self.assertEqual(innermost, "/x/naïve_😀.py(1): größe_名")
        self.assertTrue(forward.endswith("): forward"), stack)
        self.assertEqual(module, "nn.Module: Captured_0")


if __name__ == "__main__":
    unittest.main()
