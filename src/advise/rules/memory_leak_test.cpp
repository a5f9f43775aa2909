#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

// Steps that allocate a block each, and free it in the next step if at all. Nothing else is in use.
Trace training(int steps, std::int64_t bytes, bool frees, std::int64_t memory_of_device) {
  ProgramSketch program;
  Device device{0, "GPU"};
  device.memory_bytes = memory_of_device;
  program.sketch().trace().devices.push_back(device);
  for (std::uint64_t step = 1; step <= static_cast<std::uint64_t>(steps); ++step) {
    program.begin_step();
    program.open(Kind::kPython, "train.py(30): keep");
    program.open(Kind::kOperator, "aten::mean");
    program.spend(kMillisecond);
    program.sketch().allocate(program.thread(), program.now(), bytes, 0, step);
    program.spend(kMillisecond);
    if (frees && step > 1) program.sketch().allocate(program.thread(), program.now(), -bytes, 0, step - 1);
    program.close();
    program.kernel("aten::mm", kMillisecond);
  }
  return program.build();
}

TEST(MemoryLeakRule, tells_the_growth_and_when_the_memory_is_full) {
  const std::vector<Finding> findings = findings_of(training(4, 10 * kMiB, false, 1000 * kMiB), "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
  EXPECT_EQ(findings[0].saving.high, 0);
  EXPECT_EQ(findings[0].fix.id, "detach");
  EXPECT_EQ(findings[0].title, "Every step leaves 10.0 MiB of GPU memory allocated");
  EXPECT_EQ(findings[0].explanation,
            "Even at its lowest, the memory in use grows by 10.0 MiB per step; most of it was allocated by aten::mean "
            "and never freed. The GPU's memory will be full after about 96 more steps.");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 30, "keep"}));
}

TEST(MemoryLeakRule, is_silent_when_each_step_frees_what_the_last_one_left) {
  EXPECT_TRUE(findings_of(training(4, 10 * kMiB, true, 1000 * kMiB), "memory_leak").empty());
}

TEST(MemoryLeakRule, is_silent_about_little_growth_and_too_few_steps) {
  EXPECT_TRUE(findings_of(training(4, kMiB, false, 1000 * kMiB), "memory_leak").empty());
  EXPECT_TRUE(findings_of(training(2, 10 * kMiB, false, 1000 * kMiB), "memory_leak").empty());
}

// A program on the host alone, in steps of 2 ms.
class HostProgram {
 public:
  explicit HostProgram(std::int64_t memory_of_machine) {
    program_.sketch().trace().metadata.emplace_back("memory_bytes", "\"" + std::to_string(memory_of_machine) + "\"");
  }
  void begin_step() {
    program_.begin_step();
    program_.spend(2 * kMillisecond);
  }
  std::uint64_t allocate(std::string_view op, std::int64_t bytes) {
    program_.open(Kind::kPython, "train.py(12): loss");
    program_.open(Kind::kOperator, op);
    program_.sketch().allocate(program_.thread(), program_.now(), bytes, kHost, ++address_);
    program_.spend(kMicrosecond);
    program_.close();
    program_.close();
    return address_;
  }
  void free(std::uint64_t address, std::int64_t bytes) {
    program_.sketch().allocate(program_.thread(), program_.now(), -bytes, kHost, address);
    program_.spend(kMicrosecond);
  }
  Trace build() { return program_.build(); }

 private:
  ProgramSketch program_;
  std::uint64_t address_ = 0;
};

Trace kept_graphs() {
  HostProgram program(1000 * kMiB);
  for (int step = 0; step < 4; ++step) {
    program.begin_step();
    program.allocate("aten::addmm", 4 * kMiB);
    program.allocate("aten::relu", 7 * kMiB / 2);
    program.allocate("aten::mean", 5 * kMiB / 2);
  }
  return program.build();
}

TEST(MemoryLeakRule, adds_up_what_several_operators_leave_on_the_host) {
  const std::vector<Finding> findings = findings_of(kept_graphs(), "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "Every step leaves 10.0 MiB of memory allocated");
  EXPECT_EQ(
      findings[0].explanation,
      "Even at its lowest, the memory in use grows by 10.0 MiB per step; most of it was allocated by aten::addmm, "
      "aten::relu and aten::mean and never freed. The machine's memory will be full after about 96 more steps.");
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 12, "loss"}));
}

TEST(MemoryLeakRule, tells_of_a_dataset_where_a_worker_of_a_loader_leaks) {
  Trace trace = kept_graphs();
  EXPECT_TRUE(findings_of(trace, "memory_leak")[0].fix.text.contains("outlives the request"));
  trace.metadata.emplace_back("loader_worker", "0");
  EXPECT_TRUE(findings_of(trace, "memory_leak")[0].fix.text.contains("dataset that outlives the batch"));
}

Trace small_leak(std::int64_t bytes, std::int64_t memory_of_machine) {
  HostProgram program(memory_of_machine);
  for (int step = 0; step < 12; ++step) {
    program.begin_step();
    program.allocate("aten::mean", bytes);
  }
  return program.build();
}

