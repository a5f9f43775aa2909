"""`telltale record --engine kineto` and `--pid`, asked by a client that is not PyTorch: see kineto_client.py."""
import gzip
import json
import os
import socket
import struct
import sys
import time
import unittest
from pathlib import Path

from record_test import PATIENCE, PROGRAM, ROOT, RecordTest, main

FAKE_NVML = os.environ.get("FAKE_NVML")
CLIENT = Path(__file__).with_name("kineto_client.py")


class Kineto(RecordTest):
    def setUp(self):
        super().setUp()
        self.trace = self.folder / "source.json"
        with gzip.open(ROOT / "examples" / "traces" / "small_train.json.gz") as packed:
            self.trace.write_bytes(packed.read())
        self.runs = self.folder / "runs"
        self.runs.mkdir()

    def recorded(self, *words, client=(), output="run.json", **options):
        return self.record("--engine", "kineto", "-o", self.runs / output, *words, "--", sys.executable, CLIENT,
                           self.trace, *client, **options)

    def written(self):
        return sorted(os.listdir(self.runs))


class ACommand(Kineto):
    def test_gives_the_trace_it_was_asked_for(self):
        done = self.recorded("--steps", 4, "--shapes")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(self.written(), ["run.json"])
        self.assertEqual((self.runs / "run.json").read_bytes(), self.trace.read_bytes())
        settings = dict(line.split("=", 1) for line in done.stdout.splitlines())
        # One step is left alone, seven are timed and one warms up; the profiler counts from zero, and starts where a step
        # ends.
        self.assertEqual(settings["PROFILE_START_ITERATION"], "8")
        self.assertEqual(settings["ACTIVITIES_WARMUP_ITERATIONS"], "1")
        self.assertEqual(settings["ACTIVITIES_ITERATIONS"], "5")
        self.assertEqual(settings["PROFILE_REPORT_INPUT_SHAPES"], "true")
        self.assertEqual(settings["PROFILE_WITH_STACK"], "false")
        self.assertIn("A step takes", done.stderr)
        self.assertIn("next: telltale view", done.stderr)

    @unittest.skipUnless(FAKE_NVML, "no NVML to read")
    def test_gets_gauges_of_the_time_in_which_it_ran(self):
        trace = json.loads(self.trace.read_text())
        first = min(event["ts"] for event in trace["traceEvents"] if event.get("ph") == "X")
        trace["traceEvents"].append({"ph": "i", "s": "t", "name": "end", "pid": 1, "tid": 1, "ts": first + 60e6})
        # The events begin now, and the last one is a minute away.
        trace["baseTimeNanoseconds"] = time.time_ns() - round(first * 1000)
        self.trace.write_text(json.dumps(trace))
        done = self.recorded("--steps", 4, client=["--ignore", 2],
                             variables={"TELLTALE_NVML_LIBRARY": FAKE_NVML, "FAKE_NVML_DEVICES": 1,
                                        "CUDA_VISIBLE_DEVICES": 0})
        self.assertEqual(done.returncode, 3, done.stderr)
        events = json.loads((self.runs / "run.json").read_text())["traceEvents"]
        gauges = [event for event in events if event["ph"] == "C"]
        self.assertEqual([event for event in events if event not in gauges], trace["traceEvents"])
        energy = [event["args"]["value"] for event in gauges if event["name"] == "GPU 0: energy (J)"]
        self.assertEqual(energy, [50.0 * i for i in range(len(energy))])
        self.assertGreaterEqual(len(energy), 1)
        self.assertTrue(all(first <= event["ts"] <= first + 60e6 for event in gauges))

    def test_is_asked_again_until_it_records(self):
        self.assertEqual(self.recorded("--steps", 1, client=["--ignore", 5]).returncode, 3)
        self.assertEqual(self.written(), ["run.json"])

    def test_is_asked_again_when_nothing_ran_in_its_trace(self):
        done = self.recorded("--seconds", 1, client=["--idle", 2])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual((self.runs / "run.json").read_bytes(), self.trace.read_bytes())

    def test_several_processes_have_a_file_each(self):
        done = self.recorded(client=["--children", 2])
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual(len(self.written()), 3)
        self.assertIn("recorded 3 files", done.stderr)
        for name in self.written():
            self.assertRegex(name, r"^run_\d+\.json$")
            self.assertIn(name, done.stderr)

    def test_what_a_dying_process_wrote_is_read(self):
        done = self.recorded(client=["--die"])
        self.assertEqual(done.returncode, 137)
        self.assertEqual(self.written(), ["run.json"])
        self.assertIn("ended by signal 9", done.stderr)
        self.assertIn("ended while it wrote the file", done.stderr)
        self.assertIn("A step takes", done.stderr)

    def test_rubbish_does_no_harm(self):
        self.assertEqual(self.recorded(client=["--hostile"]).returncode, 3)
        self.assertEqual(self.written(), ["run.json"])

    def test_the_trace_is_written_in_the_format_that_was_asked_for(self):
        for name in ("run.tell", "run.json.gz"):
            self.recorded(output=name)
            self.assertEqual(self.info(self.runs / name)["events"], self.info(self.trace)["events"])
        self.assertEqual(self.written(), ["run.json.gz", "run.tell"])

    def test_a_folder_that_kinetos_lines_cannot_hold_is_no_obstacle(self):
        odd = self.folder / "a=b #1"
        odd.mkdir()
        done = self.recorded(output=odd / "run.json")
        self.assertEqual(done.returncode, 3, done.stderr)
        self.assertEqual((odd / "run.json").read_bytes(), self.trace.read_bytes())

    def test_the_users_own_settings_stay(self):
        own = self.write("own.conf", "ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=64")
        done = self.record("--engine", "kineto", "--", "sh", "-c", 'cat "$KINETO_CONFIG"; echo $KINETO_USE_DAEMON',
                           variables={"KINETO_CONFIG": own})
        self.assertEqual(done.stdout,
                         "ACTIVITIES_MAX_GPU_BUFFER_SIZE_MB=64\nON_DEMAND_CONFIG_UPDATE_INTERVAL_SECS=1\n1\n")

    def test_two_recordings_at_once_do_not_meet(self):
        words = [PROGRAM, "record", "--engine", "kineto", "-o"]
        command = ["--", sys.executable, CLIENT, self.trace]
        both = [self.start(*words, self.runs / f"{name}.json", *command, stdout=-1, stderr=-1) for name in "ab"]
        for process in both:
            process.communicate(timeout=PATIENCE)
            self.assertEqual(process.returncode, 3)
        self.assertEqual(self.written(), ["a.json", "b.json"])


