#include "advise/memory_rule.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "advise/memory_report.h"
#include "advise/testing/advise_sketch.h"
#include "analysis/host_work.h"

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

std::vector<Finding> found(const Trace& trace, std::string_view rule) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [&](const Finding& finding) { return finding.rule != rule; });
  return findings;
}

bool is_known(std::string_view fix) {
  return std::ranges::find(kFixIds, fix) != kFixIds.end() ||
         std::ranges::find(kMemoryFixIds, fix) != kMemoryFixIds.end();
}

// Two steps in which each of four modules keeps 10 MiB and an output of 2 MiB for the backward pass.
Trace training(std::int64_t gradients = 0) {
  ProgramSketch program;
  TraceSketch& sketch = program.sketch();
  std::uint64_t address = 1;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    std::vector<std::pair<std::uint64_t, std::int64_t>> kept;
    for (int block = 0; block < 4; ++block) {
      program.open(Kind::kModule, "nn.Module: Block_" + std::to_string(block));
      for (const std::int64_t bytes : {10 * kMiB, 2 * kMiB}) {
        program.open(Kind::kOperator, "aten::mm");
        program.spend(kMillisecond);
        sketch.allocate(program.thread(), program.now(), bytes, kHost, ++address);
        kept.emplace_back(address, bytes);
        program.spend(kMillisecond);
        program.close();
      }
      program.close();
    }
    for (; !kept.empty(); kept.pop_back()) {
      program.open(Kind::kOperator, "autograd::engine::evaluate_function: MmBackward0");
      program.spend(kMillisecond);
      sketch.allocate(program.thread(), program.now(), -kept.back().second, kHost, kept.back().first);
      if (gradients > 0 && kept.size() == 1)
        sketch.allocate(program.thread(), program.now(), gradients, kHost, ++address);
      program.spend(kMillisecond);
      program.close();
    }
    program.open(Kind::kAnnotation, "Optimizer.step#SGD.step");
    program.spend(kMillisecond);
    program.close();
  }
  return program.build();
}

TEST(MemoryReport, says_where_the_log_has_forgotten_its_start) {
  const auto is_told = [](const Trace& trace) {
    return std::ranges::any_of(memory_report(trace).remarks, [](const std::string& remark) {
      return remark.contains("begins in the middle of the program");
    });
  };
  Trace trace = training();
  EXPECT_FALSE(is_told(trace));
  trace.metadata.emplace_back("allocator_log_is_cut", "true");
  EXPECT_TRUE(is_told(trace));
}

TEST(MemoryReport, says_that_a_file_is_cut_off_and_not_that_it_never_had_a_history) {
  const auto is_told = [](const Trace& trace, std::string_view words) {
    return std::ranges::any_of(memory_report(trace).remarks,
                               [&](const std::string& remark) { return remark.contains(words); });
  };
  Trace snapshot;
  snapshot.memory_segments.push_back({.address = 1 << 20, .bytes = 2 << 20, .is_large = 1});
  snapshot.memory_blocks.push_back(
      {.segment = 0, .address = 1 << 20, .bytes = 2 << 20, .state = BlockState::kAllocated});
  EXPECT_TRUE(is_told(snapshot, "has no history"));
  snapshot.anomalies.add(Anomaly::kTruncated, 100);
  EXPECT_FALSE(is_told(snapshot, "has no history"));
  EXPECT_TRUE(is_told(snapshot, "with its end the log is lost"));

  Trace with_log = training();
  EXPECT_FALSE(is_told(with_log, "cut off"));
  with_log.anomalies.add(Anomaly::kTruncated, 100);
  EXPECT_TRUE(is_told(with_log, "what stands behind the cut is not counted"));
}

// As a loader's worker: two operators for each sample, of which one leaves 1 MiB behind.
TEST(MemoryReport, says_what_a_step_is_where_none_are_marked_and_something_grows) {
  const auto remarks = [](std::int64_t left) {
    ProgramSketch program;
    std::uint64_t address = 0;
    for (int sample = 0; sample < 40; ++sample) {
      program.open(Kind::kAnnotation, "sample");
      const ProgramSketch::Handle op = program.open(Kind::kOperator, "aten::zeros");
      program.sketch().set_call_stack(op, "data.py(7): __getitem__");
      program.spend(kMillisecond);
      program.sketch().allocate(program.thread(), program.now(), kMiB, kHost, ++address);
      if (left == 0) program.sketch().allocate(program.thread(), program.now() + 10, -kMiB, kHost, address);
      program.spend(kMillisecond);
      program.close();
      program.run(Kind::kOperator, "aten::normal_", kMillisecond);
      program.close();
    }
    const MemoryReport report = memory_report(program.build());
    EXPECT_EQ(report.causes.leaks.size(), left > 0 ? 1 : 0);
    return std::ranges::count_if(report.remarks, [](const std::string& remark) {
      return remark.contains("what repeats in it stands for them");
    });
  };
  EXPECT_EQ(remarks(kMiB), 1);
  EXPECT_EQ(remarks(0), 0);
}

