// What every replay of every real trace keeps to, whatever is changed.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "replay/edit.h"
#include "replay/step_graph.h"
#include "traces.h"

namespace telltale {
namespace {

constexpr double kMostPercentOff = 2;
// Rounding, and the gap that a step may leave before the next.
constexpr double kSlackPercent = 0.5;

struct Replay {
  explicit Replay(const Trace& given)
      : trace(given),
        timing(step_timing(trace)),
        host_work(host_work_by_event(trace)),
        graph(trace, timing, host_work) {}

  const Trace& trace;
  StepTiming timing;
  std::vector<HostWork> host_work;
  StepGraph graph;
};

class ReplayLaws : public testing::Test {
 protected:
  template <typename Check>
  static void for_each_replay(Check check) {
    for (const std::filesystem::path& path : real_traces()) {
      SCOPED_TRACE(path.filename().string());
      const Trace trace = trace_of(path);
      check(Replay(trace));
    }
  }
};

Edit with_device_work_scaled(const Trace& trace, float factor) {
  Edit edit;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_device_work(trace.events.kind[event])) edit.scale_event(trace, event, factor);
  return edit;
}

Edit with_host_scaled(const Trace& trace, float factor) {
  Edit edit;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (!is_on_device(trace.events.kind[event])) edit.scale_event(trace, event, factor);
  return edit;
}

Edit without_waits(const Trace& trace) {
  Edit edit;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_api_call(trace.events.kind[event])) edit.drop_wait(trace, event);
  return edit;
}

// The device work of a kind is gone.
Edit without(const Trace& trace, Kind kind, Edit edit = {}) {
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (trace.events.kind[event] == kind) edit.scale_event(trace, event, 0);
  return edit;
}

void expect_no_longer(const ReplayedStep& after, const ReplayedStep& before, const std::string& what) {
  EXPECT_LE(static_cast<double>(after.period), (1 + kSlackPercent / 100) * static_cast<double>(before.period)) << what;
}

TEST_F(ReplayLaws, without_an_edit_a_step_takes_as_long_as_it_was_recorded) {
  for_each_replay([](const Replay& replay) {
    const auto recorded = static_cast<double>(replay.timing.period());
    const ReplayedStep step = replay.graph.replay({});
    EXPECT_NEAR(static_cast<double>(step.period), recorded, kMostPercentOff / 100 * recorded);
    EXPECT_LE(step.host_busy, step.period);
  });
}

TEST_F(ReplayLaws, without_an_edit_the_device_works_as_long_as_it_did) {
  for_each_replay([](const Replay& replay) {
    const auto recorded = static_cast<double>(replay.timing.device_period);
    const ReplayedStep step = replay.graph.replay({});
    EXPECT_NEAR(static_cast<double>(step.device_busy), recorded, kMostPercentOff / 100 * recorded);
  });
}

TEST_F(ReplayLaws, no_device_works_longer_than_the_step) {
  for_each_replay([](const Replay& replay) {
    const auto expect_within_step = [&](const Edit& edit, const std::string& what) {
      const ReplayedStep step = replay.graph.replay(edit);
      EXPECT_LE(static_cast<double>(step.device_busy), (1 + kSlackPercent / 100) * static_cast<double>(step.period))
          << what;
    };
    expect_within_step({}, "as recorded");
    expect_within_step(without_observer(replay.trace), "without the observer");
    expect_within_step(without_waits(replay.trace), "without waits");
    expect_within_step(with_host_scaled(replay.trace, 0), "without the host");
    for (const float factor : {0.1F, 0.5F, 2.0F})
      expect_within_step(with_device_work_scaled(replay.trace, factor), "device work times " + std::to_string(factor));
    Edit in_graph;
    capture_in_graph(replay.trace, replay.host_work, in_graph);
    expect_within_step(in_graph, "in a graph");
  });
}

TEST_F(ReplayLaws, without_the_observer_a_step_is_no_shorter_than_its_device_work_and_no_longer_than_recorded) {
  for_each_replay([](const Replay& replay) {
    const ReplayedStep recorded = replay.graph.replay({});
    const ReplayedStep step = replay.graph.replay(without_observer(replay.trace));
    expect_no_longer(step, recorded, "without the observer");
    // Streams may overlap a little more behind a faster host.
    EXPECT_GE(static_cast<double>(step.period),
              (1 - kMostPercentOff / 100) * static_cast<double>(replay.timing.device_period));
  });
}

TEST_F(ReplayLaws, to_take_more_away_never_costs_time) {
  for_each_replay([](const Replay& replay) {
    const Trace& trace = replay.trace;
    const ReplayedStep recorded = replay.graph.replay({});
    ReplayedStep before = recorded;
    for (const float factor : {0.75F, 0.5F, 0.25F, 0.1F, 0.0F}) {
      const ReplayedStep after = replay.graph.replay(with_device_work_scaled(trace, factor));
      expect_no_longer(after, before, "device work times " + std::to_string(factor));
      before = after;
    }
    before = recorded;
    for (const float factor : {0.75F, 0.5F, 0.25F, 0.0F}) {
      const ReplayedStep after = replay.graph.replay(with_host_scaled(trace, factor));
      expect_no_longer(after, before, "host times " + std::to_string(factor));
      before = after;
    }
    const ReplayedStep no_waits = replay.graph.replay(without_waits(trace));
    expect_no_longer(no_waits, recorded, "without waits");
    const ReplayedStep no_copies = replay.graph.replay(without(trace, Kind::kMemcpy));
    expect_no_longer(no_copies, recorded, "without copies");
    expect_no_longer(replay.graph.replay(without(trace, Kind::kMemcpy, without_waits(trace))), no_copies,
                     "without copies and waits");
  });
}

}  // namespace
}  // namespace telltale
