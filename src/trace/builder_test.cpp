#include "trace/builder.h"

#include <gtest/gtest.h>

#include <memory>

namespace telltale {
namespace {

// A batch written by hand, one row at a time.
class Draft {
 public:
  Draft() { batch_.names = names_.get(); }

  TrackId thread(std::int64_t process, std::int64_t thread) {
    return names_->tracks.intern({{process}, {thread}, TrackKind::kThread, kHost});
  }
  TrackId stream(DeviceId device, std::int64_t number) {
    return names_->tracks.intern({{device}, {number}, TrackKind::kStream, device});
  }
  BatchRow row(TrackId track, Kind kind, const char* name, Nanoseconds start, Nanoseconds end) {
    batch_.events.push_back({start, end - start, names_->strings.intern(name), track, kind});
    batch_.offsets.push_back(100 * batch_.events.size());
    return static_cast<BatchRow>(batch_.events.size() - 1);
  }
  void link(BatchRow row, std::int64_t correlation, std::int64_t external_id = 0) {
    batch_.links.push_back({row, correlation, external_id});
  }
  void sequence(BatchRow row, std::int64_t number, std::uint32_t forward_thread = 0) {
    batch_.operators.push_back({row, {.forward_thread = forward_thread, .sequence = number}});
  }
  void flow(const char* category, std::int64_t id, std::int64_t thread, Nanoseconds time, FlowRole role,
            bool binds_to_next = false) {
    const StringId text = names_->strings.intern(category);
    batch_.flows.push_back({.time = time,
                            .byte_offset = batch_.flows.size(),
                            .id_number = id,
                            .kind = names_->flow_kinds.intern({text, text}),
                            .place = names_->flow_places.intern({{1}, {thread}}),
                            .role = role,
                            .binds_to_next = binds_to_next});
  }
  EventBatch& batch() { return batch_; }

  Trace build(unsigned threads = 1) {
    TraceBuilder builder;
    builder.append(batch_);
    auto built = std::move(builder).build({}, std::nullopt, threads);
    EXPECT_TRUE(built.has_value());
    return std::move(*built);
  }

