"""Lines of the kernels that torch.compile makes."""

import json
import unittest

import torch

from telltale._capture.compiled_kernels import compiled_kernels, kernels_in

# As the compiler writes it for a GPU.
GENERATED = """
# kernel path: /tmp/torchinductor_me/xy/cxyz.py
# Topologically Sorted Source Nodes: [add, relu], Original ATen: [aten.add, aten.relu]
# Source node to ATen node mapping:
#   add => add
triton_poi_fused_add_relu_0 = async_compile.triton('triton_poi_fused_add_relu_0', '''
import triton
''', device_str='cuda')

triton_red_fused_sum_1 = async_compile.triton('triton_red_fused_sum_1', '''
''', device_str='cuda')

def call(args):
    with torch.cuda._DeviceGuard(0):
        # Topologically Sorted Source Nodes: [add, relu], Original ATen: [aten.add, aten.relu]
        triton_poi_fused_add_relu_0.run(arg0_1, buf0, 64, stream=stream0)
        triton_red_fused_sum_1.run(buf0, buf1, 64, stream=stream0)
        triton_red_fused_sum_1.run(buf1, buf2, 64, stream=stream0)
"""


def frame(file, line):
    return {"filename": file, "line": line, "name": "forward"}


class CompiledKernels(unittest.TestCase):
    def test_have_the_line_of_their_call_and_their_operators(self):
        lines = {16: [frame("/usr/torch/nn/functional.py", 1), frame("model.py", 7), frame("train.py", 40)]}
        kernel = kernels_in(GENERATED, lines.get)["triton_poi_fused_add_relu_0"]
        self.assertEqual(kernel["place"], ("model.py", 7, "forward"))
        self.assertEqual(kernel["operators"], ["aten.add", "aten.relu"])

    def test_of_several_lines_have_none(self):
        lines = {17: [frame("model.py", 8)], 18: [frame("model.py", 9)]}
        self.assertIsNone(kernels_in(GENERATED, lines.get)["triton_red_fused_sum_1"]["place"])
        lines[18] = lines[17]
        self.assertEqual(kernels_in(GENERATED, lines.get)["triton_red_fused_sum_1"]["place"][1], 8)

    def test_are_none_in_a_process_that_compiled_none(self):
        self.assertEqual(compiled_kernels(), "")

    def test_are_found_where_the_compiler_says(self):
        """The compiler's own bookkeeping, which the lines come from, with a file of ours in the place of its output."""
        import tempfile

        from torch._inductor.codecache import PyCodeCache

        with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
            file.write(GENERATED)
            file.flush()
            stack = '  File "/home/me/model.py", line 7, in forward\n    return torch.relu(x + 1)\n'
            PyCodeCache.linemaps[file.name] = list(zip(*[(16, stack), (17, stack.replace("line 7", "line 8"))]))
            self.addCleanup(PyCodeCache.linemaps.pop, file.name)
            told = json.loads(compiled_kernels())
        self.assertEqual(told["triton_poi_fused_add_relu_0"],
                         {"file": "/home/me/model.py", "line": 7, "function": "forward",
                          "operators": ["aten.add", "aten.relu"]})
        self.assertEqual(told["triton_red_fused_sum_1"]["line"], 8)


if __name__ == "__main__":
    torch.set_num_threads(1)
    unittest.main()
