"""`telltale record` and a real PyTorch on the CPU: training scripts that nobody changed, by both engines.

The scripts count for themselves what they do; that is what recordings are compared with."""
import json
import os
import re
import signal
import sys
import time
import unittest

from record_test import PATIENCE, PROGRAM, RecordTest, main

# Two linear layers, so two aten::addmm a step. Ends when told to, or after so many steps.
TRAIN = """
import sys, time, torch
torch.set_num_threads(1)
steps = int(sys.argv[1])
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(steps):
    loss = model(torch.randn(8, 16)).sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step == 0:
        print("training", flush=True)
    time.sleep(0.01)
print("steps", steps)
"""
# No optimizer, no loader, no annotation: nothing says where a step ends.
SCORE = """
import torch
torch.set_num_threads(1)
model = torch.nn.Sequential(torch.nn.Linear(16, 32), torch.nn.ReLU(), torch.nn.Linear(32, 4))
with torch.no_grad():
    for batch in range(30):
        model(torch.randn(8, 16))
"""
RANKS = """
import os, torch, torch.distributed as distributed
torch.set_num_threads(1)
distributed.init_process_group("gloo")
model = torch.nn.parallel.DistributedDataParallel(torch.nn.Linear(8, 8))
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for step in range(10 + distributed.get_rank()):
    with model.no_sync():
        model(torch.randn(2, 8)).sum().backward()
    optimizer.step()
distributed.barrier()
distributed.destroy_process_group()
"""
# Each step keeps a tensor of 1,024 × 1,024 numbers of four bytes.
LEAK = """
import torch
torch.set_num_threads(1)
kept = []
model = torch.nn.Linear(16, 4)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
def keep():
    kept.append(torch.ones(1024, 1024))
for step in range(20):
    model(torch.randn(8, 16)).sum().backward()
    keep()
    optimizer.step()
    optimizer.zero_grad()
"""
FAKE_NVML = os.environ.get("FAKE_NVML")
STEPS = 120  # enough for a second stretch that is recorded, also where recording costs much
FOR_EVER = 30000  # five minutes: what a test leaves behind by mistake does not stay


class Torch(RecordTest):
    def setUp(self):
        super().setUp()
        self.script = self.write("train.py", TRAIN)

    def names_in_json(self, path):
        return [event.get("name") for event in json.loads(path.read_text())["traceEvents"] if event.get("ph") == "X"]


