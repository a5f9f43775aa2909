#include "advise/memory_fixes.h"

#include <gtest/gtest.h>

#include "advise/memory_report.h"
#include "advise/testing/memory_sketch.h"

namespace telltale {
namespace {

std::vector<Finding> found(const Trace& trace, std::string_view rule) {
  std::vector<Finding> findings = memory_report(trace).findings;
  std::erase_if(findings, [&](const Finding& finding) { return finding.rule != rule; });
  return findings;
}

TEST(MemoryFixes, free_what_leaks_with_its_step) {
  // Six steps leave 4 MiB each, beside 20 MiB that come and go: 44 MiB in the last, 24 MiB where each frees its own.
  MemorySketch sketch;
  for (int step = 0; step < 6; ++step) {
    sketch.begin_step();
    sketch.leave("aten::mul", 4 * kMebi, "train.py(7): step");
    sketch.keep("aten::mm", 20 * kMebi);
    sketch.backward();
    sketch.optimize();
  }
  const std::vector<Finding> findings = found(sketch.build(), "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (44 - 24) * kMebi);
}

// A log that marks no steps, as a snapshot: each of eight keeps 4 MiB beside 1 that comes and goes, and all is freed
// when the program ends. 33 MiB at most, and 5 where each step frees its own.
TEST(MemoryFixes, free_what_leaks_in_steps_that_only_the_log_tells) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("log");
  Trace& trace = sketch.trace();
  Nanoseconds now = 0;
  const auto log = [&](AllocatorAction action, std::uint64_t address, std::int64_t bytes, std::string_view stack) {
    trace.allocator_events.push_back({.time = ++now,
                                      .address = address,
                                      .bytes = bytes,
                                      .call_stack = trace.strings.intern(stack),
                                      .action = action});
    sketch.allocate(thread, now, action == AllocatorAction::kAllocate ? bytes : -bytes, 0, address);
  };
  for (std::uint64_t step = 1; step <= 8; ++step) {
    log(AllocatorAction::kAllocate, step << 32, 4 * kMebi, "train.py(3): step");
    log(AllocatorAction::kAllocate, 1, kMebi, "train.py(4): step");
    log(AllocatorAction::kFreeCompleted, 1, kMebi, "");
  }
  for (std::uint64_t step = 1; step <= 8; ++step) log(AllocatorAction::kFreeCompleted, step << 32, 4 * kMebi, "");
  const std::vector<Finding> findings = found(sketch.build(), "memory_leak");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].source, (SourceLine{"train.py", 3, "step"}));
  EXPECT_EQ(findings[0].saving_bytes, (33 - 5) * kMebi);
}

TEST(MemoryFixes, make_a_spike_in_eight_pieces) {
  // 1,024 MiB are kept, and 2,048 MiB are made and freed: 3,072 MiB, and 1,024 + 256 where that comes in pieces.
  MemorySketch sketch;
  for (int step = 0; step < 3; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 1024 * kMebi);
    sketch.make("aten::softmax", 2048 * kMebi);
    sketch.end_of_forward();
    sketch.backward();
    sketch.optimize();
  }
  const std::vector<Finding> findings = found(sketch.build(), "memory_spike");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (3072 - 1280) * kMebi);
}

// A metric: no module, no autograd. 1,024 MiB are kept, and 2,048 MiB are made beside them and freed.
TEST(MemoryFixes, make_a_spike_outside_of_the_model_in_eight_pieces) {
  MemorySketch sketch;
  for (int step = 0; step < 3; ++step) {
    sketch.begin_step();
    sketch.keep("aten::mm", 1024 * kMebi);
    sketch.compute("aten::mm", 2048 * kMebi);
    sketch.end_of_forward();
    sketch.backward();
    sketch.optimize();
  }
  const std::vector<Finding> findings = found(sketch.build(), "memory_spike");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (3072 - 1280) * kMebi);
}

// Blocks of 30, 40 and 50 MiB, one after the other, in segments of their own: 120 MiB, and 60 with segments that grow
// by 20. Of a device of 200 MiB.
Trace fragmented(bool has_log) {
  ProgramSketch program;
  Trace& trace = program.sketch().trace();
  trace.devices.push_back({.id = 0, .name = "GPU", .memory_bytes = 200 * kMebi});
  std::int64_t reserved = 0;
  const auto log = [&](AllocatorAction action, std::uint64_t address, std::int64_t bytes) {
    if (!has_log) return;
    trace.allocator_events.push_back({.time = program.now(), .address = address, .bytes = bytes, .action = action});
  };
  const auto count = [&](std::int64_t bytes, std::uint64_t address) {
    program.sketch().allocate(program.thread(), program.now(), bytes, 0, address);
    trace.memory.total_allocated.back() = std::max<std::int64_t>(bytes, 0);
    trace.memory.total_reserved.back() = reserved;
  };
  program.begin_step();
  for (const std::int64_t mebibytes : {30, 40, 50}) {
    const std::int64_t bytes = mebibytes * kMebi;
    const std::uint64_t address = static_cast<std::uint64_t>(mebibytes) << 32;
    program.kernel("aten::mm", kMillisecond);
    program.open(Kind::kOperator, "aten::mm");
    program.spend(kMillisecond);
    reserved += bytes;
    log(AllocatorAction::kSegmentAllocate, address, bytes);
    log(AllocatorAction::kAllocate, address, bytes);
    count(bytes, address);
    program.spend(kMillisecond);
    if (mebibytes < 50) {
      log(AllocatorAction::kFreeRequested, address, bytes);
      log(AllocatorAction::kFreeCompleted, address, bytes);
      count(-bytes, address);
    }
    program.spend(kMillisecond);
    program.close();
  }
  return program.build();
}

TEST(MemoryFixes, let_segments_grow_in_the_simulation) {
  const std::vector<Finding> findings = found(fragmented(true), "fragmentation");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, (120 - 60) * kMebi);
}

TEST(MemoryFixes, promise_nothing_of_what_is_reserved_without_the_allocators_log) {
  const std::vector<Finding> findings = found(fragmented(false), "fragmentation");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving_bytes, 0);
}

}  // namespace
}  // namespace telltale
