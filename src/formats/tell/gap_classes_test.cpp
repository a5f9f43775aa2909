#include "formats/tell/gap_classes.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace telltale::tell {
namespace {

struct Classes {
  InternedStrings strings;
  SeenStacks stacks{strings};
  GapClasses classes{stacks};
  StackNumber before = stacks.of("t.py(1): main"), behind = stacks.of("t.py(2): main");

  std::vector<StackStretch> divided(Nanoseconds start, Nanoseconds end) {
    std::vector<StackStretch> stretches;
    classes.divide(before, behind, start, end, stretches);
    return stretches;
  }
};

TEST(GapClasses, say_nothing_of_gaps_without_samples) {
  Classes of;
  of.classes.add(of.behind, of.before, of.before, 0.5);
  EXPECT_TRUE(of.divided(0, 100).empty());
}

// f is seen around a, g between: the two stacks of f stay together, since f may well be one call.
TEST(GapClasses, keep_stacks_of_one_function_together) {
  Classes of;
  const StackNumber a = of.stacks.of("t.py(5): a;t.py(8): f;t.py(1): main"),
                    b = of.stacks.of("t.py(6): b;t.py(8): f;t.py(1): main"),
                    g = of.stacks.of("t.py(9): g;t.py(1): main");
  of.classes.add(of.before, of.behind, b, 0.4);
  of.classes.add(of.before, of.behind, g, 0.35);
  of.classes.add(of.before, of.behind, a, 0.1);
  of.classes.add(of.before, of.behind, g, 0.35);
  const auto stretches = of.divided(1000, 1400);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].stack, a);
  EXPECT_EQ(stretches[0].end, 1100);
  EXPECT_EQ(stretches[1].stack, b);
  EXPECT_EQ(stretches[1].end, 1200);
  EXPECT_EQ(stretches[2].stack, g);
  EXPECT_EQ(stretches[2].end, 1400);
}

// Ten functions with 1, 2, …, 10 samples of 55: in a thousand gaps each gets its share of all time, though a gap shows
// four of them at most.
TEST(GapClasses, show_many_stacks_in_turn) {
  Classes of;
  std::map<StackNumber, double> samples;
  for (int i = 1; i <= 10; ++i) {
    const StackNumber stack = of.stacks.of("t.py(5): f" + std::to_string(i) + ";t.py(1): main");
    samples[stack] = i;
    for (int k = 0; k < i; ++k) of.classes.add(of.before, of.behind, stack, i / 11.0);
  }
  std::map<StackNumber, double> times;
  double all = 0;
  for (int gap = 0; gap < 1000; ++gap) {
    Nanoseconds end = 0;
    const auto stretches = of.divided(0, 1000);
    EXPECT_LE(stretches.size(), 4u);
    for (const StackStretch& each : stretches) {
      EXPECT_EQ(each.start, end);
      end = each.end;
      times[each.stack] += static_cast<double>(each.end - each.start);
    }
    EXPECT_EQ(end, 1000);
    all += static_cast<double>(end);
  }
  for (const auto& [stack, count] : samples) EXPECT_NEAR(times[stack] / all, count / 55, 0.005);
}

}  // namespace
}  // namespace telltale::tell
