"""When a recording attaches to the GPU and lets go of it, with a library for devices that notes what it is asked."""
import io
import os
import tempfile
import unittest
from contextlib import ExitStack, redirect_stderr
from pathlib import Path
from unittest import mock

import telltale.torch
import torch
from recorded import Recorded
from telltale import _recorder
from telltale._capture import Recording, Wanted, attach, cuda, cuda_begins, gauges
from telltale._capture import recording as recording_module
from telltale._capture.devices import CALLS, DevicesUnavailable, has_gpu, load_devices
from telltale._inject import telltale_say
from torch.profiler import ProfilerActivity


class FakeDevices:
    def __init__(self):
        self.asked = []
        self.gauges = []
        self.problem = ""

    def start_cuda(self, calls, _stack_source, *, continues):
        self.asked.append("start" if calls == "chosen" else f"start ({calls})")
        self._fail()

    def stop_cuda(self):
        self.asked.append("stop, recorded" if _recorder.is_recording() else "stop")

    def watch_graphs(self, _stack_source):
        self.asked.append("watch graphs")
        self._fail()

    def start_gauges(self, *, of_gpus):
        self.gauges.append(f"with GPUs of {os.environ.get('CUDA_VISIBLE_DEVICES')}" if of_gpus else "without GPUs")
        if not of_gpus:
            raise DevicesUnavailable("there are none")

    def stop_gauges(self):
        self.gauges.append("stop")

    def _fail(self):
        if self.problem:
            raise DevicesUnavailable(self.problem)


class Case(unittest.TestCase):
    def setUp(self):
        self.devices = FakeDevices()
        self.is_initialized = self.can_have_gpu = True
        self.is_capturing = False
        self.looks = 1  # until the GPU has done all it was asked for
        self.queued = []
        stack = ExitStack()
        self.addCleanup(stack.close)
        self.path = str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "run.tell")
        self.said = stack.enter_context(redirect_stderr(io.StringIO()))
        for place, name, value in (
            (cuda, "can_have_gpu", lambda: True),
            (recording_module, "can_have_gpu", lambda: True),
            (cuda, "load_devices", lambda: self.devices),
            (cuda_begins, "_waiting", {}),
            (gauges, "load_devices", lambda: self.devices),
            (gauges, "can_have_gpu", lambda: self.can_have_gpu),
            (telltale_say, "_said", set()),
            (torch.cuda, "is_initialized", lambda: self.is_initialized),
            (torch.cuda, "is_current_stream_capturing", lambda: self.is_capturing),
            (torch.cuda, "_lazy_call", lambda act: self.queued.append(act)),
            (torch.cuda, "current_stream", lambda: mock.Mock(query=self.has_gpu_ended)),
        ):
            stack.enter_context(mock.patch.object(place, name, value))

    def has_gpu_ended(self):
        self.devices.asked.append("look")
        self.looks -= 1
        return self.looks <= 0

    def recording(self, wanted=None, **options):
        return Recording(self.path, wanted or Wanted(cuda=True), **options)

    def steps(self, count):
        for _ in range(count):
            self.devices.asked.append("|")
            _recorder.step()

    @property
    def asked(self):
        return " ".join(self.devices.asked)


