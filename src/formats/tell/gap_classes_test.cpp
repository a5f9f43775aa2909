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
  StringId mm = strings.intern("aten::mm"), add = strings.intern("aten::add");
  GapKind kind{{stacks.of("t.py(1): main"), mm}, {stacks.of("t.py(2): main"), add}};

  std::vector<StackStretch> divided(Nanoseconds start, Nanoseconds end) {
    std::vector<StackStretch> stretches;
    classes.divide(kind, start, end, stretches);
    return stretches;
  }
};

TEST(GapClasses, say_nothing_of_gaps_without_samples) {
  Classes of;
  of.classes.add({of.kind.behind, of.kind.before}, of.kind.before.stack, 50, 100);
  EXPECT_TRUE(of.divided(0, 100).empty());
  // From the same lines, but between other operators: another place in the line.
  of.classes.add({of.kind.before, {of.kind.behind.stack, of.mm}}, of.kind.before.stack, 50, 100);
  EXPECT_TRUE(of.divided(0, 100).empty());
}

// f is seen around a, g between: the two stacks of f stay together, since f may well be one call.
TEST(GapClasses, keep_stacks_of_one_function_together) {
  Classes of;
  const StackNumber a = of.stacks.of("t.py(5): a;t.py(8): f;t.py(1): main"),
                    b = of.stacks.of("t.py(6): b;t.py(8): f;t.py(1): main"),
                    g = of.stacks.of("t.py(9): g;t.py(1): main");
  of.classes.add(of.kind, b, 160, 400);
  of.classes.add(of.kind, g, 140, 400);
  of.classes.add(of.kind, a, 40, 400);
  of.classes.add(of.kind, g, 140, 400);
  const auto stretches = of.divided(1000, 1400);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].stack, a);
  EXPECT_EQ(stretches[0].end, 1100);
  EXPECT_EQ(stretches[1].stack, b);
  EXPECT_EQ(stretches[1].end, 1200);
  EXPECT_EQ(stretches[2].stack, g);
  EXPECT_EQ(stretches[2].end, 1400);
}

// By their samples g would come first and f last; but f goes on from before the gap, and g behind it.
TEST(GapClasses, begin_with_what_goes_on_and_end_with_what_will_go_on) {
  Classes of;
  const StackNumber before = of.stacks.of("t.py(3): f;t.py(1): main"),
                    behind = of.stacks.of("t.py(6): g;t.py(2): main"), between = of.stacks.of("t.py(2): main");
  const GapKind kind{{before, of.mm}, {behind, of.add}};
  of.classes.add(kind, behind, 10, 300);
  of.classes.add(kind, between, 150, 300);
  of.classes.add(kind, before, 290, 300);
  std::vector<StackStretch> stretches;
  of.classes.divide(kind, 0, 300, stretches);
  ASSERT_EQ(stretches.size(), 3u);
  EXPECT_EQ(stretches[0].stack, before);
  EXPECT_EQ(stretches[1].stack, between);
  EXPECT_EQ(stretches[2].stack, behind);
}

// A gap of 100 µs has room for four stretches: f3 (8 samples), f4 (10) and f5 (12) and what is left to main, the time
// of its functions with fewer samples (1 and 2).
TEST(GapClasses, leave_functions_with_few_samples_to_their_callers) {
  Classes of;
  constexpr int kSamples[] = {1, 2, 8, 10, 12};
  int number = 0;
  for (const int samples : kSamples) {
    const StackNumber stack = of.stacks.of("t.py(5): f" + std::to_string(++number) + ";t.py(1): main");
    for (int k = 0; k < samples; ++k) of.classes.add(of.kind, stack, number * 10'000, 100'000);
  }
  const StackNumber main = of.stacks.of("t.py(1): main");
  std::map<StackNumber, Nanoseconds> times;
  Nanoseconds end = 0;
  for (const StackStretch& each : of.divided(0, 33'000)) {
    EXPECT_EQ(each.start, end);
    end = each.end;
    times[each.stack] += each.end - each.start;
  }
  EXPECT_EQ(end, 33'000);
  EXPECT_EQ(times.size(), 4u);
  EXPECT_EQ(times[of.stacks.of("t.py(5): f3;t.py(1): main")], 8'000);
  EXPECT_EQ(times[of.stacks.of("t.py(5): f4;t.py(1): main")], 10'000);
  EXPECT_EQ(times[of.stacks.of("t.py(5): f5;t.py(1): main")], 12'000);
  EXPECT_EQ(times[main], 3'000);
}

}  // namespace
}  // namespace telltale::tell
