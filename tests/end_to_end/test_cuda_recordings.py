"""Recordings of CUDA programs by our own recorder, analyzed end to end: of PyTorch they say what its own profiler's
trace of the same events says, and of a native server what its device did and in which of its scopes."""
import tempfile
import unittest
from pathlib import Path

from cuda_recording import Run
from telltale import answer, run

MAIN, AUTOGRAD = 4001, 4002
CLOCK = {"samples": 9, "drift_ppm": 0.4, "residual_ns": 800, "shifted_ns": 0}
STEPS = 6


class Training(Run):
    """Steps of 3 ms: a batch is loaded and copied, three layers forward, the loss read back, three backward on the
    engine's thread, and an optimizer of four launches."""

    def __init__(self):
        super().__init__()
        self.thread(MAIN, "python")
        self.thread(AUTOGRAD, "pt_autograd_0")
        self.now, self.device_free, self.correlation, self.sequence = 0.0, 0.0, 0, 0
        for step in range(STEPS):
            self.step(step)

    def call(self, name, thread, took, work=None, kind="driver", **values):
        """A call of the API, and what it hands to the device, which begins 5 µs later at the earliest."""
        self.correlation += 1
        self.on_thread(kind, name, thread, self.now, self.now + took, correlation=self.correlation)
        if work:
            sort, label, duration = work
            start = max(self.now + 5, self.device_free + 1)
            self.device_free = start + duration
            self.on_stream(sort, label, 7, start, start + duration, correlation=self.correlation, **values)
        self.now += took

    def operator(self, name, thread, gap, work, **values):
        start = self.now
        self.now += gap
        self.call("cuLaunchKernel", thread, 4, ("kernel", *work))
        self.now += gap
        self.on_thread("operator", name, thread, start, self.now, **values)
        self.now += 2

    def step(self, number):
        begin = self.now
        self.on_thread("annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", MAIN, self.now,
                       self.now + 600)
        self.now += 620
        start = self.now
        self.now += 10
        self.call("cudaMemcpyAsync", MAIN, 40, ("memcpy", "Memcpy HtoD (Pageable -> Device)", 30), "runtime",
                  bytes=1_000_000)
        self.call("cudaStreamSynchronize", MAIN, 50, kind="runtime")
        self.now += 5
        self.on_thread("operator", "aten::copy_", MAIN, start, self.now)
        self.forward()
        self.backward()
        start = self.now
        for _ in range(4):
            self.operator("aten::_fused_adamw_", MAIN, 30, ("multi_tensor_apply_kernel", 40))
        self.on_thread("annotation", "Optimizer.step#AdamW.step", MAIN, start, self.now)
        self.now = max(self.now, begin + 3000)
        self.on_thread("annotation", f"ProfilerStep#{number}", MAIN, begin, self.now)

    def forward(self):
        self.forwards = []
        for _ in range(3):
            self.sequence += 1
            self.forwards.append(self.sequence)
            self.operator("aten::linear", MAIN, 30, ("gemm_kernel", 150), **{"Sequence number": self.sequence})
        start = self.now
        self.now += 5
        self.call("cudaMemcpyAsync", MAIN, 8, ("memcpy", "Memcpy DtoH (Device -> Pageable)", 2), "runtime", bytes=4)
        self.call("cudaStreamSynchronize", MAIN, max(self.device_free - self.now, 0) + 5, kind="runtime")
        self.on_thread("operator", "aten::item", MAIN, start, self.now)
        self.now += 2

    def backward(self):
        for sequence in reversed(self.forwards):
            values = {"Sequence number": sequence, "Fwd thread id": 1}
            self.operator("AddmmBackward0", AUTOGRAD, 20, ("gemm_kernel", 200), **values)


class Server(Run):
    """Two threads of a C++ server. A request of 2 ms: a copy in, eight kernels, a copy out that it waits for; then
    0.5 ms of its own, in which the device is idle."""

    REQUESTS = 10

    def __init__(self):
        super().__init__()
        self.correlation = 0
        self.overhead("Buffer Flush", 300, 400)
        self.facts |= {"cuda_calls": "chosen", "cupti_dropped_records": "0", "device_clock": CLOCK}
        for thread in (1, 2):
            self.thread(100 + thread, f"worker {thread}")
            for request in range(self.REQUESTS):
                self.request(100 + thread, thread, 2500.0 * request + 1250 * (thread - 1))

    def call(self, name, kind, thread, start, end):
        self.correlation += 1
        self.on_thread(kind, name, thread, start, end, correlation=self.correlation)
        return self.correlation

    def request(self, thread, stream, start):
        self.on_thread("annotation", "handle_request", thread, start, start + 2000)
        self.on_thread("annotation", "infer", thread, start + 100, start + 1900)
        copied = self.call("cudaMemcpyAsync", "runtime", thread, start + 110, start + 120)
        self.on_stream("memcpy", "Memcpy HtoD (Pinned -> Device)", stream, start + 130, start + 160, bytes=100_000,
                       correlation=copied)
        for kernel in range(8):
            launched = self.call("cuLaunchKernel", "driver", thread, start + 200 + 20 * kernel, start + 205 + 20 * kernel)
            at = start + 210 + 100 * kernel
            self.on_stream("kernel", "decode_attention_kernel" if kernel % 2 else "gemm_kernel", stream, at, at + 90,
                           correlation=launched, **{"registers per thread": 64})
        self.call("cudaStreamSynchronize", "runtime", thread, start + 400, start + 1500)


