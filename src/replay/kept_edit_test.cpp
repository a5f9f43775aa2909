#include "replay/kept_edit.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

constexpr EventId kEvents = 40;

Trace trace_of_events() {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  for (EventId i = 0; i < kEvents; ++i) sketch.op(thread, "op", 10 * i, 10 * i + 5);
  return sketch.build();
}

Edit random_edit(const Trace& trace, std::mt19937& random) {
  Edit edit;
  edit.added_host_ns = random() % 100;
  edit.added_device_ns = random() % 100;
  for (EventId event = 0; event < kEvents; ++event) {
    if (random() % 3 == 0) edit.scale_event(trace, event, static_cast<float>(random() % 4) / 2);
    if (random() % 4 == 0) edit.drop_wait(trace, event);
    if (random() % 5 == 0) edit.run_in_graph(trace, event);
  }
  return edit;
}

float factor_of(const Edit& edit, EventId event) { return edit.scale.empty() ? 1 : edit.scale[event]; }
bool is_set(const std::vector<bool>& flags, EventId event) { return !flags.empty() && flags[event]; }

TEST(KeptEdit, alone_is_the_edit_that_it_was) {
  const Trace trace = trace_of_events();
  std::mt19937 random(1);
  for (int round = 0; round < 50; ++round) {
    const Edit edit = round == 0 ? Edit() : random_edit(trace, random);
    const KeptEdit kept(edit);
    const KeptEdit* const one[] = {&kept};
    const Edit again = combined(trace, {.operator_call = 7}, one);
    EXPECT_EQ(again.observer, (ObserverCost{.operator_call = 7}));
    EXPECT_EQ(again.added_host_ns, edit.added_host_ns);
    EXPECT_EQ(again.added_device_ns, edit.added_device_ns);
    for (EventId event = 0; event < kEvents; ++event) {
      EXPECT_EQ(factor_of(again, event), factor_of(edit, event));
      EXPECT_EQ(is_set(again.is_free_of_waiting, event), is_set(edit.is_free_of_waiting, event));
      EXPECT_EQ(is_set(again.is_graph_node, event), is_set(edit.is_graph_node, event));
    }
  }
}

TEST(KeptEdit, together_take_the_shortest_time_of_each_event_in_any_order) {
  const Trace trace = trace_of_events();
  std::mt19937 random(2);
  for (int round = 0; round < 50; ++round) {
    const Edit a = random_edit(trace, random), b = random_edit(trace, random);
    const KeptEdit kept_a(a), kept_b(b);
    const KeptEdit* const forward[] = {&kept_a, &kept_b};
    const KeptEdit* const backward[] = {&kept_b, &kept_a};
    const Edit both = combined(trace, {}, forward), other = combined(trace, {}, backward);
    EXPECT_EQ(both.added_host_ns, a.added_host_ns + b.added_host_ns);
    for (EventId event = 0; event < kEvents; ++event) {
      const auto [less, more] = std::minmax({factor_of(a, event), factor_of(b, event)});
      EXPECT_EQ(factor_of(both, event), less < 1 ? less : more);
      EXPECT_EQ(is_set(both.is_free_of_waiting, event),
                is_set(a.is_free_of_waiting, event) || is_set(b.is_free_of_waiting, event));
    }
    EXPECT_EQ(both.scale, other.scale);
    EXPECT_EQ(both.is_graph_node, other.is_graph_node);
  }
}

TEST(KeptEdit, of_a_larger_batch_multiplies_what_others_leave) {
  const Trace trace = trace_of_events();
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    const Edit a = random_edit(trace, random);
    Edit grown;
    for (EventId event = 0; event < kEvents; event += 2)
      grown.scale_event(trace, event, 1 + static_cast<float>(random() % 3) / 2);
    const KeptEdit kept(a), larger(grown, 2);
    const KeptEdit* const forward[] = {&kept, &larger};
    const KeptEdit* const backward[] = {&larger, &kept};
    EXPECT_EQ(batch_with(forward), 2);
    EXPECT_EQ(batch_with({}), 1);
    const Edit both = combined(trace, {}, forward);
    for (EventId event = 0; event < kEvents; ++event)
      EXPECT_EQ(factor_of(both, event), factor_of(a, event) * factor_of(grown, event));
    EXPECT_EQ(both.scale, combined(trace, {}, backward).scale);
    const KeptEdit* const alone[] = {&larger};
    EXPECT_EQ(combined(trace, {}, alone).scale, grown.scale);
  }
}

TEST(KeptEdit, can_be_made_to_a_part) {
  const Trace trace = trace_of_events();
  Edit edit;
  edit.scale_event(trace, 3, 0.5F);
  edit.scale_event(trace, 4, 0);
  edit.scale_event(trace, 7, 3);
  const auto kept = std::make_shared<const KeptEdit>(edit);
  const std::shared_ptr<const KeptEdit> part = partly(kept, 0.5);
  const KeptEdit* const parts[] = {part.get()};
  const Edit again = combined(trace, {}, parts);
  EXPECT_EQ(factor_of(again, 3), 0.75F);
  EXPECT_EQ(factor_of(again, 4), 0.5F);
  EXPECT_EQ(factor_of(again, 7), 2);
  EXPECT_EQ(factor_of(again, 5), 1);
  EXPECT_EQ(partly(kept, 1), kept);
  EXPECT_EQ(partly(nullptr, 0.5), nullptr);
}

TEST(KeptEdit, of_neighbors_that_are_changed_alike_is_one_run) {
  const Trace trace = trace_of_events();
  Edit edit;
  for (EventId event = 0; event < kEvents; ++event) edit.scale_event(trace, event, 0);
  EXPECT_EQ(KeptEdit(edit).scaled.size(), 1u);
}

}  // namespace
}  // namespace telltale
