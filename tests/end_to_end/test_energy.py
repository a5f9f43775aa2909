"""What telltale analyze makes of gauges, from a trace as other tools could write it: energy, throttling, memory, money."""
import json
import random
import tempfile
import unittest
from pathlib import Path

from telltale import MLP, answer, run

STEPS, STEP_US = 40, 50_000
REASONS = {"power limit": 0x4, "temperature": 0x20}


def program():
    """Events of 40 steps of 50 ms, each with a product that takes 40 ms on the GPU."""
    for step in range(STEPS):
        start = step * STEP_US
        host = {"ph": "X", "pid": 5, "tid": 5}
        yield {**host, "cat": "user_annotation", "name": f"ProfilerStep#{step}", "ts": start, "dur": STEP_US}
        yield {**host, "cat": "cpu_op", "name": "aten::mm", "ts": start + 100, "dur": 200,
               "args": {"Input Dims": [[64, 32], [32, 32]], "External id": step + 1}}
        yield {**host, "cat": "cuda_runtime", "name": "cudaLaunchKernel", "ts": start + 150, "dur": 10,
               "args": {"correlation": step + 1}}
        yield {"ph": "X", "cat": "kernel", "name": "sm90_xmma_gemm_bf16", "pid": 0, "tid": 7, "ts": start + 200,
               "dur": 40_000, "args": {"device": 0, "stream": 7, "correlation": step + 1}}
        yield {**host, "cat": "cuda_runtime", "name": "cudaDeviceSynchronize", "ts": start + 400, "dur": 39_900,
               "args": {"correlation": 1000 + step}}


def counters(readings):
    """Events of gauges, from a list of (seconds, {name: value})."""
    for seconds, values in readings:
        for name, value in values.items():
            yield {"ph": "C", "name": name, "pid": 5, "tid": "gauges", "ts": seconds * 1e6, "args": {"value": value}}


def integral(times, watts, begin, end):
    """Of the line through the readings, in steps of a tenth of a millisecond."""
    total, now = 0.0, begin
    while now < end:
        right = next(i for i, time in enumerate(times) if time > now)
        share = (now - times[right - 1]) / (times[right] - times[right - 1])
        total += (watts[right - 1] + share * (watts[right] - watts[right - 1])) * 1e-4
        now += 1e-4
    return total