class OurAdapter(Torch):
    def test_records_a_whole_run(self):
        done = self.record("--engine", "telltale", "--no-pauses", "--", sys.executable, self.script, 20)
        self.assertEqual((done.returncode, done.stdout), (0, "training\nsteps 20\n"), done.stderr)
        [name] = self.files("*.tell")
        self.assertRegex(name, r"^telltale_train_\d{8}-\d{6}\.tell$")
        self.assertEqual(self.calls(name, "aten::addmm"), 2 * 20)
        self.assertEqual(len(self.info(name)["steps"]), 20)
        self.assertRegex(done.stderr, rf"{name} · CPU · \d+ steps")  # fewer than 18 where a busy machine makes outliers
        self.assertIn("Note: The first 2 steps warm up and are left out; choose steps 0.. to include them.", done.stderr)
        self.assertIn(f"next: telltale view {name}", done.stderr)
        again = self.run_it("analyze", name)
        self.assertEqual((again.returncode, again.stderr), (0, ""))
        self.assertIn("\n" + again.stdout, done.stderr)

    def test_names_what_every_step_leaves_behind(self):
        script = self.write("leak.py", LEAK)
        done = self.record("--engine", "telltale", "--memory", "-o", "leak.tell", "--", sys.executable, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(self.run_it("analyze", "--json", "leak.tell").stdout)
        [leak] = [finding for finding in answer["findings"] if finding["rule"] == "memory_leak"]
        self.assertEqual(leak["title"], "Every step leaves 4.00 MiB of memory allocated")
        self.assertIn("allocated by aten::ones and never freed", leak["explanation"])
        self.assertIn("The machine's memory will be full after about ", leak["explanation"])
        self.assertEqual(leak["source"]["function"], "keep")
        self.assertEqual(answer["memory"]["device"], -1)

    def test_records_the_steps_that_were_asked_for(self):
        done = self.record("--engine", "telltale", "--steps", 5, "-o", "run.json", "--", sys.executable, self.script,
                           20)
        self.assertEqual(done.returncode, 0, done.stderr)
        # The two before them warm up.
        self.assertEqual(self.names_in_json(self.folder / "run.json").count("aten::addmm"), 2 * (2 + 5))
        self.assertIn("run.json · CPU · 5 steps", done.stderr)

    @unittest.skipUnless(FAKE_NVML, "no NVML to read")
    def test_gauges_are_counters_of_the_recording(self):
        done = self.record("-o", "run.tell", "--no-analyze", "--no-pauses", "--", sys.executable, self.script, STEPS,
                           variables={"TELLTALE_NVML_LIBRARY": FAKE_NVML, "FAKE_NVML_DEVICES": 1})
        self.assertEqual(done.returncode, 0, done.stderr)
        answered = self.run_it("analyze", "run.tell", "--json", "--steps", "2..", "--price", 0.3)
        self.assertEqual(answered.returncode, 0, answered.stderr)
        diagnosis = json.loads(answered.stdout)
        gpu = next(device for device in diagnosis["energy"]["devices"] if device["name"] == "GPU 0")
        self.assertGreaterEqual(gpu["readings"], 5)
        self.assertEqual(gpu["limit_watts"], 700)
        self.assertEqual(gpu["memory_headroom_bytes"], 60_000_000_000)
        self.assertEqual(diagnosis["energy"]["samples_per_step"], 8)
        self.assertGreater(diagnosis["cost"]["money"], 0)

    def test_steps_of_a_program_that_has_none_or_fewer_are_what_there_is(self):
        script = self.write("score.py", SCORE)
        done = self.record("--engine", "telltale", "--steps", 20, "-o", "score.tell", "--", sys.executable, script)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls("score.tell", "aten::addmm"), 2 * 30)
        done = self.record("--engine", "telltale", "--steps", 20, "-o", "short.tell", "--", sys.executable, self.script,
                           8)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("short.tell · CPU · 6 steps", done.stderr)

    def test_seconds_are_those_of_work(self):
        script = self.write("late.py", "import time, torch\ntorch.ones(3).sum()\ntime.sleep(1.5)\n" + TRAIN)
        done = self.record("--engine", "telltale", "--seconds", 1, "--stop-when-recorded", "-o", "run.tell", "--",
                           sys.executable, script, FOR_EVER)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(self.calls("run.tell", "aten::addmm"), 2 * 5)
        self.assertRegex(done.stderr, "A step takes")

    def test_one_file_gives_one_answer(self):
        done = self.record("--engine", "telltale", "-o", "run.tell", "--", sys.executable, self.script, 12)
        self.assertEqual(done.returncode, 0, done.stderr)
        answers = []
        for name in ("run.tell", "again.tell", "run.json", "run.json.gz"):
            if name != "run.tell":
                self.assertEqual(self.run_it("convert", "run.tell", "-o", name).returncode, 0)
            printed = self.run_it("analyze", name).stdout
            self.assertEqual(self.run_it(name).stdout, printed)  # without the name of a command
            answer = json.loads(self.run_it("analyze", name, "--json").stdout)
            answers.append({key: answer[key] for key in ("step", "steps", "findings", "remarks", "look")})
        self.assertEqual(answers[0]["step"]["count"], 6)  # of the first eight, two of which warm up
        for answer in answers[1:]:
            self.assertEqual(answer, answers[0])

    def test_says_what_could_not_be_looked_at(self):
        done = self.record("--engine", "telltale", "-o", "run.tell", "--", sys.executable, self.script, 12)
        self.assertRegex(done.stderr, r"Note: Recorded without .*memory")
        self.assertRegex(done.stderr, r"telltale record (--stacks )?--memory")
        look = json.loads(self.run_it("analyze", "run.tell", "--json").stdout)["look"]
        self.assertIn({"rule": "memory_leak", "lacks": ["memory"]}, look["blind"])
        done = self.record("--engine", "telltale", "--memory", "-o", "again.tell", "--", sys.executable, self.script, 12)
        look = json.loads(self.run_it("analyze", "again.tell", "--json").stdout)["look"]
        self.assertNotIn("memory_leak", [each["rule"] for each in look["blind"]])

    def step_of(self, name):
        done = self.run_it("analyze", name, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        return answer["step"], answer["steps"]

    def test_measures_a_step_on_those_that_it_leaves_out(self):
        done = self.record("--engine", "telltale", "-o", "run.tell", "--", sys.executable, self.script, STEPS)
        self.assertEqual(done.returncode, 0, done.stderr)
        recorded = [step["index"] for step in self.info("run.tell")["steps"]]
        # The first pause is for the ninth step to the fourteenth; there are others, as recording costs little or much.
        self.assertEqual(recorded[:8], [*range(8)])
        self.assertGreaterEqual(recorded[8], 14)
        left_out = STEPS - len(recorded)
        self.assertEqual(self.calls("run.tell", "aten::addmm"), 2 * len(recorded))
        self.assertRegex(done.stderr, r"A step takes [\d.]+ ms, measured over \d+ unrecorded steps")
        self.assertRegex(done.stderr, r"telltale: recording made steps .*slower than the \d+ that ran unrecorded, "
                                      rf"and the {STEPS} steps together .*slower")
        self.assertIn(f"The recorder left {left_out} of {STEPS} steps out", " ".join(done.stderr.split()))
        step, steps = self.step_of("run.tell")
        self.assertEqual(step["unobserved_source"], "measured")
        self.assertGreater(step["unobserved_low_ns"], 10_000_000)  # so long it sleeps in each
        # The pause is no idle time: the steps around it follow each other.
        before, after = (each for each in steps if each["index"] in (7, recorded[8]))
        self.assertEqual(before["start_ns"] + before["duration_ns"], after["start_ns"])

        written = self.run_it("convert", "run.tell", "-o", "run.json")
        self.assertEqual(written.returncode, 0, written.stderr)
        self.assertEqual(self.names_in_json(self.folder / "run.json").count("UnrecordedStep"), left_out)
        self.assertEqual(self.step_of("run.json")[0], step)

    def test_leaves_nothing_out_when_it_must_not(self):
        done = self.record("--engine", "telltale", "--no-pauses", "-o", "run.tell", "--", sys.executable, self.script,
                           40)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.info("run.tell")["steps"]), 40)
        self.assertNotEqual(self.step_of("run.tell")[0]["unobserved_source"], "measured")

    def test_measures_steps_after_those_that_were_asked_for(self):
        done = self.record("--engine", "telltale", "--steps", 5, "-o", "run.json", "--", sys.executable, self.script, 20)
        self.assertEqual(done.returncode, 0, done.stderr)
        told = json.loads((self.folder / "run.json").read_text())["unrecorded_steps"]
        self.assertEqual([(each["when"], each["first"], len(each["took_ns"])) for each in told],
                         [("after", 7, 13)])
        step, _ = self.step_of("run.json")
        self.assertEqual((step["unobserved_source"], step["count"]), ("measured", 5))
        self.assertGreater(step["unobserved_low_ns"], 10_000_000)

    def test_a_killed_process_leaves_what_it_did(self):
        process = self.start(PROGRAM, "record", "--engine", "telltale", "-o", "run.tell", "--", sys.executable, "-c",
                             "import os; print(os.getpid(), flush=True)\n" + TRAIN, FOR_EVER, stdout=-1, stderr=-1)
        child = int(process.stdout.readline())
        self.assertEqual(process.stdout.readline(), "training\n")
        deadline = time.monotonic() + PATIENCE
        growing = f".run.recording/run_{child}.tell"
        while self.run_it("info", growing).returncode != 0 or self.calls(growing, "aten::addmm") <= 2 * 3:
            self.assertLess(time.monotonic(), deadline, "nothing comes to the file")
        os.kill(child, signal.SIGKILL)
        errors = process.communicate(timeout=PATIENCE)[1]
        self.assertEqual(process.returncode, 137, errors)
        self.assertGreater(self.calls("run.tell", "aten::addmm"), 2 * 3)
        self.assertIn("A step takes", errors)
        # The file knows later what was seen then.
        anomalies = {each["kind"]: each for each in self.info("run.tell")["anomalies"]}
        self.assertIn("It was ended by signal 9 (Killed); it reaches ", anomalies["unfinished_recording"]["example"]["text"])

    def test_each_rank_has_its_file(self):
        script = self.write("ranks.py", RANKS)
        done = self.record("--engine", "telltale", "--no-pauses", "-o", "run.tell", "--", sys.executable, "-m",
                           "torch.distributed.run", "--nproc-per-node", 2, script, variables={"OMP_NUM_THREADS": 1})
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = dict(re.findall(r"  (run_\d+\.tell) .*rank (\d)", done.stderr))
        self.assertEqual(sorted(lines.values()), ["0", "1"], done.stderr)
        [diagnosed] = re.findall(r"the diagnosis is for (\S+)", done.stderr)
        self.assertEqual(lines[diagnosed], "0")
        # The launcher imports torch and runs nothing of it.
        self.assertEqual(len(re.findall(r"(?m)^  run_\d+\.tell .*, no operators$", done.stderr)), 1, done.stderr)
        for name, rank in lines.items():
            self.assertEqual(self.calls(name, "aten::addmm"), 10 + int(rank))


