"""What `telltale record` brings into Python processes, with a torch and an adapter that are stand-ins.

The stand-ins write down in which order they are called; what real ones do is the matter of test_torch.py."""
import json
import os
import re
import shutil
import subprocess
import sys
import unittest

from record_test import INJECTION, ROOT, RecordTest, main

ATTACH = """
import json, os, shutil
def before_torch(config):
    print("before", flush=True)
    behavior = os.environ.get("BEFORE", "True")
    if behavior == "raise":
        raise RuntimeError("no compiler")
    return behavior == "True"
def after_torch(config):
    import torch
    print("after", torch.__name__, json.dumps(config, sort_keys=True), flush=True)
    if os.environ.get("AFTER") == "raise":
        raise RuntimeError("no recorder")
    shutil.copy(os.environ["SAMPLE"], config["path"].replace("%p", str(os.getpid())))
"""
TORCH = """
import os
print("torch", os.environ.get("KINETO_USE_DAEMON"), flush=True)
if os.environ.pop("BROKEN_ONCE", None):
    raise ImportError("broken once")
"""


class Injection(RecordTest):
    def setUp(self):
        super().setUp()
        package = self.folder / "package" / "telltale"
        shutil.copytree(INJECTION, package / "_inject")
        self.write("package/telltale/__init__.py", "")
        self.write("package/telltale/_capture/__init__.py", "")
        self.attach = self.write("package/telltale/_capture/attach.py", ATTACH)
        self.write("lib/torch/__init__.py", TORCH)
        self.runs = self.folder / "runs"
        self.runs.mkdir()
        self.sample = self.folder / "sample.tell"
        done = self.run_it("convert", ROOT / "examples" / "traces" / "mlp_sync.json.gz", "-o", self.sample)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.variables = {"TELLTALE_PYTHON": self.folder / "package", "PYTHONPATH": self.folder / "lib",
                          "SAMPLE": self.sample, "PYTHONDONTWRITEBYTECODE": "1"}

    def recorded(self, script, *words, python=(), **variables):
        return self.record("--engine", "telltale", "-o", self.runs / "run.tell", "--force", *words, "--",
                           sys.executable, *python, "-c", script, variables={**self.variables, **variables})

    def plain(self, script, **variables):
        process = self.start(sys.executable, "-c", script, stdout=-1, stderr=-1,
                             variables={**self.variables, **variables})
        return process.communicate()

    def test_stands_around_the_import_of_torch(self):
        done = self.recorded("print('start'); import torch; import torch; print('end')", "--steps", 3)
        lines = done.stdout.splitlines()
        self.assertEqual(lines[:3], ["start", "before", "torch None"])
        self.assertTrue(lines[3].startswith("after torch {"), lines)
        self.assertIn('"schedule": {"active": 5, "repeat": 1, "skip_first": 0, "wait": 0, "warmup": 0}', lines[3])
        self.assertEqual(lines[4:], ["end"])
        self.assertEqual(os.listdir(self.runs), ["run.tell"])
        self.assertEqual((self.runs / "run.tell").read_bytes(), self.sample.read_bytes())
        self.assertIn("recorded to", done.stderr)

    def test_both_sides_of_the_protocol_have_the_same_names(self):
        done = self.record("--engine", "kineto", "--", sys.executable, "-c", "import os; print(os.environ['TELLTALE_ATTACH'])",
                           variables=self.variables)
        names = subprocess.run([sys.executable, "-c", "import telltale_attachment as a; print(*vars(a.Attachment({})))"],
                               cwd=INJECTION, capture_output=True, encoding="utf-8", check=True).stdout.split()
        self.assertEqual(sorted(json.loads(done.stdout)), sorted(set(names) - {"values"}))

    @unittest.skipUnless(os.geteuid() == 0, "only root can have two users at once; run it as root")
    def test_a_process_with_more_rights_than_its_starter_is_left_alone(self):
        done = self.recorded("import os, sys; os.setresuid(54321, 0, 0); "
                             "os.execv(sys.executable, [sys.executable, '-c', 'import torch'])")
        self.assertEqual(done.stdout, "torch None\n", done.stderr)

    def test_several_processes_have_a_file_each(self):
        done = self.recorded("import subprocess, sys, torch; subprocess.run([sys.executable, '-c', 'import torch'])")
        self.assertEqual(done.stdout.count("before"), 2)
        self.assertEqual(len(os.listdir(self.runs)), 2)
        self.assertIn("recorded 2 files", done.stderr)

    def test_what_is_said_of_recordings_reads_right_with_0_1_and_2_events_and_files(self):
        child = "; subprocess.run([sys.executable, '-c', 'import torch'])"
        for events, words in ((0, r"process \d+$"), (1, r"process \d+, 1 event in "), (2, r"process \d+, 2 events in ")):
            spans = [{"ph": "X", "cat": "cpu_op", "name": "op", "pid": 1, "tid": 1, "ts": n, "dur": 1} for n in range(events)]
            sample = self.write("sample.json", json.dumps({"schemaVersion": 1, "traceEvents": spans}))
            self.assertEqual(self.run_it("convert", sample, "-o", self.sample, "--force").returncode, 0)
            one = self.recorded("import torch")
            self.assertRegex(one.stderr, r"(?m)^telltale: recorded to runs/run.tell \([\d.]+ (KiB|B)\)$")
            self.assertEqual("the recording is empty: no operator ran" in one.stderr, events == 0, one.stderr)
            two = self.recorded("import subprocess, sys, torch" + child)
            self.assertIn("\ntelltale: recorded 2 files; the diagnosis is for runs/run_", two.stderr)
            self.assertEqual(len(re.findall(rf"(?m)^  runs/run_\d+.tell  \S+ \S+, {words}", two.stderr)), 2, two.stderr)
        none = self.recorded("print('no torch')")
        self.assertIn("telltale: nothing was recorded: no process used CUDA, and no Python process imported torch", none.stderr)

    def test_an_earlier_recording_of_that_name_is_left_alone(self):
        shutil.copy(self.sample, self.runs / "run_1.tell")
        done = self.recorded("import torch")
        self.assertEqual(sorted(os.listdir(self.runs)), ["run.tell", "run_1.tell"])
        self.assertIn("recorded to", done.stderr)

    def test_another_format_is_written_where_the_name_asks_for_it(self):
        done = self.record("--engine", "telltale", "-o", self.runs / "run.json.gz", "--", sys.executable, "-c",
                           "import torch", variables=self.variables)
        self.assertEqual(os.listdir(self.runs), ["run.json.gz"], done.stderr)
        self.assertEqual(self.info(self.runs / "run.json.gz")["events"], self.info(self.sample)["events"])

    def test_without_torch_python_is_as_it_was(self):
        script = "import sys; print(sys.path, sorted(sys.modules), sys.flags, [type(f) for f in sys.path_hooks])"
        expected, _ = self.plain(script)
        done = self.recorded(script)
        ours = done.stdout.replace("'signal', 'site', 'sitecustomize'", "'signal', 'site'")
        self.assertEqual(ours.replace("'site', 'sitecustomize'", "'site'"),
                         expected.replace("'site', 'sitecustomize'", "'site'"))
        self.assertIn("no Python process imported torch with our environment", done.stderr)

    def test_where_we_are_kept_out_it_is_said(self):
        for option in ("-I", "-E", "-S"):
            done = self.recorded("print('ran')", python=(option,))
            self.assertEqual(done.stdout, "ran\n")
            self.assertIn("python -I, -E or -S", done.stderr)

    def test_the_users_own_sitecustomize_runs(self):
        self.write("lib/sitecustomize.py", "import sys; print('mine', __file__, __name__ in sys.modules)\nVALUE = 4\n")
        script = "import sitecustomize; print(sitecustomize.VALUE, sitecustomize.__file__)"
        self.assertEqual(self.recorded(script).stdout, self.plain(script)[0])
        self.assertEqual(self.recorded(script).stdout.count("mine"), 1)

    def test_errors_in_the_users_own_sitecustomize_are_told_as_ever(self):
        for text in ("raise ValueError('odd')", "import no_such_module", "import sys; sys.exit(4)"):
            self.write("lib/sitecustomize.py", text)
            output, errors = self.plain("print('ran')")
            done = self.recorded("print('ran')")
            self.assertEqual(done.stdout, output)
            if errors and "Traceback" not in errors:
                self.assertTrue(done.stderr.startswith(errors), (done.stderr, errors))

    def test_where_we_cannot_record_pytorch_is_told_to_ask(self):
        done = self.recorded("import torch", BEFORE="False")
        self.assertEqual(done.stdout, "before\ntorch 1\n")
        self.assertIn("the process ended before PyTorch's profiler asked what to record", done.stderr)
        done = self.recorded("import torch", BEFORE="raise")
        self.assertEqual(done.stdout, "before\ntorch 1\n")
        sentence = "telltale: PyTorch's own profiler records instead, since telltale cannot record in this Python: no compiler\n"
        self.assertTrue(done.stderr.startswith(sentence), done.stderr)

    def test_a_package_that_does_not_import_is_no_harm(self):
        self.attach.unlink()
        done = self.recorded("import torch; print('ran')")
        self.assertEqual((done.returncode, done.stdout), (0, "torch 1\nran\n"))
        self.assertIn("No module named 'telltale._capture.attach'", done.stderr)

    def test_the_interpreters_own_telltale_goes_first(self):
        self.write("lib/telltale/__init__.py", "")
        self.write("lib/telltale/_capture/__init__.py", "")
        self.write("lib/telltale/_capture/attach.py", ATTACH.replace('"before"', '"own before"'))
        self.assertTrue(self.recorded("import torch").stdout.startswith("own before\n"))

    def test_a_failure_after_the_import_is_no_harm(self):
        done = self.recorded("import torch; print('ran')", AFTER="raise")
        self.assertTrue(done.stdout.endswith("ran\n"))
        self.assertIn("no recorder", done.stderr)
        self.assertIn("imported torch but wrote no recording", done.stderr)

    def test_an_import_that_fails_is_tried_again_as_ever(self):
        done = self.recorded("""
try:
    import torch
except ImportError as error:
    print(error)
import torch
""", BROKEN_ONCE="1")
        self.assertEqual([line.split(" {")[0] for line in done.stdout.splitlines()],
                         ["before", "torch None", "broken once", "before", "torch None", "after torch"])

    def test_no_torch_there_fails_as_ever(self):
        script = "import importlib.util as u; print(u.find_spec('torch')); import torch"
        shutil.rmtree(self.folder / "lib" / "torch")
        done = self.recorded(script)
        self.assertEqual(done.returncode, 1)
        self.assertEqual(done.stdout, "None\n")
        self.assertIn("ModuleNotFoundError: No module named 'torch'", done.stderr)

    def test_looking_for_torch_without_importing_it_is_no_import(self):
        done = self.recorded("import importlib.util as u; print(u.find_spec('torch') is None); import torch")
        self.assertEqual([line.split(" {")[0] for line in done.stdout.splitlines()],
                         ["False", "before", "torch None", "after torch"])

    def test_the_command_is_stopped_once_it_is_recorded(self):
        done = self.recorded("import torch, time; print('on', flush=True); time.sleep(100)", "--steps", 1,
                             "--stop-when-recorded")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("recorded to", done.stderr)

    def test_a_recording_is_diagnosed_though_its_process_was_killed(self):
        done = self.recorded("import torch, os; os.kill(os.getpid(), 9)")
        self.assertEqual(done.returncode, 137)
        self.assertIn("ended by signal 9", done.stderr)
        self.assertIn("A step takes", done.stderr)

    def test_the_diagnosis_is_what_analyze_prints(self):
        done = self.recorded("import torch", "--steps", 3)
        analyzed = self.run_it("analyze", self.runs / "run.tell").stdout
        self.assertIn(analyzed.split("\n", 1)[1], done.stderr)
        self.assertNotIn("A step takes", self.recorded("import torch", "--no-analyze").stderr)


if __name__ == "__main__":
    main()
