#include "report/memory_words.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

constexpr std::int64_t kMiB = 1 << 20;

MemoryReport report_of(DeviceId device) {
  MemoryReport report;
  DeviceCauses& causes = report.causes.devices.emplace_back();
  causes.peak.device = device;
  causes.peak.allocated = 600 * kMiB;
  causes.peak.reserved = 800 * kMiB;
  return report;
}

DeviceCauses with_steps(std::initializer_list<std::int64_t> peaks, bool do_rise) {
  DeviceCauses device;
  for (const std::int64_t peak : peaks)
    device.timeline.steps.push_back({.index = std::ssize(device.timeline.steps), .peak = peak * kMiB});
  device.timeline.peaks_rise = do_rise;
  return device;
}

TEST(MemoryWords, of_steps_that_peak_ever_higher_do_not_call_them_alike) {
  EXPECT_EQ(steps_sentence(with_steps({681, 713, 745, 777, 809}, true)),
            "The 5 steps peak higher and higher, from 681 MiB to 809 MiB.");
  EXPECT_EQ(steps_sentence(with_steps({700, 690, 710, 700}, false)),
            "The 4 steps are alike: each peaks between 690 MiB and 710 MiB.");
}

TEST(MemoryWords, of_a_process_that_grows_name_it) {
  const MemoryReport report = report_of(kHost);
  MemoryLeak leak{.bytes_per_step = 8.0 * kMiB, .bytes = 96 * kMiB};
  leak.process.emplace();
  EXPECT_EQ(leak_sentence(report, leak), "The process itself grows by 8.00 MiB in every step; 96.0 MiB so far.");
  leak.process->child = "process 1234";
  EXPECT_EQ(leak_sentence(report, leak),
            "Process 1234, a child of the recorded one, grows by 8.00 MiB in every step; 96.0 MiB so far.");
  leak.process->is_loader_worker = true;
  EXPECT_EQ(leak_sentence(report, leak),
            "Process 1234, a worker of the data loader, grows by 8.00 MiB in every step; 96.0 MiB so far.");
}

TEST(MemoryWords, of_what_keeps_a_leak_go_from_the_variable_to_the_tensor) {
  MemoryLeak leak;
  EXPECT_EQ(keeper_sentence(leak), "");
  leak.kept_by = std::vector<std::string>{"Tensor [4]", "list of 20", "variable 'kept' of main (train.py:3)"};
  EXPECT_EQ(keeper_sentence(leak), "Kept alive by variable 'kept' of main (train.py:3) → list of 20 → Tensor [4].");
  leak.kept_by->clear();
  EXPECT_TRUE(keeper_sentence(leak).starts_with("What keeps it alive was looked for and not found"));
}

TEST(MemoryWords, of_what_keeps_the_largest_count_those_of_each_variable_and_leave_out_leaks) {
  DeviceCauses device;
  EXPECT_EQ(tensor_keepers_sentence(device), "");
  const auto add = [&](MemoryUse use, std::vector<std::string> links) {
    PeakTensor& tensor = device.peak.tensors.emplace_back();
    tensor.use = use;
    tensor.kept_by = std::move(links);
  };
  device.peak.tensors.emplace_back();  // nobody looked
  add(MemoryUse::kOther, {});
  add(MemoryUse::kOther, {"Tensor [4]"});  // and nobody who holds it
  add(MemoryUse::kOther, {"Tensor [4]", "list of 2", "variable 'cache' of gen (gen.py:3)"});
  add(MemoryUse::kLeftBehind, {"Tensor [4]", "variable 'leak' of gen (gen.py:4)"});
  EXPECT_EQ(tensor_keepers_sentence(device),
            "Of the largest, 1 is kept alive by variable 'cache' of gen (gen.py:3) → list of 2.");
  add(MemoryUse::kInputs, {"Tensor [8]", "variable 'x' of main (gen.py:9)"});
  add(MemoryUse::kOther, {"Tensor [8]", "list of 2", "variable 'cache' of gen (gen.py:3)"});
  EXPECT_EQ(
      tensor_keepers_sentence(device),
      "Of the largest, 2 are kept alive by variable 'cache' of gen (gen.py:3) → list of 2 and 1 by variable 'x' of "
      "main (gen.py:9).");
}

TEST(MemoryWords, of_pinning_blocks_name_the_lines_that_matter) {
  DeviceCauses device;
  Fragmentation& lost = device.fragmentation.emplace();
  lost.totals.reserved = 1000 * kMiB;
  lost.hard_bytes = 100 * kMiB;
  lost.lines = {{SourceLine{"src/cache.py", 3, "keep"}, 95 * kMiB, 4 * kMiB, 2}, {std::nullopt, 5 * kMiB, kMiB, 1}};
  EXPECT_EQ(pinning_sentence(device),
            "Live blocks that keep free memory apart were made at src/cache.py:3 in keep (2 blocks of 4.00 MiB beside "
            "95.0 MiB of free memory).");
  lost.hard_bytes = 5 * kMiB;
  EXPECT_EQ(pinning_sentence(device), "");
}

TEST(MemoryWords, of_a_snapshot_without_history_speak_of_its_moment) {
  MemoryReport report = report_of(0);
  DeviceCauses& device = report.causes.devices[0];
  EXPECT_EQ(peak_sentence(report, device), "The GPU has 600 MiB allocated at most; PyTorch reserves up to 800 MiB.");
  device.has_history = false;
  EXPECT_EQ(peak_sentence(report, device),
            "The GPU has 600 MiB allocated when the snapshot is taken; PyTorch reserves 800 MiB.");
  EXPECT_EQ(peak_place_sentence(device), "");
  EXPECT_EQ(peak_heading(device), "In the snapshot");
  // Nothing is asked for, so that a free segment is not too small for it.
  device.fragmentation = Fragmentation{.soft_bytes = 20 * kMiB};
  EXPECT_EQ(fragmentation_sentence(device),
            "Of what is reserved, 20.0 MiB is in no tensor: 0 B beside live blocks, 20.0 MiB in free segments, 0 B in "
            "those of other streams and pools, 0 B by rounding.");
}

TEST(MemoryWords, say_so_where_the_last_use_is_not_known) {
  PeakTensor tensor;
  EXPECT_EQ(last_use_text(tensor), "stays");
  tensor.freed = 3;
  EXPECT_EQ(last_use_text(tensor), "not known");
}

}  // namespace
}  // namespace telltale
