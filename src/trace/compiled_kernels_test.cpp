#include "trace/compiled_kernels.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(CompiledKernels, have_the_lines_that_the_recording_tells) {
  const auto kernels = compiled_kernels(
      R"({"triton_poi_fused_add_0": {"file": "model.py", "line": 7, "function": "forward", "operators": ["aten.add"]}})");
  ASSERT_EQ(kernels.size(), 1u);
  EXPECT_EQ(kernels[0].name, "triton_poi_fused_add_0");
  EXPECT_EQ(kernels[0].file, "model.py");
  EXPECT_EQ(kernels[0].function, "forward");
  EXPECT_EQ(kernels[0].line, 7);
}

TEST(CompiledKernels, without_a_file_and_a_line_that_can_be_are_left_out) {
  for (const std::string_view text :
       {"", "[1]", "{", R"({"k": 1})", R"({"k": {"line": 7}})", R"({"k": {"file": "m.py"}})",
        R"({"k": {"file": "m.py", "line": -1}})", R"({"k": {"file": 3, "line": 1}})",
        R"({"k": {"file": "m.py", "line": 99999999999}})"})
    EXPECT_TRUE(compiled_kernels(text).empty()) << text;
}

}  // namespace
}  // namespace telltale
