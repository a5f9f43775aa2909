#include "report/memory_what_if_terminal.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "report/json.h"

namespace telltale {
namespace {

constexpr std::int64_t kGiB = 1 << 30;

MemoryWhatIf answer() {
  MemoryWhatIf made;
  made.path = "train.pickle";
  made.check.recorded_peak_reserved = made.check.simulated_peak_reserved = 12 * kGiB;
  made.before = {.peak_allocated = 10 * kGiB, .peak_reserved = 12 * kGiB};
  made.low = {.peak_allocated = 16 * kGiB, .peak_reserved = 19 * kGiB};
  made.high = {.peak_allocated = 18 * kGiB, .peak_reserved = 21 * kGiB};
  made.batch_factor = 2;
  return made;
}

TEST(MemoryWhatIfText, says_whether_it_fits_and_how_large_a_batch_may_be) {
  MemoryWhatIf made = answer();
  made.capacity = 24 * kGiB;
  made.largest_batch = 2.25;
  made.largest_batch_at_best = 2.5;
  const std::string text = memory_what_if_text(made, {.width = 100});
  EXPECT_TRUE(
      text.starts_with("It fits into 24.0 GiB.\n"
                       "The largest batch that fits is 2.25 times the recorded one (2.50 at best).\n"))
      << text;
  EXPECT_TRUE(text.contains("16.0 GiB to 18.0 GiB")) << text;
  EXPECT_TRUE(text.contains("19.0 GiB to 21.0 GiB")) << text;
  EXPECT_TRUE(text.contains("With 2 times the recorded batch")) << text;
  EXPECT_TRUE(text.contains("reproduces the recorded peak of 12.0 GiB reserved, exactly")) << text;
}

TEST(MemoryWhatIfText, says_so_where_larger_batches_were_not_tried_and_where_perhaps_none_fits) {
  MemoryWhatIf made = answer();
  made.capacity = 24 * kGiB;
  made.largest_batch = made.largest_batch_at_best = 64;
  const auto text = [&] { return memory_what_if_text(made, {.width = 100}); };
  EXPECT_TRUE(text().contains("\nThe largest batch that fits is at least 64 times the recorded one.\n")) << text();
  made.largest_batch = 40;
  EXPECT_TRUE(text().contains(" 40 times the recorded one (at least 64 at best).\n")) << text();
  made.largest_batch = 0;
  made.largest_batch_at_best = 0.5625;
  EXPECT_TRUE(text().contains("\nAt best, 56 % of the recorded batch fits, and perhaps none.\n")) << text();
  made.largest_batch_at_best = 1.25;
  EXPECT_TRUE(text().contains("\nAt best, 1.25 times the recorded batch fits, and perhaps none.\n")) << text();
}

TEST(MemoryWhatIfText, speaks_of_no_allocator_where_there_is_none) {
  MemoryWhatIf made = answer();
  made.batch_factor.reset();
  made.capacity = kGiB;
  made.low.failure = made.high.failure =
      WhatIfFailure{.made_by = "aten::mm", .requested = kGiB / 2, .allocated = kGiB, .reserved = kGiB};
  const auto text = [&] {
    std::string in_one_line = memory_what_if_text(made, {.width = 100});
    std::ranges::replace(in_one_line, '\n', ' ');
    return in_one_line;
  };
  EXPECT_TRUE(text().contains("when tensors take 1.00 GiB and the allocator holds 1.00 GiB. ")) << text();
  made.is_simulated = false;
  made.device = kHost;
  made.before.peak_reserved = made.low.peak_reserved = made.high.peak_reserved = std::nullopt;
  EXPECT_TRUE(text().contains("asks for 512 MiB when tensors take 1.00 GiB. ")) << text();
}

TEST(MemoryWhatIfText, names_the_settings_where_they_are_the_question) {
  MemoryWhatIf made = answer();
  made.batch_factor.reset();
  made.capacity = 24 * kGiB;
  made.settings = "expandable_segments:True";  // as recorded
  const auto text = [&] { return memory_what_if_text(made, {.width = 100}); };
  EXPECT_TRUE(text().contains("With this much memory")) << text();
  made.has_other_settings = true;
  EXPECT_TRUE(text().contains("With expandable_segments:True")) << text();
  made.settings.clear();
  EXPECT_TRUE(text().contains("With PyTorch's own settings")) << text();
}

TEST(MemoryWhatIfText, names_the_rules_whose_findings_are_fixed_and_how_that_is_known) {
  MemoryWhatIf made = answer();
  made.batch_factor.reset();
  made.without = {{"whole_logits", "The logits of all tokens stand in memory at once", "chunk"}};
  made.is_simulated = false;
  made.low.peak_reserved = 16 * kGiB;
  const std::string text = memory_what_if_text(made, {.width = 100});
  EXPECT_TRUE(text.contains("Without whole_logits")) << text;
  EXPECT_TRUE(text.contains("16.0 GiB to 21.0 GiB")) << text;
  EXPECT_TRUE(text.contains("has no log of PyTorch's allocator")) << text;
  EXPECT_FALSE(text.contains("The simulation")) << text;
  made.low.peak_reserved = made.high.peak_reserved = made.before.peak_reserved = std::nullopt;
  EXPECT_TRUE(to_json(made).contains("\"peak_reserved_bytes\":null")) << to_json(made);
  EXPECT_FALSE(memory_what_if_text(made, {.width = 100}).contains("What is reserved")) << text;
}

TEST(MemoryWhatIfText, names_the_line_that_fails_first) {
  MemoryWhatIf made = answer();
  made.capacity = 16 * kGiB;
  made.high.failure = WhatIfFailure{.source = SourceLine{"src/model.py", 12, "forward"},
                                    .requested = kGiB,
                                    .allocated = 14 * kGiB,
                                    .reserved = 15 * kGiB + kGiB / 2};
  EXPECT_TRUE(
      memory_what_if_text(made, {.width = 300})
          .starts_with("It may fit into 16.0 GiB: if as much grows with the batch as may be, it fails first at "));
  made.batch_factor.reset();
  EXPECT_TRUE(memory_what_if_text(made, {.width = 300})
                  .starts_with("It may fit into 16.0 GiB: if segments lie as badly as they may, it fails first at "));
  made.low.failure = made.high.failure;
  const std::string text = memory_what_if_text(made, {.width = 300});
  EXPECT_TRUE(text.starts_with("It does not fit into 16.0 GiB: it fails first at model.py:12, which asks for 1.00 GiB"))
      << text;

  made.low.failure->was_survived = true;
  made.largest_batch = made.largest_batch_at_best = 0;
  std::string survived = memory_what_if_text(made, {.width = 300});
  std::ranges::replace(survived, '\n', ' ');
  EXPECT_TRUE(survived.starts_with(
      "It does not fit into 16.0 GiB: it runs out of memory first at model.py:12, which asks for 1.00 GiB when tensors "
      "take 14.0 GiB and the allocator holds 15.5 GiB; there the recorded program ran out, too, and went on. "
      "No batch gets past that request, however small. "))
      << survived;

  const std::string json = to_json(made);
  EXPECT_TRUE(json.contains("\"schema\": \"telltale.memory_whatif/1\"")) << json;
  EXPECT_TRUE(json.contains("\"verdict\": \"fails\"")) << json;
  EXPECT_TRUE(json.contains("\"was_survived\":true")) << json;
  EXPECT_TRUE(json.contains("\"capacity_bytes\": 17179869184")) << json;
}

}  // namespace
}  // namespace telltale
