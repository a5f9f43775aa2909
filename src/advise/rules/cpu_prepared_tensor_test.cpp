#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// 64 images of 3 · 256 · 256 numbers: 12,582,912, as bytes 12.6 MB, in float32 50.3.
constexpr std::string_view kImages = "[[64,3,256,256],[]]", kLaidOut = "[[64,256,256,3],[]]";
constexpr std::string_view kBytes = R"(["unsigned char",""])", kFloats = R"(["float",""])";
constexpr CopyInfo kIn = {50'331'648, MemorySpace::kPageable, MemorySpace::kDevice};

void run_operator(ProgramSketch& program, std::string_view name, std::string_view types, Nanoseconds duration,
                  std::string_view shapes = kImages) {
  const auto op = program.run(Kind::kOperator, name, duration);
  program.sketch().set_inputs(op, shapes);
  program.sketch().set_types(op, types);
}

void copy(ProgramSketch& program, CopyInfo info = kIn, std::string_view shapes = kImages) {
  const auto to = program.open(Kind::kOperator, "aten::to");
  program.sketch().set_inputs(to, shapes);
  program.sketch().set_types(to, kFloats);
  program.copy("aten::copy_", info, 4 * kMillisecond, true);
  program.close();
}

// Three steps that prepare a batch, and compute for 3 ms.
Trace training(const std::function<void(ProgramSketch&)>& prepare) {
  ProgramSketch program;
  program.sketch().trace().devices.push_back({0, "NVIDIA H200"});
  program.sketch().trace().recorded.shapes = true;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(12): batch");
    prepare(program);
    program.close();
    program.kernel("aten::mm", 3 * kMillisecond);
    program.wait();
  }
  return program.build();
}

void prepare(ProgramSketch& program) {
  run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
  run_operator(program, "aten::div", kFloats, 2 * kMillisecond);
  copy(program);
}

std::vector<Finding> found_in(const std::function<void(ProgramSketch&)>& prepared) {
  return findings_of(training(prepared), "cpu_prepared_tensor");
}

// What the device takes instead at 0.85 of 4.8 TB/s: 62.9 MB read and written, and 100.7 MB, in 15.4 and 24.7 µs. The
// host launches a kernel for each in 10 µs.
constexpr double kOnDevice = 0.040, kLaunching = 0.02;
constexpr double kClose = 0.05;

// The copy has a quarter of the bytes.
TEST(CpuPreparedTensorRule, bytes_are_copied_as_they_are_and_the_device_computes) {
  const std::vector<Finding> findings = found_in(prepare);
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 6 + 2 + 3 - kOnDevice - kLaunching, kClose);
  EXPECT_EQ(findings[0].fix.id, "build_on_device");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 12, "batch"}));
  EXPECT_EQ(findings[0].explanation,
            "Operators on the CPU, mostly aten::to, take 8.00 ms per recorded step; the GPU would take about 40.1 µs "
            "for the same. 48.0 MiB per step are copied, which were 12.0 MiB before.");
}

TEST(CpuPreparedTensorRule, floats_are_copied_as_floats) {
  const std::vector<Finding> findings = found_in([](ProgramSketch& program) {
    run_operator(program, "aten::div", kFloats, 2 * kMillisecond);
    copy(program);
  });
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 2 - 0.025 - 0.01, kClose);
  EXPECT_TRUE(findings[0].explanation.ends_with("48.0 MiB per step are copied.")) << findings[0].explanation;
}

// The copy of 100.7 MB in float64 would take 8 ms: 4 more, for 6 that converting takes less.
TEST(CpuPreparedTensorRule, wider_numbers_take_longer_to_copy) {
  const std::vector<Finding> findings = found_in([](ProgramSketch& program) {
    run_operator(program, "aten::to", R"(["double",""])", 6 * kMillisecond);
    copy(program);
  });
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 6 - 4 - 0.037 - 0.01, kClose);
  EXPECT_TRUE(findings[0].explanation.ends_with("48.0 MiB per step are copied, which were 96.0 MiB before."))
      << findings[0].explanation;
}

// Of 6,291,456 numbers, 25.2 MB, a transform makes 6,328,224 complex ones, and aten::abs as many lengths, 25.3 MB.
// Labels are handled in between.
TEST(CpuPreparedTensorRule, follows_a_tensor_that_an_operator_resizes) {
  constexpr std::string_view kWaves = "[[48,131072],[]]", kSpectra = "[[48,257,513],[]]", kOthers = "[[48,257,512],[]]";
  const auto prepare_spectra = [&](ProgramSketch& program, std::string_view copied) {
    run_operator(program, "aten::stft", kFloats, 5 * kMillisecond, kWaves);
    run_operator(program, "aten::to", R"(["long int",""])", 10 * kMicrosecond, "[[48],[]]");
    run_operator(program, "aten::abs", R"(["c10::complex<float>",""])", 3 * kMillisecond, kSpectra);
    copy(program, {25'312'896, MemorySpace::kPageable, MemorySpace::kDevice}, copied);
  };
  const std::vector<Finding> findings = found_in([&](ProgramSketch& program) { prepare_spectra(program, kSpectra); });
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 5 + 3 - 0.02 - 0.02, kClose);
  EXPECT_TRUE(found_in([&](ProgramSketch& program) { prepare_spectra(program, kOthers); }).empty());
}