TEST(MemoryLeakRule, little_growth_matters_where_the_memory_is_full_within_a_day) {
  EXPECT_EQ(findings_of(small_leak(kMiB / 10, 100 * kMiB), "memory_leak").size(), 1);  // 1,000 steps of 2 ms
  // 16 TiB take 168 million steps, some 336,000 s.
  EXPECT_TRUE(findings_of(small_leak(kMiB / 10, 16 * 1024 * 1024 * kMiB), "memory_leak").empty());
  EXPECT_TRUE(findings_of(small_leak(kMiB / 20, 100 * kMiB), "memory_leak").empty());  // 51 KiB per step
}

TEST(MemoryLeakRule, is_silent_about_caches_that_are_copied_or_dropped) {
  HostProgram copied(1000 * kMiB);  // as torch.cat makes a cache longer
  std::uint64_t last = 0;
  for (int step = 1; step <= 20; ++step) {
    copied.begin_step();
    const std::uint64_t now = copied.allocate("aten::cat", step * 4 * kMiB);
    if (last != 0) copied.free(last, (step - 1) * 4 * kMiB);
    last = now;
  }
  EXPECT_TRUE(findings_of(copied.build(), "memory_leak").empty());

  HostProgram dropped(1000 * kMiB);  // a list per request, the last one of which is long
  std::vector<std::uint64_t> kept;
  for (int step = 0; step < 40; ++step) {
    if (step == 10 || step == 20) {
      for (const std::uint64_t address : kept) dropped.free(address, 4 * kMiB);
      kept.clear();
    }
    dropped.begin_step();
    kept.push_back(dropped.allocate("aten::addmm", 4 * kMiB));
  }
  EXPECT_TRUE(findings_of(dropped.build(), "memory_leak").empty());
}

// Twelve steps of 100 ms, with a value of the counter in each.
Trace process_of(const std::vector<int>& mebibytes) {
  ProgramSketch program;
  program.sketch().trace().metadata.emplace_back("memory_bytes", "\"" + std::to_string(2048 * kMiB) + "\"");
  for (const int value : mebibytes) {
    program.begin_step();
    program.run(Kind::kOperator, "aten::mm", 50 * kMillisecond);
    program.sketch().count("resident memory", program.now(), static_cast<double>(value * kMiB));
    program.run(Kind::kOperator, "aten::mm", 50 * kMillisecond);
  }
  return program.build();
}

Trace growing_process_of_20_mebibytes() {
  return process_of({1000, 1020, 1040, 1060, 1080, 1100, 1120, 1140, 1160, 1180, 1200, 1220});
}

TEST(MemoryLeakRule, takes_resident_memory_that_rises_steadily_as_a_hint) {
  const std::vector<Finding> findings = findings_of(growing_process_of_20_mebibytes(), "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].confidence, Confidence::kLow);
  EXPECT_EQ(findings[0].title, "The process grows by 20.0 MiB per step");
  // 2,048 - 1,220 = 828 MiB are left, for 41.4 steps.
  EXPECT_EQ(
      findings[0].explanation,
      "Its resident memory rises steadily, to 1.19 GiB at the end. The machine's memory will be full after about 41 "
      "more steps. What takes it was not recorded.");
}

TEST(MemoryLeakRule, counts_steps_that_the_recorder_left_out) {
  Trace trace = growing_process_of_20_mebibytes();
  for (Step& step : trace.steps)
    if (step.index >= 6) step.index += 60;
  const std::vector<Finding> findings = findings_of(trace, "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "The process grows by 3.33 MiB per step");  // 240 MiB in 72 steps
}

TEST(MemoryLeakRule, is_silent_about_processes_that_warm_up_or_give_memory_back) {
  EXPECT_TRUE(
      findings_of(process_of({600, 700, 800, 900, 1000, 1100, 1200, 1201, 1202, 1203, 1203, 1203}), "memory_leak")
          .empty());
  EXPECT_TRUE(findings_of(process_of({600, 800, 1000, 1200, 620, 820, 1020, 1220, 610, 840, 1040, 1240}), "memory_leak")
                  .empty());
  EXPECT_TRUE(
      findings_of(process_of({600, 602, 604, 606, 608, 610, 612, 614, 616, 618, 620, 622}), "memory_leak").empty());
}

const RuleSample kOnHost("memory_leak", "several operators on the host", kept_graphs);
const RuleSample kProcess("memory_leak", "resident memory", growing_process_of_20_mebibytes);
const RuleSample k96MoreSteps("memory_leak", "96 more steps",
                              [] { return training(4, 10 * kMiB, false, 1000 * kMiB); });
const RuleSample k1MoreStep("memory_leak", "1 more step", [] { return training(4, 10 * kMiB, false, 50 * kMiB); });
const RuleSample k0MoreSteps("memory_leak", "0 more steps", [] { return training(4, 10 * kMiB, false, 40 * kMiB); });

}  // namespace
}  // namespace telltale