def without_events(value):
    """The answer without numbers of events, which depend on the order of tracks."""
    if isinstance(value, dict):
        return {key: without_events(each) for key, each in value.items()
                if key not in {"event", "evidence", "example", "blamed"}}
    return [without_events(each) for each in value] if isinstance(value, list) else value


class CudaRecordings(unittest.TestCase):
    def assert_alike(self, ours, theirs, where):
        """Equal, but for a nanosecond here and there: a recording's times are interpolated between readings of clocks."""
        if isinstance(ours, dict):
            self.assertEqual(ours.keys(), theirs.keys(), where)
            for key, value in ours.items():
                self.assert_alike(value, theirs[key], f"{where}.{key}")
        elif isinstance(ours, list):
            self.assertEqual(len(ours), len(theirs), where)
            for i, (one, other) in enumerate(zip(ours, theirs, strict=True)):
                self.assert_alike(one, other, f"{where}[{i}]")
        elif isinstance(ours, (int, float)) and not isinstance(ours, bool):
            near = 1e-3 * abs(theirs)
            if "_ns" in where or where.endswith(".ns"):
                near = max(50, near)
            elif "_per_" not in where:  # what is not divided by a time
                near = 0.1
            self.assertAlmostEqual(ours, theirs, delta=near, msg=where)
        else:
            self.assertEqual(ours, theirs, where)

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        folder = Path(cls.folder.name)
        cls.tell, cls.json, cls.server = (str(folder / name) for name in ("run.tell", "run.json", "server.tell"))
        training = Training()
        training.write_tell(cls.tell)
        training.write_json(cls.json)
        Server().write_tell(cls.server)

    def test_of_pytorch_say_what_its_profilers_trace_says(self):
        ours, theirs = (without_events(answer("analyze", path)) for path in (self.tell, self.json))
        for part in ("step", "steps", "breakdown", "devices", "phases", "kernels", "queue", "syncs", "copies"):
            self.assert_alike(ours[part], theirs[part], part)
        self.assert_alike(*([{"rule": each["rule"], **(each["saving"] or {})} for each in found["findings"]]
                            for found in (ours, theirs)), "findings")
        self.assertGreater(len(ours["findings"]), 1)
        self.assertEqual(len(ours["steps"]), STEPS)

    def assert_takes(self, actual, expected_ns):
        """Times are those of the recorder's clock, whose rate it measures."""
        self.assertAlmostEqual(actual, expected_ns, delta=expected_ns * 1e-4)

    def test_of_a_native_server_tell_what_the_device_did(self):
        found = answer("analyze", self.server)
        self.assertEqual(len(found["steps"]), Server.REQUESTS)  # of the thread that began first
        self.assert_takes(found["steps"][0]["duration_ns"], 2_500_000)
        # Of both threads, one after the other: 2 × (30 + 8 × 90) µs.
        self.assert_takes(found["steps"][0]["device_busy_ns"], 1_500_000)
        shares = {row["category"]: row["percent"] for row in found["breakdown"]}
        self.assertAlmostEqual(sum(shares.values()), 100, delta=0.1)
        self.assertGreater(shares["idle_sync"], 10)
        self.assertEqual({row["name"] for row in found["threads"]}, {"worker 1", "worker 2"})
        (latency,) = found["latencies"]
        self.assertEqual((latency["name"], latency["count"]), ("handle_request", 2 * Server.REQUESTS))
        self.assert_takes(latency["p50_ns"], 2_000_000)
        self.assertEqual({finding["fix"]["code"] for finding in found["findings"]}, {""})  # it could only be Python

    def test_of_a_native_server_rank_its_kernels_and_scopes(self):
        kernels = {row["name"]: row for row in answer("top", "--by", "kernel", self.server)["rows"]}
        self.assertEqual(kernels["gemm_kernel"]["calls"], 2 * Server.REQUESTS * 4)
        self.assert_takes(kernels["gemm_kernel"]["self_device_ns"], 2 * Server.REQUESTS * 4 * 90_000)
        scopes = {row["name"]: row for row in answer("top", "--by", "annotation", self.server)["rows"]}
        self.assert_takes(scopes["infer"]["self_device_ns"], 2 * Server.REQUESTS * (8 * 90_000 + 30_000))
        self.assertEqual(scopes["handle_request"]["device_ns"], scopes["infer"]["self_device_ns"])

    def test_tell_how_well_the_clocks_agree(self):
        self.assertEqual(answer("info", self.server)["device_clock"],
                         {"samples": 9, "drift_ppm": 0.4, "residual_ns": 800})
        self.assertIn("the device's times fit the host's within 800 ns", run("info", self.server).stdout)
        self.assertIsNone(answer("info", self.json)["device_clock"])


if __name__ == "__main__":
    unittest.main()
