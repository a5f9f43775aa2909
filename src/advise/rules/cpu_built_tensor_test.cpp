#include <gtest/gtest.h>

#include <functional>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr CopyInfo kIn = {4'194'304, MemorySpace::kPageable, MemorySpace::kDevice};
constexpr std::string_view kShape = "[[1024,1024]]", kOtherShape = "[[512,1024]]";

// Three steps that do something, copy a tensor of the shape for 1 ms, and compute for 2.
Trace training(const std::function<void(ProgramSketch&)>& before, std::string_view shape = kShape) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(12): add_noise");
    before(program);
    program.open(Kind::kPython, "<built-in method to of Tensor object at 0x7f57b7c56b20>");
    const auto to = program.open(Kind::kOperator, "aten::to");
    program.sketch().set_inputs(to, shape);
    program.copy("aten::copy_", kIn, 1 * kMillisecond, true);
    program.close();
    program.close();
    program.close();
    program.kernel("aten::mm", 2 * kMillisecond);
    program.wait();
  }
  return program.build();
}

void run_operator(ProgramSketch& program, std::string_view name, std::string_view shape, Nanoseconds duration) {
  program.sketch().set_inputs(program.run(Kind::kOperator, name, duration), shape);
}

void make_noise(ProgramSketch& program) {
  program.open(Kind::kOperator, "aten::randn");
  run_operator(program, "aten::normal_", kShape, 5 * kMillisecond);
  program.close();
}

TEST(CpuBuiltTensorRule, the_device_makes_the_tensor_without_a_copy) {
  const std::vector<Finding> findings = findings_of(training(make_noise), "cpu_built_tensor");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 5 + 1, 0.05);
  EXPECT_EQ(findings[0].fix.id, "build_on_device");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 12, "add_noise"}));
  EXPECT_EQ(findings[0].explanation,
            "The CPU spends 5.00 ms per recorded step making what is then copied to the GPU, mostly in aten::randn.");
}

TEST(CpuBuiltTensorRule, what_computes_on_moves_too) {
  const Trace trace = training([](ProgramSketch& program) {
    make_noise(program);
    run_operator(program, "aten::mul", kShape, 2 * kMillisecond);
  });
  const std::vector<Finding> findings = findings_of(trace, "cpu_built_tensor");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 5 + 2 + 1, 0.05);
}

TEST(CpuBuiltTensorRule, without_shapes_the_copy_is_of_what_was_made_last) {
  const Trace trace =
      training([](ProgramSketch& program) { program.run(Kind::kOperator, "aten::randn", 5 * kMillisecond); }, {});
  ASSERT_EQ(findings_of(trace, "cpu_built_tensor").size(), 1);
}

TEST(CpuBuiltTensorRule, is_silent_when_another_tensor_is_copied) {
  EXPECT_TRUE(findings_of(training(make_noise, kOtherShape), "cpu_built_tensor").empty());
}

TEST(CpuBuiltTensorRule, is_silent_when_values_of_the_host_are_written_into_it) {
  const Trace trace = training([](ProgramSketch& program) {
    make_noise(program);
    run_operator(program, "aten::index_put_", kShape, kMillisecond);
  });
  EXPECT_TRUE(findings_of(trace, "cpu_built_tensor").empty());
}

TEST(CpuBuiltTensorRule, is_silent_when_the_device_fills_the_tensor_or_the_loader_does) {
  EXPECT_TRUE(findings_of(training([](ProgramSketch& program) { program.kernel("aten::randn", 5 * kMillisecond); }),
                          "cpu_built_tensor")
                  .empty());
  const Trace loaded = training([](ProgramSketch& program) {
    program.open(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
    make_noise(program);
    program.close();
  });
  EXPECT_TRUE(findings_of(loaded, "cpu_built_tensor").empty());
}

const RuleSample kNoise("cpu_built_tensor", "noise", [] { return training(make_noise); });

}  // namespace
}  // namespace telltale