 private:
  std::unique_ptr<LocalNames> names_ = std::make_unique<LocalNames>();
  EventBatch batch_;
};

EventId named(const Trace& trace, std::string_view name) {
  for (EventId id = 0; id < trace.events.size(); ++id)
    if (trace.name(id) == name) return id;
  ADD_FAILURE() << "no event named " << name;
  return 0;
}

TEST(TraceBuilder, groups_rows_by_track_and_counts_time_from_the_first_event) {
  Draft draft;
  const TrackId a = draft.thread(1, 1), b = draft.thread(1, 2);
  draft.row(b, Kind::kOperator, "late on b", 1050, 1060);
  draft.row(a, Kind::kOperator, "on a", 1020, 1030);
  draft.row(b, Kind::kOperator, "early on b", 1000, 1010);
  const Trace trace = draft.build();
  ASSERT_EQ(trace.tracks.size(), 2u);
  EXPECT_EQ(trace.tracks[0].native_id, 2);
  EXPECT_EQ(trace.name(0), "early on b");
  EXPECT_EQ(trace.name(1), "late on b");
  EXPECT_EQ(trace.name(2), "on a");
  EXPECT_EQ(trace.events.start, (std::vector<Nanoseconds>{0, 50, 20}));
  EXPECT_EQ(trace.duration, 60);
}

TEST(TraceBuilder, puts_python_around_an_operator_with_the_same_times_and_its_api_call_inside) {
  Draft draft;
  const TrackId t = draft.thread(1, 1);
  draft.row(t, Kind::kRuntime, "api", 0, 10);
  draft.row(t, Kind::kOperator, "op", 0, 10);
  draft.row(t, Kind::kPython, "py", 0, 10);
  const Trace trace = draft.build();
  EXPECT_EQ(trace.events.parent[named(trace, "op")], named(trace, "py"));
  EXPECT_EQ(trace.events.parent[named(trace, "api")], named(trace, "op"));
}

TEST(TraceBuilder, links_device_work_to_its_launch_and_to_the_operator_around_it) {
  Draft draft;
  const TrackId t = draft.thread(1, 1), s = draft.stream(0, 7);
  draft.row(t, Kind::kOperator, "op", 0, 10);
  draft.link(draft.row(t, Kind::kRuntime, "launch", 2, 4), 55);
  draft.link(draft.row(s, Kind::kKernel, "kernel", 20, 30), 55);
  draft.link(draft.row(s, Kind::kKernel, "second of the graph", 30, 40), 55);
  const Trace trace = draft.build();
  for (const char* name : {"kernel", "second of the graph"}) {
    EXPECT_EQ(trace.launch_of(named(trace, name)), named(trace, "launch"));
    EXPECT_EQ(trace.operator_of(named(trace, name)), named(trace, "op"));
  }
  EXPECT_EQ(trace.anomalies.total(), 0u);
}

TEST(TraceBuilder, takes_the_last_launch_before_the_kernel_when_a_correlation_repeats) {
  Draft draft;
  const TrackId t = draft.thread(1, 1), s = draft.stream(0, 7);
  draft.link(draft.row(t, Kind::kRuntime, "first", 0, 1), 5);
  draft.link(draft.row(t, Kind::kRuntime, "second", 10, 11), 5);
  draft.link(draft.row(t, Kind::kRuntime, "too late", 100, 101), 5);
  draft.link(draft.row(s, Kind::kKernel, "kernel", 20, 30), 5);
  const Trace trace = draft.build();
  EXPECT_EQ(trace.launch_of(named(trace, "kernel")), named(trace, "second"));
  EXPECT_EQ(trace.anomalies.count(Anomaly::kDuplicateCorrelation), 1u);
}

TEST(TraceBuilder, falls_back_to_the_external_id_and_counts_what_stays_without_a_cause) {
  Draft draft;
  const TrackId t = draft.thread(1, 1), s = draft.stream(0, 7);
  draft.link(draft.row(t, Kind::kOperator, "op", 0, 10), 0, 77);
  draft.link(draft.row(t, Kind::kRuntime, "api outside", 20, 30), 9, 77);
  draft.link(draft.row(s, Kind::kKernel, "by id", 40, 50), 8, 77);
  draft.link(draft.row(s, Kind::kKernel, "lost", 60, 70), 3, 4);
  draft.row(s, Kind::kMemset, "bare", 80, 90);
  const Trace trace = draft.build();
  EXPECT_EQ(trace.operator_of(named(trace, "api outside")), named(trace, "op"));
  EXPECT_EQ(trace.operator_of(named(trace, "by id")), named(trace, "op"));
  EXPECT_EQ(trace.launch_of(named(trace, "by id")), kNoEvent);
  EXPECT_EQ(trace.operator_of(named(trace, "lost")), kNoEvent);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kDeviceWithoutLaunch), 2u);
  EXPECT_EQ(trace.anomalies.list()[0].example.byte_offset, 400u);
}

TEST(TraceBuilder, gives_device_work_the_step_that_launched_it) {
  Draft draft;
  const TrackId t = draft.thread(1, 1), s = draft.stream(0, 7);
  draft.row(t, Kind::kAnnotation, "ProfilerStep#3", 0, 100);
  draft.row(t, Kind::kAnnotation, "ProfilerStep#4", 100, 200);
  draft.link(draft.row(t, Kind::kRuntime, "launch", 90, 95), 1);
  draft.link(draft.row(s, Kind::kKernel, "kernel", 150, 160), 1);
  draft.row(t, Kind::kOperator, "in the second", 150, 160);
  draft.row(t, Kind::kOperator, "behind", 200, 210);
  const Trace trace = draft.build();
  ASSERT_EQ(trace.steps.size(), 2u);
  EXPECT_EQ(trace.steps[1].index, 4);
  EXPECT_EQ(trace.step_of(named(trace, "kernel")), 0);
  EXPECT_EQ(trace.step_of(named(trace, "in the second")), 1);
  EXPECT_EQ(trace.step_of(named(trace, "behind")), kNoStep);
}

TEST(TraceBuilder, links_a_backward_operator_to_the_innermost_forward_one_of_its_sequence_number) {
  Draft draft;
  const TrackId forward = draft.thread(1, 1), backward = draft.thread(1, 2);
  draft.sequence(draft.row(forward, Kind::kOperator, "linear", 0, 10), 7);
  draft.sequence(draft.row(forward, Kind::kOperator, "addmm", 2, 8), 7);
  draft.sequence(draft.row(backward, Kind::kOperator, "AddmmBackward", 50, 60), 7, 1);
  draft.sequence(draft.row(backward, Kind::kOperator, "LostBackward", 70, 80), 8, 1);
  draft.sequence(draft.row(forward, Kind::kOperator, "of the next step", 90, 95), 7);
  const Trace trace = draft.build();
  EXPECT_EQ(trace.events.cause[named(trace, "AddmmBackward")], named(trace, "addmm"));
  EXPECT_EQ(trace.anomalies.count(Anomaly::kBackwardWithoutForward), 1u);
}

