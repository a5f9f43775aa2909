#include "timeline/event_stack.h"

#include <gtest/gtest.h>

#include "analysis/call_stacks.h"
#include "analysis/testing/random_calls.h"

namespace telltale {
namespace {

// What is worked out for one event is what is worked out for all at once.
TEST(EventStack, agrees_with_the_stacks_of_all_events) {
  std::mt19937 random(12);
  for (int round = 0; round < 60; ++round) {
    TraceSketch sketch;
    std::vector<TraceSketch::Handle> calls;
    for (const char* name : {"main", "autograd"})
      for (const auto call : add_random_calls(sketch, sketch.thread(name), 60, 300, random)) calls.push_back(call);
    const TrackId stream = sketch.stream(0, 7);
    for (const auto call : std::vector(calls)) {
      if (random() % 5 == 0)
        sketch.set_call_stack(call, "train.py(9): step;model.py(4): forward;;main.py(1): <module>");
      if (random() % 5 == 0) sketch.set_cause(call, calls[random() % calls.size()]);
      if (random() % 5 == 0) {
        const auto start = static_cast<Nanoseconds>(random() % 300);
        calls.push_back(sketch.work(stream, Kind::kKernel, "k", start, start + 3, call));
      }
    }
    Trace trace = sketch.build();
    trace.recorded.sampled = round % 2 == 0;
    for (EventId event = 0; event < trace.events.size(); ++event)
      if (trace.events.kind[event] == Kind::kKernel && random() % 3 == 0)
        trace.graph_origins.append(event, {.captured_in = random() % 2 == 0 ? EventId{3} : kNoEvent,
                                           .call_stack = trace.strings.intern("graph.py(2): capture")});
    for (const std::size_t depth : {3, 50}) {
      CallStacks stacks(trace, depth);
      for (EventId event = 0; event < trace.events.size(); ++event)
        EXPECT_EQ(event_stack(trace, event, depth), stacks.frames(stacks.of(event))) << "event " << event;
    }
  }
}

}  // namespace
}  // namespace telltale