class PyTorchsProfiler(Torch):
    def test_records_the_steps_that_were_asked_for_and_stops(self):
        done = self.record("--engine", "kineto", "--steps", 3, "--shapes", "--stop-when-recorded", "-o", "run.json",
                           "--", sys.executable, self.script, FOR_EVER)
        self.assertEqual((done.returncode, done.stdout), (0, "training\n"), done.stderr)
        steps = self.names_in_json(self.folder / "run.json").count("aten::addmm") / 2
        self.assertIn(steps, (4, 5))  # PyTorch's profiler records one more, or two where it is late
        self.assertIn("run.json · CPU · 3 steps", done.stderr)
        self.assertRegex(done.stderr, r"A step takes [\d.]+ ms, measured over \d+ unrecorded steps")
        self.assertTrue(self.info("run.json")["recorded"]["shapes"])

    def test_a_process_that_ends_too_early_waits_for_its_trace(self):
        # Some seconds, in which it asks several times; it is asked for far more steps than come.
        done = self.record("--engine", "kineto", "--steps", 1000, "-o", "run.json", "--", sys.executable, self.script, 600)
        self.assertEqual((done.returncode, done.stdout), (0, "training\nsteps 600\n"), done.stderr)
        self.assertIn("telltale: waiting for PyTorch's profiler to write its trace …", done.stderr)
        self.assertGreater(self.names_in_json(self.folder / "run.json").count("aten::addmm"), 2)

    def test_records_a_process_that_runs(self):
        process = self.start(sys.executable, self.script, FOR_EVER, stdout=-1, stderr=-1,
                             variables={"KINETO_USE_DAEMON": "1", "KINETO_IPC_SOCKET_DIR": self.folder})
        self.assertEqual(process.stdout.readline(), "training\n")
        done = self.record("--pid", process.pid, "--steps", 2, "-o", "run.tell")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.calls("run.tell", "aten::addmm"), 2 * (2 + 1))
        self.assertIsNone(process.poll())

    def test_stands_in_where_our_adapter_cannot_record(self):
        done = self.record("--engine", "telltale", "--steps", 3, "--stop-when-recorded", "-o", "run.json", "--",
                           sys.executable, self.script, FOR_EVER, variables={"CXX": "false",
                                                                             "TELLTALE_CACHE": self.folder / "cache"})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("PyTorch's own profiler", done.stderr)
        steps = self.names_in_json(self.folder / "run.json").count("aten::addmm") / 2
        self.assertIn(steps, (4, 5))  # PyTorch's profiler records one more, or two where it is late


if __name__ == "__main__":
    main()