TEST(TraceBuilder, asks_flows_which_thread_was_meant_when_two_have_the_same_sequence_number) {
  const auto draw = [](bool with_flow) {
    Draft draft;
    const TrackId one = draft.thread(1, 1), two = draft.thread(1, 2), backward = draft.thread(1, 3);
    draft.sequence(draft.row(one, Kind::kOperator, "on one", 0, 10), 7);
    draft.sequence(draft.row(two, Kind::kOperator, "on two", 1, 9), 7);
    draft.sequence(draft.row(backward, Kind::kOperator, "Backward", 50, 60), 7, 4);
    if (with_flow) {
      draft.flow("fwdbwd", 9, 1, 0, FlowRole::kStart);
      draft.flow("fwdbwd", 9, 3, 50, FlowRole::kEnd);
    }
    return draft.build();
  };
  const Trace told = draw(true), untold = draw(false);
  EXPECT_EQ(told.events.cause[named(told, "Backward")], named(told, "on one"));
  EXPECT_TRUE(told.flows.empty());
  EXPECT_EQ(untold.events.cause[named(untold, "Backward")], kNoEvent);
  EXPECT_EQ(untold.anomalies.count(Anomaly::kBackwardWithoutForward), 1u);
}

TEST(TraceBuilder, keeps_other_flows_and_counts_the_broken_ones) {
  Draft draft;
  const TrackId a = draft.thread(1, 1), b = draft.thread(1, 2);
  draft.row(a, Kind::kOther, "sender", 0, 10);
  draft.row(b, Kind::kOther, "receiver", 20, 30);
  draft.flow("mine", 1, 1, 5, FlowRole::kStart);
  draft.flow("mine", 1, 2, 15, FlowRole::kEnd, true);
  draft.flow("mine", 2, 1, 5, FlowRole::kStart);
  draft.flow("mine", 3, 2, 25, FlowRole::kEnd);
  draft.flow("mine", 4, 1, 5, FlowRole::kStart);
  draft.flow("mine", 4, 2, 35, FlowRole::kEnd);
  const Trace trace = draft.build();
  ASSERT_EQ(trace.flows.size(), 1u);
  EXPECT_EQ(trace.flows[0].from, named(trace, "sender"));
  EXPECT_EQ(trace.flows[0].to, named(trace, "receiver"));
  EXPECT_EQ(trace.anomalies.count(Anomaly::kFlowWithoutEnd), 1u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kFlowWithoutStart), 1u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kFlowUnbound), 1u);
}

TEST(TraceBuilder, checks_flows_that_columns_say_already_whatever_their_order_and_ids) {
  Draft draft;
  draft.row(draft.thread(1, 1), Kind::kOther, "event", 0, 100);
  for (const std::int64_t base : {std::int64_t{0}, std::int64_t{1} << 40}) {
    draft.flow("ac2g", base + 1, 1, 20, FlowRole::kEnd);
    draft.flow("ac2g", base + 1, 1, 30, FlowRole::kStart);
    draft.flow("ac2g", base + 1, 1, 40, FlowRole::kEnd);
    draft.flow("ac2g", base + 2, 1, 40, FlowRole::kEnd);
    draft.flow("ac2g", base + 3, 1, 40, FlowRole::kStart);
    draft.flow("ac2g", base + 4, 1, 40, FlowRole::kStart);
  }
  const Trace trace = draft.build();
  EXPECT_EQ(trace.anomalies.count(Anomaly::kFlowWithoutStart), 2u);
  EXPECT_EQ(trace.anomalies.count(Anomaly::kFlowWithoutEnd), 4u);
  EXPECT_TRUE(trace.flows.empty());
}

TEST(TraceBuilder, places_memory_events_in_the_innermost_event_and_orders_them_by_time) {
  Draft draft;
  const TrackId t = draft.thread(1, 1);
  draft.row(t, Kind::kOperator, "outer", 0, 100);
  draft.row(t, Kind::kOperator, "inner", 20, 40);
  for (const Nanoseconds time : {60, 30, 150})
    draft.batch().memory.push_back({.time = time, .track = t, .bytes = time});
  const Trace trace = draft.build();
  EXPECT_EQ(trace.memory.bytes, (std::vector<std::int64_t>{30, 60, 150}));
  EXPECT_EQ(trace.memory.event, (std::vector<EventId>{named(trace, "inner"), named(trace, "outer"), kNoEvent}));
  EXPECT_TRUE(trace.recorded.memory);
}

}  // namespace
}  // namespace telltale
