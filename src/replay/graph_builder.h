// Builds a StepGraph from what was recorded. Only for StepGraph, whose constructor calls build() once on an empty
// graph; all that is passed must outlive the builder.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "analysis/full_queue.h"
#include "analysis/host_timeline.h"
#include "replay/recorded_waits.h"
#include "replay/step_graph.h"

namespace telltale {

class GraphBuilder {
 public:
  GraphBuilder(StepGraph& graph, const StepTiming& timing, const std::vector<HostWork>& host_work);
  void build();

 private:
  struct Launch {
    EventId call;
    EventId work;
  };

  void find_launches();
  void measure_typical_delays();
  void add_lane(const std::vector<TrackId>& threads);
  void add_works(StepGraph::HostNode& node, const HostSegment& segment, const std::vector<Launch>& launches,
                 std::size_t& next);
  void add_work(const Launch& launch, Nanoseconds node_begin);
  std::uint32_t stream_of(TrackId track);
  std::optional<Nanoseconds> end_before(EventId work) const;
  void find_dependency(StepGraph::Work& work, Nanoseconds start, Nanoseconds previous_end, Nanoseconds delay);
  void add_wait(StepGraph::HostNode& node, const HostSegment& segment);
  void add_wait_for_room(StepGraph::HostNode& node, const HostSegment& segment);
  Nanoseconds time_to_launch(const StepGraph::HostNode& node, Nanoseconds begin) const;
  void note_stream_wait(EventId call);
  void follow_stream_wait(StepGraph::Work& work, Nanoseconds start);
  std::uint32_t awaited_work(EventId event, Interval call) const;
  bool outlasts_all_work(Nanoseconds time) const;
  bool blocks(const StepGraph::HostNode& node, const HostSegment& segment) const;
  Nanoseconds recorded_end(std::uint32_t work) const;

  StepGraph& graph_;
  const Trace& trace_;
  const StepTiming& timing_;
  const std::vector<HostWork>& host_work_;
  Interval window_;
  FullQueue full_queue_;
  RecordedWaits recorded_waits_;
  std::vector<Launch> launches_;            // within the window, by call and then by start of the work
  Nanoseconds typical_after_previous_ = 0;  // medians of the trace
  Nanoseconds typical_after_launch_ = 0;
  std::vector<std::vector<std::uint32_t>> by_stream_;  // works so far, by stream
  std::unordered_map<TrackId, std::uint32_t> stream_of_track_;
  std::unordered_map<std::uint32_t, std::uint32_t> awaited_by_stream_;  // work that the stream's next one waits for
  std::uint32_t last_stream_ = 0;                                       // of the last work
};

}  // namespace telltale