class Attaching(Case):
    def test_lasts_as_long_as_the_recording(self):
        recording = self.recording()
        recording.start()
        self.assertEqual(self.asked, "start")
        recording.stop()
        self.assertEqual(self.asked, "start stop, recorded")

    def test_needs_somebody_who_wants_it(self):
        recording = self.recording(Wanted(load=True))
        recording.start()
        recording.stop()
        self.assertEqual(self.asked, "")

    def test_can_be_done_before_the_recording_begins(self):
        recording = self.recording(Wanted(cuda=True, cuda_calls="as called"))
        recording.prepare()
        self.assertEqual(self.asked, "start (as called)")
        recording.start()
        recording.stop()
        self.assertEqual(self.devices.asked[-1], "stop, recorded")

    def test_waits_for_the_program_to_initialize_cuda(self):
        self.is_initialized = False
        recording = self.recording()
        recording.start()
        self.assertEqual(self.asked, "")
        [attach] = self.queued
        attach()
        self.assertEqual(self.asked, "start")
        recording.stop()
        self.assertEqual(self.asked, "start stop, recorded")
        attach()
        self.assertEqual(self.asked, "start stop, recorded", "the recording is over")

    def test_of_a_later_recording_takes_the_place_of_one_that_waits(self):
        self.is_initialized = False
        for _ in range(2):
            recording = self.recording()
            recording.start()
            recording.stop()
        recording = self.recording()
        recording.start()
        [attach] = self.queued
        attach()
        self.assertEqual(self.asked, "start")
        recording.stop()

    def test_that_fails_in_the_programs_own_initialization_does_not_disturb_it(self):
        self.is_initialized = False
        self.devices.start_cuda = mock.Mock(side_effect=ValueError("out of order"))
        recording = self.recording()
        recording.start()
        self.queued[0]()
        recording.stop()
        self.assertEqual(self.said.getvalue(), "telltale: the GPU is not recorded: out of order\n")

    def test_that_fails_is_said_once_and_disturbs_nobody(self):
        self.devices.problem = "CUPTI was not found"
        recording = self.recording()
        recording.start()
        recording._follow(False)
        recording._follow(True)
        recording.stop()
        self.assertEqual(self.said.getvalue(), "telltale: the GPU is not recorded: CUPTI was not found\n")
        self.assertEqual(self.asked, "start")
        self.assertEqual(recording.why_no_gpu(), "CUPTI was not found")

    def test_is_undone_when_the_recording_cannot_begin(self):
        recording = Recording("/nowhere/at/all.tell", Wanted(cuda=True))
        recording.prepare()
        with self.assertRaises(RuntimeError):
            recording.start()
        self.assertEqual(self.asked, "start stop")

    def test_is_left_alone_by_a_forked_child(self):
        recording = self.recording()
        recording.start()
        child = os.fork()
        if child == 0:
            recording._cuda.stop()
            os._exit(len(self.devices.asked) - 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        recording.stop()


class Pausing(Case):
    def test_lets_go_of_the_gpu_for_the_steps_of_a_pause(self):
        recording = self.recording(pauses=True)
        recording.start()
        self.steps(80)
        recording.stop()
        changes = [word for word in self.devices.asked if word not in ("|", "look")]
        self.assertEqual(changes[:4], ["start", "stop, recorded", "watch graphs", "start"])
        self.assertEqual(changes[-1], "stop, recorded")

    def test_waits_for_the_gpu_behind_it_so_that_its_steps_have_their_time(self):
        self.looks = 3
        recording = self.recording(pauses=True)
        recording.start()
        self.steps(40)
        recording.stop()
        changes = [word for word in self.devices.asked if word != "|"]
        self.assertEqual(changes[:7], ["start", "stop, recorded", "watch graphs", "look", "look", "look", "start"])
        recorded = Recorded(self.path)
        [wait, *_] = recorded.named("UnrecordedWait")
        left_out = recorded.named("UnrecordedStep")[:6]
        self.assertLessEqual(left_out[-1]["ts"] + left_out[-1]["dur"], wait["ts"])

    def test_that_ends_the_recording_tells_what_the_gpu_had_still_to_do(self):
        self.looks = 10**9  # it never ends
        recording = self.recording(pauses=True)
        recording.start()
        while "stop, recorded" not in self.devices.asked:
            self.steps(1)
        with mock.patch.object(cuda, "_LONGEST_WAIT_NS", 20_000_000):
            recording.stop()
        self.assertGreaterEqual(int(Recorded(self.path).header["unrecorded_wait_ns"]), 20_000_000)

    def test_that_the_program_waits_behind_has_its_steps_measured_by_the_gpu(self):
        """The host launches all steps at once and waits for the GPU itself, before the recording ends."""
        recorded = []

        class Event:
            def __init__(self, enable_timing):
                self.recorded = 0

            def record(self):
                recorded.append(self)
                self.recorded = len(recorded)

            def query(self):
                return True

            def elapsed_time(self, later):
                return 1000.0 * (later.recorded - self.recorded)  # a second for each mark

        parameter = torch.zeros(1, requires_grad=True)
        optimizer = torch.optim.SGD([parameter], lr=0.1)
        recording = self.recording(Wanted(cuda=True, find_steps=True), pauses=True)
        with mock.patch.object(torch.cuda, "Event", Event):
            recording.start()
            while "stop, recorded" not in self.devices.asked:
                optimizer.step()
            recorded.clear()
            recording._cuda.begin_pause()
            for _ in range(5):
                optimizer.step()
            recording.stop()
        self.assertEqual(len(recorded), 5, "one for each step")
        behind_ns = int(Recorded(self.path).header["unrecorded_wait_ns"])
        self.assertLess(behind_ns, 4_000_000_000)
        self.assertGreater(behind_ns, 3_500_000_000, "four seconds, less what the host took")

    def test_goes_on_while_a_graph_is_captured(self):
        recording = self.recording()
        recording.start()
        self.is_capturing = True
        recording._follow(False)
        self.assertEqual(self.asked, "start")
        self.is_capturing = False
        recording._follow(True)
        recording._follow(False)
        self.assertEqual(self.asked, "start start stop, recorded watch graphs")
        recording.stop()

    def test_does_not_end_while_a_graph_is_captured(self):
        recording = self.recording()
        recording.start()
        recording._follow(False)
        self.is_capturing = True
        recording._follow(True)
        self.assertEqual(self.asked, "start stop, recorded watch graphs")
        self.is_capturing = False
        recording._follow(False)
        recording._follow(True)
        self.assertEqual(self.asked, "start stop, recorded watch graphs stop, recorded watch graphs start")
        recording.stop()


class Schedules(Case):
    def run_schedule(self, steps, **schedule):
        recording = self.recording(schedule=schedule, pauses=True)
        recording.start()
        self.steps(steps)
        recording.stop()
        return self.asked

    def test_attach_in_the_warm_up_and_let_go_before_the_file_ends(self):
        asked = self.run_schedule(8, wait=2, warmup=2, active=2, repeat=1)
        # Started again when the recording begins, which changes nothing.
        self.assertEqual(asked, "watch graphs | | start | | start | | stop, recorded | |")

    def test_count_no_step_as_unrecorded_in_which_they_warm_up(self):
        self.run_schedule(9, wait=2, warmup=2, active=2, repeat=1)
        told = Recorded(self.path).header["unrecorded_steps"]
        self.assertEqual([(each["when"], each["first"], len(each["took_ns"])) for each in told],
                         [("before", 0, 2), ("after", 6, 3)])

    def test_attach_at_once_where_they_begin_with_the_warm_up(self):
        asked = self.run_schedule(4, warmup=1, active=2, repeat=1)
        self.assertEqual(asked, "start | start | | stop, recorded |")

    def test_without_a_warm_up_attach_when_the_recording_begins(self):
        asked = self.run_schedule(4, wait=1, active=1, repeat=2)
        self.assertEqual(asked, "watch graphs | start | stop, recorded watch graphs | start | stop, recorded")

    def test_watch_graphs_between_cycles_and_not_behind_the_last(self):
        asked = self.run_schedule(9, wait=1, warmup=1, active=1, repeat=2)
        self.assertEqual(asked, "watch graphs | start | start | stop, recorded watch graphs"
                                " | start | start | stop, recorded | | |")

    def test_watch_graphs_behind_each_cycle_where_none_is_the_last(self):
        asked = self.run_schedule(4, wait=1, active=1)
        self.assertEqual(asked, "watch graphs | start | stop, recorded watch graphs"
                                " | start | stop, recorded watch graphs stop")


class BesideTorchsProfiler(Case):
    def profile(self):
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            self.devices.asked.append("|")
            torch.ones(3).add(1)

    def test_steps_aside_and_comes_back(self):
        recording = self.recording()
        recording.start()
        self.profile()
        self.assertEqual(self.asked, "start stop, recorded | start")
        self.profile()
        recording.stop()
        self.assertEqual(self.asked, "start stop, recorded | start stop, recorded | start stop, recorded")
        self.assertEqual(self.said.getvalue().count("PyTorch's profiler was started by the program"), 1)

    def test_stays_aside_for_pauses_that_begin_and_end_meanwhile(self):
        recording = self.recording()
        recording.start()
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CPU]):
            recording._follow(False)
            recording._follow(True)
            self.assertEqual(self.asked, "start stop, recorded")
        self.assertEqual(self.asked, "start stop, recorded start")
        recording.stop()

    def test_says_where_the_gpu_ends_if_it_cannot_come_back(self):
        recording = self.recording()
        recording.start()
        self.devices.problem = "another profiler uses CUPTI"
        self.profile()
        recording.stop()
        self.assertIn("the GPU is recorded no more", self.said.getvalue())
        self.assertIn("another profiler uses CUPTI", self.said.getvalue())

    def test_leaves_torchs_profiler_as_it_was(self):
        from torch.autograd import profiler

        before = (profiler._prepare_profiler, profiler._disable_profiler)
        recording = self.recording()
        recording.start()
        self.assertIsNot(profiler._prepare_profiler, before[0])
        recording.stop()
        self.assertEqual((profiler._prepare_profiler, profiler._disable_profiler), before)