class AProcess(Kineto):
    """--pid, with sockets in a folder, and once with the abstract name that all the machine shares."""

    WAITS = """
import importlib.util, os, sys, time
spec = importlib.util.spec_from_file_location("kineto_client", sys.argv[1])
client = importlib.util.module_from_spec(spec)
spec.loader.exec_module(client)
if "BECOME" in os.environ:
    os.setgid(int(os.environ["BECOME"]))
    os.setuid(int(os.environ["BECOME"]))
print("ready", flush=True)
while not os.path.exists(os.environ.get("AFTER", "/")):
    time.sleep(0.01)
sys.argv = ["client", *sys.argv[2:]]
while True:
    try:
        client.main()
    except (FileNotFoundError, ConnectionRefusedError):
        time.sleep(0.1)
"""

    def waiting_client(self, **variables):
        process = self.start(sys.executable, "-c", self.WAITS, CLIENT, self.trace, stdout=-1, stderr=-1,
                             variables={"KINETO_USE_DAEMON": "1", **variables})
        self.assertEqual(process.stdout.readline(), "ready\n")
        return process

    def test_is_recorded_while_it_runs(self):
        sockets = self.folder / "s"
        sockets.mkdir()
        for variables in ({"KINETO_IPC_SOCKET_DIR": sockets}, {}):
            process = self.waiting_client(**variables)
            done = self.record("--pid", process.pid, "--seconds", 1.5, "-o", self.runs / "run.json", "--force")
            if "already answers" in done.stderr and not variables:
                self.skipTest("another daemon has the name that all the machine shares")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertEqual(self.written(), ["run.json"])
            self.assertIn("A step takes", done.stderr)
            self.assertIn("ACTIVITIES_DURATION_MSECS=1500\n", process.communicate()[0])

    def test_one_that_is_answered_by_another(self):
        sockets = self.folder / "s"
        sockets.mkdir()
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as other:
            other.bind(str(sockets / "dynolog"))
            process = self.start("sleep", "60", variables={"KINETO_IPC_SOCKET_DIR": sockets})
            while b"KINETO" not in Path(f"/proc/{process.pid}/environ").read_bytes():
                time.sleep(0.01)
            done = self.record("--pid", process.pid)
        self.assertEqual(done.returncode, 2)
        self.assertIn("already answers PyTorch's profiler here", done.stderr)

    def test_a_file_that_stands_where_the_socket_belongs_stays(self):
        sockets = self.folder / "s"
        sockets.mkdir()
        (sockets / "dynolog").write_text("precious")
        process = self.start("sleep", "60", variables={"KINETO_IPC_SOCKET_DIR": sockets})
        while b"KINETO" not in Path(f"/proc/{process.pid}/environ").read_bytes():
            time.sleep(0.01)
        done = self.record("--pid", process.pid)
        self.assertEqual(done.returncode, 2)
        self.assertIn("is not a socket of yours", done.stderr)
        self.assertEqual((sockets / "dynolog").read_text(), "precious")

    def test_who_asks_in_its_name_gets_no_answer(self):
        sockets, word = self.folder / "s", self.folder / "word"
        sockets.mkdir()
        process = self.waiting_client(KINETO_IPC_SOCKET_DIR=sockets, AFTER=word)
        recording = self.start(PROGRAM, "record", "--pid", process.pid, "--seconds", 1, "-o", self.runs / "run.json",
                               stdout=-1, stderr=-1)
        self.assertIn("waiting for process", recording.stderr.readline())
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as spoofer:
            spoofer.bind(str(sockets / "spoofer"))
            payload = struct.pack("=iiqi", 3, 1, 0, process.pid)
            spoofer.sendto(struct.pack("=Q32s", len(payload), b"req") + payload, str(sockets / "dynolog"))
            word.touch()  # datagrams are answered in their order: the process asks after that
            said = recording.communicate(timeout=PATIENCE)[1]
            self.assertEqual(recording.returncode, 0, said)
            with self.assertRaises(BlockingIOError):
                spoofer.recv(4096, socket.MSG_DONTWAIT)
        self.assertEqual((self.runs / "run.json").read_bytes(), self.trace.read_bytes())

    def test_of_another_user_gives_its_trace_to_root(self):
        if os.geteuid() != 0:
            self.skipTest("only root can record the process of another user; run this test as root")
        self.folder.chmod(0o755)
        process = self.waiting_client(BECOME=54321)
        done = self.record("--pid", process.pid, "--seconds", 1, "-o", self.runs / "run.json")
        if "already answers" in done.stderr:
            self.skipTest("another daemon has the name that all the machine shares")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((self.runs / "run.json").read_bytes(), self.trace.read_bytes())
        self.assertEqual((self.runs / "run.json").stat().st_uid, 0)


if __name__ == "__main__":
    main()
