#include "advise/models/host_cost.h"

#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

struct Operator {
  std::string_view name, shapes, types;
  Nanoseconds duration = 0;
};

KnownTrace running(const Operator& op, std::string_view threads = {}) {
  ProgramSketch program;
  if (!threads.empty()) program.sketch().trace().metadata.emplace_back("torch_threads", threads);
  program.begin_step();
  program.open(Kind::kOperator, "aten::outer");
  const auto call = program.run(Kind::kOperator, op.name, op.duration);
  if (!op.shapes.empty()) program.sketch().set_inputs(call, op.shapes);
  if (!op.types.empty()) program.sketch().set_types(call, op.types);
  program.close();
  return KnownTrace(program.build());
}

float share_of_leaf(const KnownTrace& known) {
  const HostCost cost(known.facts);
  EXPECT_EQ(cost.leaves().size(), 1) << "an operator that calls another one is none";
  return cost.leaves().empty() ? -1 : cost.growing_share(cost.leaves().front());
}

// 2 × 100 × 100 × 10 = 200,000 operations take 10 µs at 20 billion a second, half as long on two threads.
TEST(HostCost, what_products_compute_grows) {
  const Operator product{"aten::mm", "[[10,100],[100,100]]", R"(["float","float"])", 20 * kMicrosecond};
  EXPECT_NEAR(share_of_leaf(running(product)), 0.5, 0.001);
  EXPECT_NEAR(share_of_leaf(running(product, "2")), 0.25, 0.001);
}

// A product that first asks whether its arguments are conjugated computes as much: 10 µs of 20.
TEST(HostCost, products_compute_whatever_they_call_besides) {
  ProgramSketch program;
  program.begin_step();
  const auto product = program.open(Kind::kOperator, "aten::mm");
  program.sketch().set_inputs(product, "[[10,100],[100,100]]");
  program.sketch().set_types(product, R"(["float","float"])");
  program.run(Kind::kOperator, "aten::resolve_conj", 1 * kMicrosecond);
  program.spend(20 * kMicrosecond);
  program.close();
  const KnownTrace known(program.build());
  EXPECT_NEAR(HostCost(known.facts).growing_share(program.id(product)), 0.5, 0.001);
}

// Of three equal operators that usually take 12 µs, 6 of it work, one was kept from running for a millisecond: half of
// that counts as overhead as well.
TEST(HostCost, an_operator_that_was_kept_from_running_has_no_more_to_do) {
  ProgramSketch program;
  program.begin_step();
  std::vector<ProgramSketch::Handle> calls;
  for (const Nanoseconds time : {12 * kMicrosecond, 1 * kMillisecond, 12 * kMicrosecond}) {
    calls.push_back(program.run(Kind::kOperator, "aten::mul", time));
    program.sketch().set_inputs(calls.back(), "[[2500],[2500]]");
    program.sketch().set_types(calls.back(), R"(["float","float"])");
  }
  const KnownTrace known(program.build());
  const HostCost cost(known.facts);
  for (const ProgramSketch::Handle call : calls) EXPECT_NEAR(cost.growing_share(program.id(call)), 0.5, 0.001);
}

// Three tensors of 10,000 bytes take 6 µs at 5 billion bytes a second.
TEST(HostCost, what_operators_move_grows) {
  EXPECT_NEAR(share_of_leaf(running({"aten::mul", "[[2500],[2500]]", R"(["float","float"])", 12 * kMicrosecond})), 0.5,
              0.001);
}

// Of 100 µs at most 20 are overhead; of a convolution's 50.
TEST(HostCost, overhead_has_a_limit) {
  EXPECT_NEAR(share_of_leaf(running({"aten::sort", {}, {}, 100 * kMicrosecond})), 0.8, 0.001);
  EXPECT_NEAR(share_of_leaf(running({"aten::mkldnn_convolution", {}, {}, 100 * kMicrosecond})), 0.5, 0.001);
  EXPECT_EQ(share_of_leaf(running({"aten::sort", {}, {}, 10 * kMicrosecond})), 0);
}

// An operator that calls another one may compute as well: of its own 100 µs, 80 are more than overhead.
TEST(HostCost, operators_that_call_others_are_held_to_the_limit_too) {
  ProgramSketch program;
  program.begin_step();
  const auto outer = program.open(Kind::kOperator, "aten::outer");
  program.spend(100 * kMicrosecond);
  program.run(Kind::kOperator, "aten::inner", 10 * kMicrosecond);
  program.close();
  const KnownTrace known(program.build());
  EXPECT_NEAR(HostCost(known.facts).growing_share(program.id(outer)), 0.8, 0.001);
}

// A product of few rows mostly reads its weights, which a larger batch does not prolong: its 4.08 MB may take 816 µs.
// Its 20,000,000 operations take 125 µs on 8 threads.
TEST(HostCost, reading_weights_does_not_grow) {
  const Operator product{"aten::mm", "[[10,1000],[1000,1000]]", R"(["float","float"])", 500 * kMicrosecond};
  EXPECT_NEAR(share_of_leaf(running(product, "8")), 0.25, 0.001);
}

TEST(SessionNumber, reads_whole_numbers_only) {
  Trace trace;
  trace.metadata = {{"processors", "8"}, {"as_recorded", "\"16\""}, {"torch_threads", "\"many\""}};
  EXPECT_EQ(session_number(trace, "processors"), 8);
  EXPECT_EQ(session_number(trace, "as_recorded"), 16);
  EXPECT_EQ(session_number(trace, "torch_threads"), std::nullopt);
  EXPECT_EQ(session_number(trace, "loader_workers"), std::nullopt);
}

}  // namespace
}  // namespace telltale