class Gauges(Case):
    def setUp(self):
        super().setUp()
        change = mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES="0,1")
        change.start()
        self.addCleanup(change.stop)
        self.is_initialized = False

    def test_of_gpus_begin_with_cuda_which_numbers_them_then(self):
        recording = self.recording(Wanted(load=True))
        recording.start()
        self.assertEqual(self.devices.gauges, ["without GPUs"])
        os.environ["CUDA_VISIBLE_DEVICES"] = "3"
        [begin] = self.queued
        begin()
        self.assertEqual(self.devices.gauges, ["without GPUs", "with GPUs of 3"])
        recording.stop()
        begin()
        self.assertEqual(self.devices.gauges, ["without GPUs", "with GPUs of 3", "stop"])

    def test_are_all_read_at_once_where_torch_has_no_cuda(self):
        self.can_have_gpu = False
        recording = self.recording(Wanted(load=True))
        recording.start()
        recording.stop()
        self.assertEqual((self.devices.gauges, self.queued), (["with GPUs of 0,1", "stop"], []))


class DropIn(Case):
    def profile(self):
        with mock.patch.object(torch.cuda, "is_available", lambda: True):
            profile = telltale.torch.profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA])
            with mock.patch.object(torch.profiler._KinetoProfile, "prepare_trace") as torchs:
                profile.prepare_trace()
        return profile, torchs

    def test_records_the_gpu_as_torch_would(self):
        profile, torchs = self.profile()
        self.assertEqual(self.asked, "start (as called)")
        torchs.assert_not_called()
        with mock.patch.object(torch.cuda, "synchronize", lambda: self.devices.asked.append("wait")):
            profile.start_trace()
            profile.stop_trace()
        self.assertEqual(self.devices.asked[-2:], ["wait", "stop, recorded"])

    def test_leaves_all_to_torch_where_the_gpu_cannot_be_recorded(self):
        from torch.autograd import profiler

        before = profiler._prepare_profiler
        self.devices.problem = "another profiler uses CUPTI"
        profile, torchs = self.profile()
        torchs.assert_called_once()
        self.assertFalse(profile._is_ours)
        self.assertIn("torch.profiler records instead of Telltale", self.said.getvalue())
        self.assertIs(profiler._prepare_profiler, before)

    def test_leaves_the_gpu_out_for_a_while_where_it_is_told_to(self):
        profile, _ = self.profile()
        with mock.patch.object(torch.cuda, "synchronize", lambda: None):
            profile.start_trace()
            profile.toggle_collection_dynamic(False, [ProfilerActivity.CUDA])
            profile.toggle_collection_dynamic(True, [ProfilerActivity.CUDA])
            profile.stop_trace()
        self.assertEqual([word.partition(" ")[0] for word in self.devices.asked],
                         ["start", "start", "stop,", "start", "stop,"])

    def test_asks_for_no_gpu_where_only_the_cpu_is_to_be_recorded(self):
        with telltale.torch.profile(activities=[ProfilerActivity.CPU]):
            torch.ones(3).add(1)
        self.assertEqual(self.asked, "")


