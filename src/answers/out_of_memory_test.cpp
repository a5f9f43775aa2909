#include "answers/out_of_memory.h"

#include <gtest/gtest.h>

#include "analysis/testing/program_sketch.h"

namespace telltale::answers {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

// Two training steps on a device of 130 MiB. The first keeps four blocks of 20 MiB, the second asks for four of 40 and
// gets three: for the second of them the allocator gives the 80 MiB of the first step back.
class Failing {
 public:
  // Of `device` MiB, PyTorch may take 130.
  Trace trace(std::int64_t device = 130) {
    free_ = device - 120;
    program_.sketch().trace().devices.push_back({.id = 0, .name = "GPU", .memory_bytes = device * kMiB});
    program_.begin_step();
    for (int i = 0; i < 4; ++i) forward(20, true);
    for (; !kept_.empty(); kept_.pop_back()) backward(kept_.back());
    program_.run(Kind::kAnnotation, "Optimizer.step#SGD.step", kMillisecond);
    program_.begin_step();
    forward(40, true);
    for (std::uint64_t i = 1; i <= 4; ++i) log(AllocatorAction::kSegmentFree, i << 32, 20);
    forward(40, true);
    forward(40, true);
    forward(40, false);
    return program_.build();
  }

 private:
  struct Made {
    std::uint64_t address;
    std::int64_t mebibytes;
  };

  void log(AllocatorAction action, std::uint64_t address, std::int64_t mebibytes) {
    program_.sketch().trace().allocator_events.push_back(
        {.time = program_.now(), .address = address, .bytes = mebibytes * kMiB, .action = action});
  }

  void forward(std::int64_t mebibytes, bool is_served) {
    program_.open(Kind::kModule, "nn.Module: Net_0");
    program_.kernel("aten::mm", kMillisecond);
    program_.open(Kind::kOperator, "aten::mm");
    program_.spend(kMillisecond);
    if (is_served) {
      const Made made{++blocks_ << 32, mebibytes};
      log(AllocatorAction::kSegmentAllocate, made.address, mebibytes);
      log(AllocatorAction::kAllocate, made.address, mebibytes);
      program_.sketch().allocate(program_.thread(), program_.now(), mebibytes * kMiB, 0, made.address);
      kept_.push_back(made);
    } else {
      log(AllocatorAction::kOutOfMemory, static_cast<std::uint64_t>(free_ * kMiB), mebibytes);
    }
    program_.spend(kMillisecond);
    program_.close();
    program_.close();
  }

  void backward(const Made& made) {
    program_.open(Kind::kOperator, "autograd::engine::evaluate_function: MmBackward0");
    program_.spend(kMillisecond);
    log(AllocatorAction::kFreeRequested, made.address, made.mebibytes);
    log(AllocatorAction::kFreeCompleted, made.address, made.mebibytes);
    program_.sketch().allocate(program_.thread(), program_.now(), -made.mebibytes * kMiB, 0, made.address);
    program_.spend(kMillisecond);
    program_.close();
  }

  ProgramSketch program_;
  std::int64_t free_ = 0;
  std::uint64_t blocks_ = 0;
  std::vector<Made> kept_;
};

TEST(OutOfMemoryDiagnosis, says_what_held_the_memory_and_that_the_first_fix_is_enough) {
  const std::vector<std::string> lines = out_of_memory_diagnosis(Failing().trace());
  ASSERT_GE(lines.size(), 3);
  EXPECT_EQ(lines[0], "at most, tensors took 120 MiB: 120 MiB activations kept for backward");
  // Half of three blocks of 40 MiB.
  EXPECT_EQ(lines[1], "1. The whole batch is computed at once: saves 60.0 MiB");
  // Four segments of 10 MiB in the first step and three of 20 in the second, 100 MiB; for the 40 that were asked for
  // the first four go back: 100 MiB again.
  EXPECT_EQ(lines.back(), "with the first fix, it gets past that request: 100 MiB of 130 MiB");
}

TEST(OutOfMemoryDiagnosis, knows_that_pytorch_was_not_allowed_to_take_all_of_the_device) {
  // It held 120 MiB and was refused 40 more, so that it may have less than 160.
  EXPECT_EQ(out_of_memory_diagnosis(Failing().trace(1000)).back(),
            "with the first fix, it gets past that request: 100 MiB of 160 MiB");
}

TEST(OutOfMemoryDiagnosis, is_what_the_report_of_memory_begins_with) {
  const Trace trace = Failing().trace();
  EXPECT_EQ(
      out_of_memory_remarks(trace, memory_report(trace, {}, true)),
      (std::vector<std::string>{"Memory ran out on GPU 0: 40.0 MiB were asked for, and the device had 10.0 MiB free.",
                                "With the first fix, it gets past that request: 100 MiB of 130 MiB."}));
  EXPECT_TRUE(out_of_memory_remarks(Trace(), {}).empty());
}

TEST(OutOfMemoryDiagnosis, is_empty_where_memory_was_not_recorded) {
  EXPECT_TRUE(out_of_memory_diagnosis(Trace()).empty());
}

}  // namespace
}  // namespace telltale::answers
