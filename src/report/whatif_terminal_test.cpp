#include "report/whatif_terminal.h"

#include <gtest/gtest.h>

#include "report/text_width.h"

namespace telltale {
namespace {

WhatIf sample() {
  WhatIf answer;
  answer.path = "runs/train.json.gz";
  answer.timing.source = StepSource::kMarks;
  answer.timing.steps.resize(4);
  answer.recorded = 58'000'000;
  answer.before = {48'500'000, 29'100'000, 46'075'000};
  answer.after = {36'375'000, 36'011'250, 18'187'500};
  answer.has_device = true;
  answer.changes.patterns = {{{{}, "aten::item"}, 0}, {{Kind::kKernel, "*gemm*"}, 0.5}};
  answer.reach = {{192, 192}, {0, 42}};
  answer.changes.drops_waits = true;
  answer.waits = {4, 0};
  return answer;
}

TEST(WhatIfText, says_what_changes_and_what_sets_the_pace) {
  EXPECT_EQ(whatif_text(sample(), {}), R"(train.json.gz · 4 steps
A step would take 36.4 ms instead of 48.5 ms: 12.1 ms less (25 %).

                     Step  GPU busy  Host busy
As recorded       58.0 ms         –          –
Replayed          48.5 ms      60 %       95 %
After the change  36.4 ms      99 %       50 %

Change                        Calls per step  GPU work per step
Removed aten::item                        48                 48
Scaled by 0.5: kernel:*gemm*               –               10.5
No call waits for the GPU                  1                  –

The GPU then sets the pace: it works for 99 % of the step.
Replayed, not measured: everything else keeps its order and its own duration.
)");
}

TEST(WhatIfText, says_when_a_step_gets_longer_or_stays_the_same) {
  WhatIf answer = sample();
  answer.after.period = 60'625'000;
  EXPECT_NE(whatif_text(answer, {}).find("would take 60.6 ms instead of 48.5 ms: 12.1 ms more (25 %)."),
            std::string::npos);
  answer.after = answer.before;
  EXPECT_NE(whatif_text(answer, {}).find("would take 48.5 ms, as before: this saves nothing."), std::string::npos);
}

TEST(WhatIfText, names_the_host_when_it_sets_the_pace_and_nobody_when_both_wait) {
  WhatIf answer = sample();
  answer.after = {10'000'000, 5'000'000, 9'900'000};
  EXPECT_NE(
      whatif_text(answer, {}).find("The host then sets the pace: it works for 99 % of the step, the GPU for 50 %."),
      std::string::npos);
  answer.after.host_busy = 6'000'000;
  EXPECT_NE(whatif_text(answer, {100, false})
                .find("Neither is always busy: the GPU then works for 50 % of the step, the host for 60 %"),
            std::string::npos);
  answer.after = {};
  EXPECT_NE(whatif_text(answer, {}).find("Nothing is left of the step."), std::string::npos);
}

TEST(WhatIfText, says_what_the_profiler_cost) {
  WhatIf answer = sample();
  answer.changes.leaves_out_observer = true;
  EXPECT_NE(whatif_text(answer, {}).find("Replayed, without the profiler"), std::string::npos);
  answer.changes = {.leaves_out_observer = true};
  answer.reach = {};
  const std::string text = whatif_text(answer, {});
  EXPECT_NE(text.find("\nWithout the profiler, a step would take 36.4 ms"), std::string::npos);
  EXPECT_EQ(text.find("Calls per step"), std::string::npos);
}

TEST(WhatIfText, has_no_word_about_a_device_that_is_not_there) {
  WhatIf answer = sample();
  answer.has_device = false;
  answer.changes = {.has_instant_data = true};
  answer.reach = {};
  answer.after = {10'000'000, 0, 9'900'000};
  const std::string text = whatif_text(answer, {});
  EXPECT_NE(text.find("The host sets the pace: it works for 99 % of the step."), std::string::npos);
  EXPECT_EQ(text.find("GPU"), std::string::npos);
  answer.after.host_busy = 1'000'000;
  EXPECT_NE(whatif_text(answer, {}).find("The host then works for 10 % of the step."), std::string::npos);
}

TEST(WhatIfText, fits_narrow_screens_and_keeps_names_harmless) {
  WhatIf answer = sample();
  answer.changes.patterns[0].pattern.name = "\x1b[2J" + std::string(200, 'x');
  const std::string text = whatif_text(answer, {60, false});
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  for (std::size_t at = 0; at < text.size(); at = text.find('\n', at) + 1)
    EXPECT_LE(display_width(text.substr(at, text.find('\n', at) - at)), 60U);
}

}  // namespace
}  // namespace telltale
