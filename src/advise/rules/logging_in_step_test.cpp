#include <gtest/gtest.h>

#include <functional>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::string_view kFsync = "<built-in function fsync>";

// Three steps with a module that takes the host 5 ms and the device 1 ms, and then something.
Trace training(const std::function<void(ProgramSketch&)>& afterwards) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(3): train");
    program.open(Kind::kModule, "nn.Module: Net_0");
    program.kernel("aten::mm", 1 * kMillisecond);
    program.spend(5 * kMillisecond);
    program.close();
    afterwards(program);
    program.close();
  }
  return program.build();
}

TEST(LoggingInStepRule, a_step_in_twenty_would_still_log) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "train.py(40): after");
    program.open(Kind::kPython, "train.py(50): report");
    program.kernel("aten::norm", 10 * kMicrosecond);
    program.wait();
    program.spend(1 * kMillisecond);
    program.open(Kind::kPython, "train.py(60): write");
    program.run(Kind::kPython, kFsync, 1 * kMillisecond);
    program.close();
    program.close();
    program.close();
  });
  const std::vector<Finding> findings = findings_of(trace, "logging_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * 2, 0.05);
  EXPECT_EQ(findings[0].fix.id, "log_less");
  EXPECT_EQ(trace.name(findings[0].evidence.at(0)), "train.py(40): after");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 50, "report"}));
}

TEST(LoggingInStepRule, a_function_that_calls_modules_is_no_logging) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "train.py(40): validate");
    program.open(Kind::kModule, "nn.Module: Net_1");
    program.spend(5 * kMillisecond);
    program.close();
    program.run(Kind::kPython, kFsync, 1 * kMillisecond);
    program.close();
  });
  const std::vector<Finding> findings = findings_of(trace, "logging_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * 1, 0.05);
}

TEST(LoggingInStepRule, a_function_that_computes_on_the_device_is_no_logging) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "train.py(40): update_average");
    program.kernel("aten::lerp", 1 * kMillisecond);
    program.spend(5 * kMillisecond);
    program.run(Kind::kPython, kFsync, 1 * kMillisecond);
    program.close();
  });
  const std::vector<Finding> findings = findings_of(trace, "logging_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * 1, 0.05);
}

// Eight copies of 500 µs, four times as long as the device computes for a step, and 8 ms that write them.
TEST(LoggingInStepRule, copies_to_the_host_are_no_computation) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "train.py(40): checkpoint");
    program.open(Kind::kPython, "torch/serialization.py(1004): save");
    const CopyInfo to_host{.bytes = 4 << 20, .from = MemorySpace::kDevice, .to = MemorySpace::kPageable};
    for (int tensor = 0; tensor < 8; ++tensor) {
      program.copy("aten::copy_", to_host, 500 * kMicrosecond, /*is_blocking=*/true);
      program.spend(1 * kMillisecond);
    }
    program.close();
    program.close();
  });
  const std::vector<Finding> findings = findings_of(trace, "logging_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * (8 * 1.507), 0.1);  // a launch takes 5 µs, and a wait ends 2 µs late
  EXPECT_EQ(findings[0].title, "The GPU waits while the step saves its state");
  EXPECT_EQ(trace.name(findings[0].evidence.at(0)), "train.py(40): checkpoint");
}

// The logger is off and returns after 10 µs; the function around it works for 5 ms.
TEST(LoggingInStepRule, a_function_that_only_calls_a_logger_is_no_logging) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "serve.py(40): capture");
    program.spend(5 * kMillisecond);
    program.run(Kind::kPython, "logging/__init__.py(1517): debug", 10 * kMicrosecond);
    program.close();
  });
  EXPECT_TRUE(findings_of(trace, "logging_in_step").empty());
}

// A line is written in 200 µs; the function around it works for 5 ms.
TEST(LoggingInStepRule, a_function_that_writes_a_line_is_not_gone_with_it) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "serve.py(40): schedule");
    program.spend(5 * kMillisecond);
    program.run(Kind::kPython, kFsync, 200 * kMicrosecond);
    program.close();
  });
  const std::vector<Finding> findings = findings_of(trace, "logging_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * 0.2, 0.02);
}

TEST(LoggingInStepRule, is_silent_when_nothing_is_written) {
  const Trace trace =
      training([](ProgramSketch& program) { program.run(Kind::kPython, "train.py(40): schedule", 2 * kMillisecond); });
  EXPECT_TRUE(findings_of(trace, "logging_in_step").empty());
}

TEST(LoggingInStepRule, is_silent_about_the_profilers_own_writing) {
  const Trace trace = training([](ProgramSketch& program) {
    program.open(Kind::kPython, "torch/profiler/profiler.py(884): step");
    program.run(Kind::kPython, kFsync, 2 * kMillisecond);
    program.close();
  });
  EXPECT_TRUE(findings_of(trace, "logging_in_step").empty());
}

TEST(LoggingInStepRule, is_silent_when_the_device_works_meanwhile) {
  const Trace trace = training([](ProgramSketch& program) {
    program.kernel("aten::mm", 20 * kMillisecond);
    program.run(Kind::kPython, kFsync, 2 * kMillisecond);
  });
  EXPECT_TRUE(findings_of(trace, "logging_in_step").empty());
}

const RuleSample kWritesInEveryStep("logging_in_step", "writes in every step", [] {
  return training([](ProgramSketch& program) { program.run(Kind::kPython, kFsync, 2 * kMillisecond); });
});

// Of the function's 3 ms, 2 go into torch.save().
Trace saving() {
  return training([](ProgramSketch& program) {
    program.open(Kind::kPython, "train.py(70): keep");
    program.run(Kind::kPython, "torch/serialization.py(967): save", 2 * kMillisecond);
    program.run(Kind::kPython, kFsync, 1 * kMillisecond);
    program.close();
  });
}

TEST(LoggingInStepRule, says_of_checkpoints_what_they_are) {
  const std::vector<Finding> findings = findings_of(saving(), "logging_in_step");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_NEAR(likely_ms(findings[0]), 0.95 * 3, 0.05);
  EXPECT_EQ(findings[0].title, "The GPU waits while the step saves its state");
  EXPECT_TRUE(findings[0].fix.code.starts_with("- torch.save(state, path)"));
}

const RuleSample kSavesInEveryStep("logging_in_step", "saves in every step", saving);

// A service that loads its weights for each request.
TEST(LoggingInStepRule, does_not_take_loading_for_saving) {
  ProgramSketch program;
  for (int step = 0; step < 3; ++step) {
    program.begin_step();
    program.open(Kind::kPython, "serve.py(20): score");
    program.run(Kind::kPython, "torch/serialization.py(1309): load", 5 * kMillisecond);
    program.close();
    program.kernel("aten::mm", 10 * kMicrosecond);
  }
  EXPECT_TRUE(findings_of(program.build(), "logging_in_step").empty());
}

}  // namespace
}  // namespace telltale
