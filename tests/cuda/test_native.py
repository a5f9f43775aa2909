"""`telltale record` with CUDA programs that know nothing of it; the driver and CUPTI are stand-ins."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from record_test import PROGRAM, RecordTest, main

DEVICES, FAKE_CUDA, SERVER, STATIC_SERVER, PLAIN_SERVER = (
    os.environ[name] for name in ("DEVICES", "FAKE_CUDA", "SERVER", "SERVER_WITH_OWN_RECORDER", "SERVER_WITHOUT_SCOPES"))
# The Python package's library, whose recorder is another file than the one that the server is linked with.
PACKAGED = Path(DEVICES).parents[1] / "python" / "telltale" / "lib" / "libtelltale_devices.so"
# Two recorders in one process are meant, which a sanitizer takes for an error.
CUDA = {"TELLTALE_CUDA_LIBRARY": FAKE_CUDA, "TELLTALE_CUPTI_LIBRARY": FAKE_CUDA, "ASAN_OPTIONS": "detect_odr_violation=0"}


class Native(RecordTest):
    def serve(self, *words, options=(), **variables):
        return self.record("--engine", "telltale", "-o", "run.tell", *options, "--", *words, variables={**CUDA, **variables})

    def events(self, name="run.tell"):
        done = self.run_it("convert", name, "-o", "run.json", "--force")
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads((self.folder / "run.json").read_text(encoding="utf-8"))["traceEvents"]
        return [row for row in rows if row["ph"] == "X"]

    def counts(self, *names, path="run.tell"):
        found = [row["name"] for row in self.events(path)]
        return tuple(found.count(name) for name in names)

    def test_kernels_and_launches_of_a_program_without_changes_are_recorded(self):
        for end in ("return", "exit"):
            with self.subTest(end):
                done = self.serve(PLAIN_SERVER, 50, end, options=["--force"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertRegex(done.stderr, r"(?m)^telltale: recorded to run.tell ")
                self.assertEqual(self.files("*.tell"), ["run.tell"])
                events = self.events()
                kernels = [row for row in events if row["name"] == "work(float*)"]
                launches = [row for row in events if row["name"] == "cuLaunchKernel"]
                self.assertEqual((len(kernels), len(launches)), (50, 50))
                self.assertEqual({row["args"]["correlation"] for row in kernels},
                                 {row["args"]["correlation"] for row in launches})
                self.assertEqual({round(row["dur"]) for row in kernels}, {20})
                self.assertNotIn("cut off", done.stderr)

    def without_package(self):
        """The command with the library for devices and without the Python package, as a native installation has it."""
        program = self.folder / "installed" / "bin" / "telltale"
        library = self.folder / "installed" / "lib" / "libtelltale_devices.so"
        for path in (program, library):
            path.parent.mkdir(parents=True)
        shutil.copy(PROGRAM, program)
        library.symlink_to(DEVICES)
        return program

    def test_without_the_package_steps_leave_nothing_unrecorded_and_the_sentences_are_true(self):
        for options, said in (
            ([], "PyTorch's own profiler records PyTorch instead, and CUDA programs without it are recorded as ever"),
            (["--engine", "telltale"], "only CUDA programs without PyTorch are recorded"),
        ):
            with self.subTest(options):
                done = subprocess.run(
                    [self.without_package(), "record", *options, "--steps", "3", "-o", "run.tell", "--force", "--no-analyze",
                     "--", PLAIN_SERVER, "50"],
                    capture_output=True, encoding="utf-8", cwd=self.folder, env=self.environment(**CUDA), timeout=60)
                shutil.rmtree(self.folder / "installed")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertIn(f"; {said}\n", done.stderr)
                self.assertNotIn("nothing was recorded", done.stderr)
                self.assertEqual(self.counts("work(float*)", "cuLaunchKernel"), (50, 50))

    def test_a_schedule_that_waits_for_steps_of_a_program_without_any_says_so(self):
        done = self.serve(PLAIN_SERVER, 50, options=["--wait", 1, "--active", 2])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("telltale: nothing was recorded: a program used CUDA and told of too few steps", done.stderr)

    def test_scopes_of_the_program_stand_in_the_same_file(self):
        for server in (SERVER, STATIC_SERVER):
            with self.subTest(server):
                done = self.serve(server, 50, options=["--force"])
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual(self.files("*.tell"), ["run.tell"])
                self.assertEqual(self.info("run.tell")["anomalies"], [])
                events = sorted(self.events(), key=lambda row: row["ts"])
                requests, launches, kernels = ([row for row in events if row["name"] == name]
                                               for name in ("request", "cuLaunchKernel", "work(float*)"))
                self.assertEqual((len(requests), len(launches), len(kernels)), (50, 50, 50))
                for request, launch in zip(requests, launches):
                    self.assertEqual(request["tid"], launch["tid"])
                    self.assertLessEqual(request["ts"], launch["ts"])

    def test_a_program_that_leaves_in_haste_or_is_killed_leaves_a_file_with_kernels(self):
        for end, code in (("_exit", 0), ("kill", 137)):
            with self.subTest(end):
                done = self.serve(PLAIN_SERVER, 50, end, options=["--force"])
                self.assertEqual(done.returncode, code, done.stderr)
                self.assertEqual(self.counts("work(float*)", "cuLaunchKernel"), (50, 50))

    def test_a_forked_child_disturbs_nothing(self):
        done = self.serve(SERVER, 50, "fork")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files("*.tell"), ["run.tell"])
        self.assertEqual(self.counts("work(float*)", "request"), (50, 50))

    def test_so_many_seconds_are_recorded(self):
        done = self.serve(SERVER, 50, "seconds", options=["--seconds", "0.2"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.counts("work(float*)", "request"), (50, 50))

    def test_a_program_that_records_itself_is_left_alone(self):
        done = self.serve(SERVER, 50, "own", self.folder / "own.tell")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("telltale: CUDA is not recorded in process ", done.stderr)
        self.assertIn(": the program records itself\n", done.stderr)
        self.assertEqual(self.files("*.tell"), ["own.tell"])
        self.assertEqual(self.counts("request", "cuLaunchKernel", path="own.tell"), (50, 0))

    def test_without_cupti_one_line_says_so_and_the_rest_is_recorded(self):
        done = self.serve(SERVER, 50, TELLTALE_CUPTI_LIBRARY="/nowhere/libcupti.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(re.findall("CUDA is not recorded in process \\d+: /nowhere/libcupti.so cannot be opened\n", done.stderr)),
                         1, done.stderr)
        self.assertEqual(self.counts("request", "work(float*)"), (50, 0))

    def test_what_another_tool_has_set_is_left_to_it(self):
        done = self.serve(PLAIN_SERVER, 50, CUDA_INJECTION64_PATH="/nowhere/libtool.so", NVTX_INJECTION64_PATH="/nowhere/x.so")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("telltale: CUDA_INJECTION64_PATH is set for another tool; CUDA is not recorded in programs without PyTorch\n",
                      done.stderr)
        self.assertIn("telltale: NVTX_INJECTION64_PATH is set for another tool; NVTX ranges are not recorded", done.stderr)
        self.assertIn("telltale: nothing was recorded: no process used CUDA", done.stderr)

    def test_pytorchs_profiler_has_cuda_for_itself(self):
        done = self.record("--engine", "kineto", "--", sys.executable, "-c",
                           "import os; print([name for name in os.environ if 'INJECTION64' in name])", variables=CUDA)
        self.assertEqual(done.stdout, "[]\n", done.stderr)

    @unittest.skipIf(b"libasan" in Path(FAKE_CUDA).read_bytes(), "Python has no sanitizer, and cannot load what has one")
    def test_who_records_the_process_otherwise_can_end_the_session(self):
        done = self.serve(sys.executable, "-c", f"import ctypes, os; ctypes.CDLL({FAKE_CUDA!r}).cuInit(0); "
                          "ours = ctypes.CDLL(os.environ['CUDA_INJECTION64_PATH']); "
                          "print(ours.telltale_injected_stop(), ours.telltale_injected_stop()); os._exit(0)")
        self.assertEqual(done.stdout.splitlines()[:1], ["0 3"], done.stderr)  # OK, NOT_STARTED
        self.assertEqual(self.counts("CUPTI start", "CUPTI stop"), (1, 1))

    @unittest.skipIf(b"libasan" in Path(FAKE_CUDA).read_bytes(), "Python has no sanitizer, and cannot load what has one")
    def test_python_without_torch_is_recorded_and_with_torch_left_to_the_package(self):
        script = f"import ctypes, sys; [ctypes.CDLL(path) for path in sys.argv[1:]]; ctypes.CDLL({FAKE_CUDA!r}).cuInit(0)"
        done = self.serve(sys.executable, "-c", script)
        self.assertEqual((done.returncode, self.counts("CUPTI start", "CUPTI stop")), (0, (1, 1)), done.stderr)
        torch = self.folder / "libtorch_python.so"
        shutil.copy(FAKE_CUDA, torch)
        done = self.serve(sys.executable, "-c", script, torch, options=["--force"])
        self.assertIn("nothing was recorded", done.stderr)

    @unittest.skipUnless(os.geteuid() == 0, "only root can have two users at once; run it as root")
    def test_a_process_with_more_rights_than_its_starter_is_left_alone(self):
        become = f"import os; os.setresuid(54321, 0, 0); os.execv({PLAIN_SERVER!r}, [{PLAIN_SERVER!r}, '50'])"
        done = self.serve(sys.executable, "-c", become)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("nothing was recorded", done.stderr)

    @unittest.skipUnless(PACKAGED.exists(), "this build has no Python package")
    def test_a_second_recorder_in_the_process_does_nothing(self):
        done = subprocess.run([SERVER, "50"], capture_output=True, encoding="utf-8", cwd=self.folder, timeout=60,
                              env=self.environment(TELLTALE_RECORD="own.tell", CUDA_INJECTION64_PATH=PACKAGED, **CUDA))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.counts("request", path="own.tell"), (50,))
        done = self.serve(SERVER, 50, TELLTALE_PYTHON=PACKAGED.parents[2])
        self.assertEqual(self.counts("request", "work(float*)"), (50, 50), done.stderr)


if __name__ == "__main__":
    main()
