#include "trace/event_order.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

TEST(EventOrder, gives_the_memory_of_batches_back) {
  Trace trace;
  trace.tracks.resize(1);
  std::vector<EventBatch> batches(2);
  batches[0].events = {{.start = 130, .duration = 5}, {.start = 110, .duration = 5}};
  batches[1].events = {{.start = 120, .duration = 5}};
  EXPECT_EQ(order_events(batches, 100, trace, 1), (std::vector<EventId>{2, 0, 1}));
  EXPECT_EQ(trace.events.start, (std::vector<Nanoseconds>{10, 20, 30}));
  for (const EventBatch& batch : batches) EXPECT_EQ(batch.events.capacity(), 0U);
}

}  // namespace
}  // namespace telltale