class BeforeTorch(unittest.TestCase):
    """Where a process that `telltale record` started has a GPU which our library cannot record."""

    def can_record(self, engine, problem=None, is_gpu_there=True):
        def load():
            if problem:
                raise DevicesUnavailable(problem)
            return mock.Mock()

        with redirect_stderr(io.StringIO()) as self.said, \
                mock.patch("telltale._capture.devices.load_devices", load), \
                mock.patch("telltale._capture.devices.has_gpu", lambda: is_gpu_there), \
                mock.patch("telltale._capture.torch_place.TorchPlace.has_cuda", lambda _: True), \
                mock.patch("telltale._capture.adapter.build_adapter"):
            return attach.before_torch({"engine": engine})

    def test_pytorchs_profiler_records_unless_ours_was_asked_for(self):
        self.assertFalse(self.can_record("auto", "the library for devices does not load"))
        self.assertIn("does not load; PyTorch's own profiler records instead", self.said.getvalue())
        self.assertTrue(self.can_record("telltale", "the library for devices does not load"))
        self.assertEqual(self.said.getvalue(), "")

    def test_we_record_where_the_library_works_or_nobody_needs_it(self):
        self.assertTrue(self.can_record("auto"))
        self.assertTrue(self.can_record("auto", "the library for devices does not load", is_gpu_there=False))


class Library(unittest.TestCase):
    def test_loads_and_says_why_it_cannot_record(self):
        devices = load_devices()
        for calls in CALLS:
            options = devices._cuda_options(calls, 0)
            self.assertGreater(options.buffer_mib, 0, "the library's own defaults")
            self.assertEqual(options.calls, CALLS.index(calls))

    def test_is_not_asked_where_no_gpu_is_to_be_seen(self):
        for hidden in ("", "-1", " "):
            with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES=hidden), \
                    mock.patch("os.path.exists", lambda _: True):
                self.assertFalse(has_gpu())
        with mock.patch.dict(os.environ, CUDA_VISIBLE_DEVICES="1"):
            with mock.patch("os.path.exists", lambda path: path == "/dev/nvidiactl"):
                self.assertTrue(has_gpu())
            with mock.patch("os.path.exists", lambda _: False):
                self.assertFalse(has_gpu())


if __name__ == "__main__":
    unittest.main()