TEST(MemoryRules, say_what_they_are_about) {
  for (const RuleInfo& info : memory_rule_infos()) {
    EXPECT_FALSE(info.id.empty());
    EXPECT_FALSE(info.title.empty()) << info.id;
    for (const std::string& text : {info.looks_for, info.needs, info.saving, info.held})
      EXPECT_TRUE(text.ends_with('.')) << info.id;
    EXPECT_FALSE(info.fixes.empty()) << info.id;
    for (const std::string_view fix : info.fixes) EXPECT_TRUE(is_known(fix)) << fix;
  }
}

TEST(RecomputeActivationsRule, frees_all_but_the_inputs_and_what_one_module_needs) {
  const std::vector<Finding> findings = found(training(), "recompute_activations");
  ASSERT_EQ(findings.size(), 1);
  // 4 × 12 MiB are kept; 4 × 2 MiB stay as inputs, and 10 MiB while one is computed again.
  EXPECT_EQ(findings[0].saving_bytes, (48 - 8 - 10) * kMiB);
  EXPECT_EQ(findings[0].fix.id, "checkpoint");
  // The forward pass of four modules of 4 ms each runs twice.
  ASSERT_TRUE(findings[0].cost);
  EXPECT_NEAR(static_cast<double>(*findings[0].cost), 16e6, 1.6e6);
}

// Norms that each make an output and, behind it in the same operator, statistics of 1 MiB. What follows keeps the
// output, as its input; only a module that has more inside can be computed again with a gain.
TEST(RecomputeActivationsRule, knows_that_what_follows_keeps_all_that_the_last_operator_made) {
  ProgramSketch program;
  std::uint64_t address = 0;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    std::vector<std::pair<std::uint64_t, std::int64_t>> kept;
    for (int block = 0; block < 4; ++block) {
      program.open(Kind::kModule, "nn.Module: GroupNorm_" + std::to_string(block));
      program.open(Kind::kOperator, "aten::native_group_norm");
      for (const std::int64_t bytes : {10 * kMiB, kMiB}) {
        program.open(Kind::kOperator, "aten::empty");
        program.spend(kMillisecond);
        program.sketch().allocate(program.thread(), program.now(), bytes, kHost, ++address);
        kept.emplace_back(address, bytes);
        program.spend(kMillisecond);
        program.close();
      }
      program.close();
      program.close();
    }
    for (; !kept.empty(); kept.pop_back()) {
      program.open(Kind::kOperator, "autograd::engine::evaluate_function: NativeGroupNormBackward0");
      program.spend(kMillisecond);
      program.sketch().allocate(program.thread(), program.now(), -kept.back().second, kHost, kept.back().first);
      program.spend(kMillisecond);
      program.close();
    }
    program.open(Kind::kAnnotation, "Optimizer.step#SGD.step");
    program.spend(kMillisecond);
    program.close();
  }
  EXPECT_TRUE(found(program.build(), "recompute_activations").empty());
}

TEST(WholeBatchRule, halves_what_grows_with_the_batch) {
  const std::vector<Finding> findings = found(training(), "whole_batch");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, 24 * kMiB);
}

TEST(KeptGradientsRule, frees_those_of_the_step_before_at_a_peak_in_the_forward_pass) {
  const std::vector<Finding> findings = found(training(16 * kMiB), "kept_gradients");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, 16 * kMiB);
  EXPECT_TRUE(found(training(0), "kept_gradients").empty());
}

// The peak of the device when the fix of a rule's first finding is made, by adding up its blocks.
std::int64_t peak_without(const Trace& trace, std::string_view rule) {
  const MemoryReport report = memory_report(trace, {}, true);
  const auto finding = std::ranges::find(report.findings, rule, &Finding::rule);
  EXPECT_NE(finding, report.findings.end());
  EXPECT_NE(finding->memory_edit, nullptr);
  const DeviceId device = fullest(report.causes)->peak.device;
  const auto blocks = used_blocks(trace, device, phase_by_event(trace, host_work_by_event(trace)));
  return edited_peak(blocks, *finding->memory_edit).allocated;
}