class Energy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def trace(self, readings, name="trace.json"):
        path = self.folder / name
        path.write_text(json.dumps({"schemaVersion": 1, "traceEvents": [*program(), *counters(readings)]}))
        return str(path)

    def test_a_step_uses_what_the_counters_rise_by(self):
        randomness = random.Random(3)
        joules, readings, gpu, cpu = {}, [], 100.0, 7.0
        for i in range(24):
            joules[i] = gpu, cpu
            readings.append((i * 0.1 - 0.05, {"GPU 0: energy (J)": gpu, "CPU: energy (J)": cpu}))
            gpu, cpu = gpu + randomness.uniform(20, 70), cpu + randomness.uniform(5, 15)
        found = answer("analyze", self.trace(readings))
        self.assertEqual(found["step"]["count"], STEPS)

        def between(begin, end, which):
            def at(seconds):
                left = int((seconds + 0.05) / 0.1 + 1e-9)
                share = (seconds + 0.05 - left * 0.1) / 0.1
                return joules[left][which] + share * (joules[left + 1][which] - joules[left][which])
            return at(end) - at(begin)

        energy = {device["name"]: device for device in found["energy"]["devices"]}
        for which, name in enumerate(["GPU 0", "CPU"]):
            # All steps, or from the first work on the GPU to that of the last step.
            whole = between(0, 2, which) / STEPS
            self.assertAlmostEqual(energy[name]["joules_per_step"], whole, delta=0.03 * whole)
            self.assertEqual(energy[name]["source"], "counter")
        both = energy["GPU 0"]["joules_per_step"] + energy["CPU"]["joules_per_step"]
        self.assertAlmostEqual(found["energy"]["joules_per_step"], both, delta=0.01)

    def test_power_is_added_up_where_nothing_counts_energy(self):
        randomness = random.Random(4)
        times = [i * 0.1 - 0.05 for i in range(24)]
        watts = [randomness.uniform(200, 600) for _ in times]
        found = answer("analyze", self.trace([(time, {"GPU 0: power (W)": each, "GPU 0: power limit (W)": 700})
                                              for time, each in zip(times, watts)]))
        device, = found["energy"]["devices"]
        expected = integral(times, watts, 0, 2) / 2
        self.assertEqual(device["source"], "power")
        self.assertAlmostEqual(device["mean_watts"], expected, delta=0.03 * expected)
        self.assertAlmostEqual(device["limit_percent"], 100 * device["mean_watts"] / 700, delta=0.1)

    def test_gauges_survive_our_own_format(self):
        readings = [(i * 0.1 - 0.05, {"GPU 0: energy (J)": 30.0 * i, "GPU 0: memory used (bytes)": 2e9 + i,
                                      "GPU 0: memory total (bytes)": 8e9}) for i in range(24)]
        trace, packed = self.trace(readings), str(self.folder / "trace.tell")
        again = str(self.folder / "again.json")
        self.assertEqual(run("convert", trace, "-o", packed).returncode, 0)
        self.assertEqual(run("convert", packed, "-o", again).returncode, 0)
        self.assertEqual(run("convert", trace, "-o", str(self.folder / "trace.pftrace")).returncode, 0)
        first = answer("analyze", trace)["energy"]
        self.assertAlmostEqual(first["devices"][0]["mean_watts"], 300, delta=0.01)
        self.assertEqual(first["devices"][0]["memory_headroom_bytes"], 8_000_000_000 - 2_000_000_023)
        self.assertEqual(answer("analyze", packed)["energy"], first)
        self.assertEqual(answer("analyze", again)["energy"], first)
        self.assertIn(b"GPU 0: energy (J)", (self.folder / "trace.pftrace").read_bytes())

    def test_throttling_that_costs_time_is_a_finding(self):
        # Half of the readings at three quarters of the clock: an eighth of the 40 ms of each step.
        readings = [(i * 0.05, {"GPU 0: utilization (%)": 80, "GPU 0: SM clock (MHz)": 1485 if i % 2 else 1980,
                                "GPU 0: throttle reasons": REASONS["power limit"] if i % 2 else 0x1})
                    for i in range(41)]
        found = answer("analyze", self.trace(readings), "--rule", "throttling")
        device, = found["energy"]["devices"]
        self.assertAlmostEqual(device["throttled_percent"], 50, delta=2)
        self.assertEqual([reason["name"] for reason in device["throttle_reasons"]], ["power limit"])
        finding, = found["findings"]
        self.assertEqual(finding["rule"], "throttling")
        self.assertAlmostEqual(finding["saving"]["likely_ns"] / 1e6, 40 / 8, delta=0.3)

    def test_a_price_is_that_of_a_thousand_steps(self):
        readings = [(i * 0.1 - 0.05, {"GPU 0: energy (J)": 36.0 * i}) for i in range(24)]
        trace = self.trace(readings)
        cost = answer("analyze", trace, "--price", "0.5", "--carbon", "400")["cost"]
        kilowatt_hours = 1000 * 360 * 0.05 / 3.6e6  # 360 W for 50 ms a step
        self.assertAlmostEqual(cost["kilowatt_hours"], kilowatt_hours, delta=1e-6)
        self.assertAlmostEqual(cost["money"], 0.5 * kilowatt_hours, delta=1e-6)
        self.assertAlmostEqual(cost["carbon_grams"], 400 * kilowatt_hours, delta=1e-3)
        text = run("analyze", trace, "--price", "0.5").stdout
        self.assertIn("1,000 steps use 0.005 kWh, which cost 0.0025 (at 0.5 per kWh)", " ".join(text.split()))
        self.assertIsNone(answer("analyze", trace)["cost"])

    def test_without_gauges_a_price_has_no_answer_and_says_so(self):
        found = answer("analyze", MLP, "--price", "0.3")
        self.assertIsNone(found["energy"])
        self.assertIsNone(found["cost"])
        self.assertTrue(any("no gauges of energy or power" in remark for remark in found["remarks"]), found["remarks"])
        self.assertNotIn("gauges", run("analyze", MLP).stdout)
        for flag in ("--price", "--carbon"):
            done = run("analyze", MLP, flag, "-1")
            self.assertEqual(done.returncode, 2)
            self.assertEqual(done.stderr, f"telltale: {flag} must be an amount per kWh, 0 or more, not -1\n")


if __name__ == "__main__":
    unittest.main()
