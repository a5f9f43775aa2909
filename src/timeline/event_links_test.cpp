#include "timeline/event_links.h"

#include <gtest/gtest.h>

#include "analysis/testing/random_calls.h"

namespace telltale {
namespace {

TEST(EventLinks, lead_from_operator_to_launch_to_kernel_and_back) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  const auto outer = sketch.op(thread, "aten::linear", 0, 50);
  const auto op = sketch.op(thread, "aten::addmm", 5, 40);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaLaunchKernel", 10, 20);
  sketch.event(thread, Kind::kRuntime, "cudaGetDevice", 22, 23);  // launches nothing
  const auto kernel = sketch.work(stream, Kind::kKernel, "gemm", 60, 70, launch);
  const Trace trace = sketch.build();
  const EventLinks links(trace);
  const auto of = [&](TraceSketch::Handle event) { return links.of(sketch.id(event), 100).links; };
  using List = std::vector<LinkedEvent>;
  EXPECT_EQ(of(kernel),
            (List{{LinkRole::kLaunchedBy, true, sketch.id(launch)}, {LinkRole::kCalledBy, true, sketch.id(op)}}));
  EXPECT_EQ(of(launch),
            (List{{LinkRole::kCalledBy, true, sketch.id(op)}, {LinkRole::kLaunches, false, sketch.id(kernel)}}));
  const List launches = {{LinkRole::kLaunches, false, sketch.id(launch)},
                         {LinkRole::kLaunches, false, sketch.id(kernel)}};
  EXPECT_EQ(of(op), launches);
  EXPECT_EQ(of(outer), launches);
}

TEST(EventLinks, lead_from_forward_to_backward_and_back) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main");
  const auto forward = sketch.op(thread, "aten::mm", 0, 10);
  const auto backward = sketch.op(thread, "MmBackward0", 50, 70);
  sketch.set_cause(backward, forward);
  const auto other = sketch.op(thread, "aten::add", 80, 90);
  sketch.flow(forward, other);
  const Trace trace = sketch.build();
  const EventLinks links(trace);
  EXPECT_EQ(links.of(sketch.id(backward), 9).links,
            (std::vector<LinkedEvent>{{LinkRole::kForward, true, sketch.id(forward)}}));
  EXPECT_EQ(links.of(sketch.id(forward), 9).links,
            (std::vector<LinkedEvent>{{LinkRole::kBackward, false, sketch.id(backward)},
                                      {LinkRole::kFlow, false, sketch.id(other)}}));
  EXPECT_EQ(links.of(sketch.id(other), 9).links,
            (std::vector<LinkedEvent>{{LinkRole::kFlow, true, sketch.id(forward)}}));
}

TEST(EventLinks, work_of_a_graph_leads_to_what_captured_it) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  const auto captured_in = sketch.op(thread, "aten::mm", 0, 10);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaGraphLaunch", 30, 40);
  const auto kernel = sketch.work(stream, Kind::kKernel, "gemm", 60, 70, launch);
  Trace trace = sketch.build();
  trace.graph_origins.append(sketch.id(kernel), {.captured_in = sketch.id(captured_in)});
  const EventLinks links(trace);
  EXPECT_EQ(links.of(sketch.id(kernel), 9).links,
            (std::vector<LinkedEvent>{{LinkRole::kLaunchedBy, true, sketch.id(launch)},
                                      {LinkRole::kCapturedBy, true, sketch.id(captured_in)}}));
  EXPECT_EQ(links.of(sketch.id(captured_in), 9).links,
            (std::vector<LinkedEvent>{{LinkRole::kCaptures, false, sketch.id(kernel)}}));
}

TEST(EventLinks, counts_what_is_too_much) {
  TraceSketch sketch;
  const TrackId thread = sketch.thread("main"), stream = sketch.stream(0, 7);
  const auto launch = sketch.event(thread, Kind::kRuntime, "cudaGraphLaunch", 0, 10);
  for (Nanoseconds i = 0; i < 250; ++i) sketch.work(stream, Kind::kKernel, "k", 100 + i, 101 + i, launch);
  const Trace trace = sketch.build();
  const EventLinkList list = EventLinks(trace).of(sketch.id(launch), 100);
  EXPECT_EQ(list.links.size(), 100U);
  EXPECT_EQ(list.left_out, 150U);
}

TEST(EventLinks, effects_are_the_events_whose_cause_it_is) {
  std::mt19937 random(4);
  TraceSketch sketch;
  std::vector<TraceSketch::Handle> calls;
  for (const char* name : {"a", "b", "c"})
    for (const auto call : add_random_calls(sketch, sketch.thread(name), 100, 400, random)) calls.push_back(call);
  for (const auto call : calls)
    if (random() % 2 == 0) sketch.set_cause(call, calls[random() % calls.size()]);
  const Trace trace = sketch.build();
  const EventLinks links(trace);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    std::vector<EventId> expected;
    for (EventId other = 0; other < trace.events.size(); ++other)
      if (trace.events.cause[other] == event) expected.push_back(other);
    const auto found = links.effects_of(event);
    EXPECT_EQ(std::vector<EventId>(found.begin(), found.end()), expected);
  }
}

}  // namespace
}  // namespace telltale