TEST(KeptGradientsRule, moves_the_peak_to_where_they_are_needed) {
  // 48 + 16 MiB in the forward pass of the second step; without them 48 there, and 16 behind the backward passes.
  EXPECT_EQ(peak_without(training(16 * kMiB), "kept_gradients"), 48 * kMiB);
}

TEST(WholeBatchRule, halves_the_blocks_of_all_steps) { EXPECT_EQ(peak_without(training(), "whole_batch"), 24 * kMiB); }

TEST(RecomputeActivationsRule, computes_one_module_after_the_other_again) {
  // As in training(), but the backward pass comes to one module after the other.
  ProgramSketch program;
  std::uint64_t address = 0;
  for (int step = 0; step < 2; ++step) {
    program.begin_step();
    std::vector<std::pair<std::uint64_t, std::int64_t>> kept;
    for (int block = 0; block < 4; ++block) {
      program.open(Kind::kModule, "nn.Module: Block_" + std::to_string(block));
      for (const std::int64_t bytes : {10 * kMiB, 2 * kMiB}) {
        program.open(Kind::kOperator, "aten::mm");
        program.spend(kMillisecond);
        program.sketch().allocate(program.thread(), program.now(), bytes, kHost, ++address);
        kept.emplace_back(address, bytes);
        program.spend(kMillisecond);
        program.close();
      }
      program.close();
    }
    for (; !kept.empty(); kept.pop_back()) {
      program.open(Kind::kOperator, "autograd::engine::evaluate_function: MmBackward0");
      program.spend(kMillisecond);
      program.sketch().allocate(program.thread(), program.now(), -kept.back().second, kHost, kept.back().first);
      program.spend(kMillisecond);
      program.close();
    }
    program.run(Kind::kAnnotation, "Optimizer.step#SGD.step", kMillisecond);
  }
  const Trace trace = program.build();
  // In the last module: the outputs of three, and 12 MiB of its own. That is what the finding promises, too.
  EXPECT_EQ(peak_without(trace, "recompute_activations"), (3 * 2 + 12) * kMiB);
  EXPECT_EQ(found(trace, "recompute_activations").at(0).saving_bytes, (48 - 18) * kMiB);
}

// Six steps, each with a first module of whose 12 MiB the backward pass never hears, as of a graph that is kept, beside
// four that keep as much. Of 120 MiB at the last peak, 60 are what five steps left. With checkpoints, the output of the
// newest step's first module, 3 × 2 and 12 stand beside these when the backward pass is in the last one.
TEST(RecomputeActivationsRule, leaves_out_what_leaks) {
  ProgramSketch program;
  std::uint64_t address = 0;
  for (int step = 0; step < 6; ++step) {
    program.begin_step();
    std::vector<std::pair<std::uint64_t, std::int64_t>> kept;
    const auto make = [&](std::int64_t bytes, std::string_view line) {
      const ProgramSketch::Handle op = program.open(Kind::kOperator, "aten::mm");
      program.sketch().set_call_stack(op, line);
      program.spend(kMillisecond);
      program.sketch().allocate(program.thread(), program.now(), bytes, kHost, ++address);
      program.spend(kMillisecond);
      program.close();
    };
    for (int block = 0; block < 5; ++block) {
      program.open(Kind::kModule, "nn.Module: Block_" + std::to_string(block));
      for (const std::int64_t bytes : {10 * kMiB, 2 * kMiB}) {
        make(bytes, block == 0 ? "train.py(7): step" : "train.py(8): step");
        if (block > 0) kept.emplace_back(address, bytes);
      }
      program.close();
    }
    for (; !kept.empty(); kept.pop_back()) {
      program.open(Kind::kOperator, "autograd::engine::evaluate_function: MmBackward0");
      program.spend(kMillisecond);
      program.sketch().allocate(program.thread(), program.now(), -kept.back().second, kHost, kept.back().first);
      program.spend(kMillisecond);
      program.close();
    }
    program.run(Kind::kAnnotation, "Optimizer.step#SGD.step", kMillisecond);
  }
  const std::vector<Finding> findings = found(program.build(), "recompute_activations");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (120 - 60 - 2 - 18) * kMiB);
}

TEST(MemoryRules, are_silent_in_analyze_where_memory_is_not_scarce) {
  for (const Finding& finding : diagnose(training()).findings) EXPECT_EQ(finding.saving_bytes, 0) << finding.rule;
}

}  // namespace
}  // namespace telltale
