"""What gauges of a real GPU show: an idle one, one at work, and one with more memory in use.

Run by tools/gpu_check with the GPU to itself; skipped where there is none.
"""
import json
import os
import subprocess
import sys
import tempfile
import textwrap
import unittest
from pathlib import Path

import pyarrow
import torch

import telltale

ROOT = Path(__file__).resolve().parents[2]
TELLTALE = os.environ.get("TELLTALE", str(ROOT / "build" / "bin" / "telltale"))
ALLOCATED = 2 << 30
PROGRAM = f"""
    import time, torch
    from torch.profiler import record_function

    left = torch.randn(8192, 8192, device="cuda", dtype=torch.bfloat16)
    torch.mm(left, left)
    torch.cuda.synchronize()
    with record_function("idle"):
        time.sleep(3)
    with record_function("load"):
        until = time.monotonic() + 5
        while time.monotonic() < until:
            for _ in range(20):
                torch.mm(left, left)
            torch.cuda.synchronize()
    with record_function("before"):
        time.sleep(0.5)
    kept = torch.empty({ALLOCATED}, dtype=torch.uint8, device="cuda")
    with record_function("after"):
        time.sleep(0.5)
"""
# NVML's power is that of the last second: what a phase shows begins later.
SETTLED = 1.5


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class Gauges(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        script, cls.path = Path(folder.name) / "program.py", Path(folder.name) / "run.tell"
        script.write_text(textwrap.dedent(PROGRAM))
        done = subprocess.run([TELLTALE, "record", "--no-analyze", "-o", str(cls.path), "--", sys.executable,
                               str(script)], capture_output=True, text=True, timeout=80)
        assert done.returncode == 0, done.stdout + done.stderr
        trace = telltale.load(str(cls.path))
        events = pyarrow.table(trace.events()).to_pydict()
        cls.phases = {}
        for name, start, duration in zip(events["name"], events["start_ns"], events["duration_ns"]):
            if name in ("idle", "load", "before", "after"):
                cls.phases[name] = start / 1e9, (start + duration) / 1e9
        cls.series = {}
        counters = pyarrow.table(trace.counters).to_pydict()
        for name, time, value in zip(counters["counter"], counters["time_ns"], counters["value"]):
            cls.series.setdefault(name, []).append((time / 1e9, value))
        print("gauges:", ", ".join(f"{name} {values[-1][1]:g}" for name, values in sorted(cls.series.items())))

    def readings(self, gauge, phase, skipped=0.0):
        begin, end = self.phases[phase]
        found = [(time, value) for time, value in self.series[f"GPU 0: {gauge}"] if begin + skipped <= time <= end]
        self.assertGreaterEqual(len(found), 3, (gauge, phase))
        return found

    def mean(self, gauge, phase, skipped=0.0):
        values = [value for _, value in self.readings(gauge, phase, skipped)]
        return sum(values) / len(values)

    def test_ten_readings_a_second(self):
        count = len(self.readings("power (W)", "load"))
        self.assertGreaterEqual(count, 35)
        self.assertLessEqual(count, 60)

    def test_power_under_load_is_far_above_that_of_an_idle_gpu(self):
        idle, load = self.mean("power (W)", "idle", SETTLED), self.mean("power (W)", "load", SETTLED)
        print(f"power: idle {idle:.0f} W, load {load:.0f} W")
        self.assertGreater(load, 1.5 * idle)

    def test_energy_is_power_added_up(self):
        power = self.readings("power (W)", "load", SETTLED)
        joules = sum((b[0] - a[0]) * (a[1] + b[1]) / 2 for a, b in zip(power, power[1:]))
        energy = self.readings("energy (J)", "load", SETTLED)
        counted = (energy[-1][1] - energy[0][1]) * (power[-1][0] - power[0][0]) / (energy[-1][0] - energy[0][0])
        print(f"energy: counted {counted:.0f} J, by power {joules:.0f} J")
        self.assertAlmostEqual(counted / joules, 1, delta=0.1)

    def test_utilization_under_load_is_high(self):
        self.assertGreater(self.mean("utilization (%)", "load", SETTLED), 50)

    def test_memory_in_use_rises_by_what_is_allocated(self):
        before, after = self.readings("memory used (bytes)", "before")[-1], self.readings("memory used (bytes)", "after")
        self.assertAlmostEqual((after[-1][1] - before[1]) / ALLOCATED, 1, delta=0.05)

    def test_the_analysis_tells_of_them(self):
        done = subprocess.run([TELLTALE, "analyze", str(self.path), "--json"], capture_output=True, text=True,
                              timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        gpu = next(each for each in json.loads(done.stdout)["energy"]["devices"] if each["name"] == "GPU 0")
        self.assertTrue(gpu["is_used"])
        self.assertEqual(gpu["source"], "counter")
        self.assertGreater(gpu["mean_watts"], 20)
        self.assertGreater(gpu["memory_headroom_bytes"], 0)


if __name__ == "__main__":
    unittest.main()
