"""Recording PyTorch on a machine with a GPU. Run by tools/gpu_check; everything is skipped where there is none."""
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import torch

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "torch"))
from recorded import TELLTALE, record  # noqa: E402

from telltale._capture.adapter import load_adapter  # noqa: E402


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class Adapter(unittest.TestCase):
    def test_tells_of_the_memory_of_the_gpu(self):
        self.assertTrue(load_adapter().sees_cuda_memory())
        kept = []

        def work():
            kept.append(torch.empty(1 << 20, device="cuda"))
            torch.empty(1 << 18, device="cuda")

        work()
        recorded = record(work, memory=True)
        on_gpu = [(event["Bytes"], event["Device Id"]) for event in recorded.memory if event["Device Type"] == 1]
        self.assertEqual(on_gpu, [(4 << 20, 0), (1 << 20, 0), (-(1 << 20), 0)])
        self.assertIn(kept[-1].data_ptr(), [event["Addr"] for event in recorded.memory])

    def test_tells_what_collectives_do(self):
        with socket.create_server(("localhost", 0)) as free:
            port = free.getsockname()[1]
        torch.distributed.init_process_group("nccl", init_method=f"tcp://localhost:{port}", rank=0, world_size=1,
                                             device_id=torch.device("cuda:0"))
        try:
            tensor = torch.ones(7, device="cuda", dtype=torch.bfloat16)
            recorded = record(lambda: torch.distributed.all_reduce(tensor))
        finally:
            torch.distributed.destroy_process_group()
        told = [op["args"] for op in recorded.named("record_param_comms") if op["args"].get("Collective name") == "allreduce"]
        self.assertTrue(told, recorded.operators)
        self.assertEqual((told[0]["In msg nelems"], told[0]["Out msg nelems"], told[0]["dtype"]), (7, 7, "BFloat16"))
        self.assertEqual((told[0]["Group size"], told[0]["Rank"]), (1, 0))

    def test_does_not_wait_for_the_gpu(self):
        a = torch.randn(8192, 8192, device="cuda")

        def work():
            for _ in range(20):
                a @ a
            self.queued = not torch.cuda.current_stream().query()

        work()
        torch.cuda.synchronize()
        record(work, shapes=True, memory=True, modules=True)
        self.assertTrue(self.queued, "the GPU had done everything when the host came back")


@unittest.skipUnless(torch.cuda.is_available(), "no GPU")
class Command(unittest.TestCase):
    def test_diagnoses_an_unchanged_training_script_with_its_kernels(self):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([TELLTALE, "record", "-o", "run.tell", "--", sys.executable,
                                   str(ROOT / "examples" / "python" / "train.py")], cwd=folder, capture_output=True, text=True,
                                  env=dict(os.environ, PYTHONUNBUFFERED="1"))
            print(done.stdout, done.stderr, sep="\n")
            self.assertEqual(done.returncode, 0)
            self.assertIn("epoch 2: loss", done.stdout)
            self.assertRegex(done.stderr, re.compile(r"NVIDIA .* steps"))
            self.assertIn("The GPU waits for the next batch", done.stderr)
            top = subprocess.run([TELLTALE, "top", "--by", "kernel", "--json", "run.tell"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(top.returncode, 0, top.stderr)
            rows = json.loads(top.stdout)["rows"]
            self.assertTrue(any("gemm" in row["name"] for row in rows), rows)
            self.assertTrue(all(row["self_device_ns"] > 0 for row in rows), rows)


if __name__ == "__main__":
    unittest.main()
