// Kernels that a compiler made, and the lines of the program that they come from.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

struct CompiledKernel {
  std::string name;  // of the kernel: "triton_poi_fused_add_relu_0"
  std::string file, function;
  std::int32_t line = 0;
};

// What `triton_kernels` of a recording says, a JSON object: {"triton_poi_fused_add_relu_0": {"file": "model.py",
// "line": 7, "function": "forward", "operators": ["aten.add", "aten.relu"]}}. What makes no sense is left out.
std::vector<CompiledKernel> compiled_kernels(std::string_view json_text);

}  // namespace telltale
