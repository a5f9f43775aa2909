#!/usr/bin/env python3
"""What Telltale writes as a memory snapshot, given to torch's own torch/cuda/_memory_viz.py."""

import os
import pickle
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from torch.cuda import _memory_viz

sys.path.insert(0, str(Path(__file__).parent.parent / "memory_snapshot"))
import allocator_model as model

TELLTALE = os.environ["TELLTALE"]


class MemoryViz(unittest.TestCase):
    def test_torch_says_the_same_of_what_was_written_as_of_what_was_read(self):
        for seed in range(4):
            original = model.snapshot_of(model.made_up(seed, devices=1 + seed % 2, expandable=seed >= 2))
            original["segments"].sort(key=lambda segment: (segment["device"], segment["address"]))
            for entry in (entry for log in original["device_traces"] for entry in log):
                del entry["compile_context"], entry["user_metadata"]  # which have no place in a trace
            with tempfile.TemporaryDirectory() as folder:
                source, target = Path(folder, "source.pickle"), Path(folder, "target.pickle")
                source.write_bytes(pickle.dumps(original))
                subprocess.run([TELLTALE, "convert", source, "-o", target], check=True, timeout=300, capture_output=True)
                written = pickle.loads(target.read_bytes())
            self.assertEqual(_memory_viz.segsum(written), _memory_viz.segsum(original))
            self.assertEqual(_memory_viz.trace(written), _memory_viz.trace(original))
            self.assertIn("active_allocated", _memory_viz.memory(written, lambda lines: lines))
            self.assertIn("MemoryViz.js", _memory_viz.trace_plot(written))


if __name__ == "__main__":
    unittest.main()