TEST(CpuPreparedTensorRule, follows_a_tensor_through_views) {
  const std::vector<Finding> findings = found_in([](ProgramSketch& program) {
    run_operator(program, "aten::permute", kBytes, 3 * kMicrosecond, kLaidOut);
    run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
    copy(program);
  });
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 6 + 3 - 0.016 - 0.01, kClose);
}

void prepare_and_free(ProgramSketch& program, Nanoseconds behind_div) {
  run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
  program.spend(1 * kMillisecond);
  run_operator(program, "aten::div", kFloats, 2 * kMillisecond);
  program.spend(behind_div);
  copy(program);
}

// Python frees what aten::to has made behind aten::div, and what aten::div has made behind the copy: 50.3 MB, for which
// 10.1 ms count at most. Behind aten::to nothing is freed that had not been given.
TEST(CpuPreparedTensorRule, what_is_not_made_is_not_freed) {
  const auto saved = [](Nanoseconds behind_div) {
    const std::vector<Finding> findings =
        found_in([&](ProgramSketch& program) { prepare_and_free(program, behind_div); });
    return findings.size() == 1 ? likely_ms(findings[0]) : -1;
  };
  const double without = 6 + 2 + 3 - kOnDevice - kLaunching;
  EXPECT_NEAR(saved(2 * kMillisecond), without + 2, kClose);
  EXPECT_NEAR(saved(20 * kMillisecond), without + 10.07, kClose);
}

TEST(CpuPreparedTensorRule, is_silent_about_small_tensors) {
  EXPECT_TRUE(found_in([](ProgramSketch& program) {
                run_operator(program, "aten::to", R"(["long int",""])", 80 * kMicrosecond, "[[64,512],[]]");
                copy(program, {131'072, MemorySpace::kPageable, MemorySpace::kDevice}, "[[64,512],[]]");
              }).empty());
}

TEST(CpuPreparedTensorRule, is_silent_when_another_tensor_is_copied_or_the_device_comes_between) {
  EXPECT_TRUE(found_in([](ProgramSketch& program) {
                run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
                copy(program, kIn, "[[32,3,256,256],[]]");
              }).empty());
  EXPECT_TRUE(found_in([](ProgramSketch& program) {
                run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
                program.kernel("aten::add", 10 * kMicrosecond);
                copy(program);
              }).empty());
}

TEST(CpuPreparedTensorRule, is_silent_when_the_values_are_the_hosts) {
  EXPECT_TRUE(found_in([](ProgramSketch& program) {
                run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
                run_operator(program, "aten::index_put_", kFloats, 1 * kMillisecond);
                copy(program);
              }).empty());
}

TEST(CpuPreparedTensorRule, leaves_what_the_host_fills_to_another_rule) {
  const Trace trace = training([](ProgramSketch& program) {
    run_operator(program, "aten::rand", kFloats, 6 * kMillisecond);
    run_operator(program, "aten::sub", kFloats, 2 * kMillisecond);
    copy(program);
  });
  EXPECT_TRUE(findings_of(trace, "cpu_prepared_tensor").empty());
  EXPECT_EQ(findings_of(trace, "cpu_built_tensor").size(), 1);
}

TEST(CpuPreparedTensorRule, is_silent_about_data_loaders) {
  EXPECT_TRUE(found_in([](ProgramSketch& program) {
                program.open(Kind::kAnnotation, "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__");
                run_operator(program, "aten::to", kBytes, 6 * kMillisecond);
                program.close();
                copy(program);
              }).empty());
}

const RuleSample kBytesToFloats("cpu_prepared_tensor", "bytes that become floats", [] { return training(prepare); });
const RuleSample kFloatsAgain("cpu_prepared_tensor", "floats", [] {
  return training([](ProgramSketch& program) {
    run_operator(program, "aten::div", kFloats, 2 * kMillisecond);
    copy(program);
  });
});

const RuleSample kFreed("cpu_prepared_tensor", "with memory that is freed", [] {
  return training([](ProgramSketch& program) { prepare_and_free(program, 2 * kMillisecond); });
});

}  // namespace
}  // namespace telltale
