// The dependency graph of a trace's steps, and what they would take after an edit.
//
// Nodes are stretches of host time with one innermost event, and device work. A stretch follows the one before it, on
// its thread or on the thread that handed over to it (see host_timeline.h). Device work follows its launch, what is
// before it on its stream, and work of another stream where that explains why it began no sooner. A waiting call ends
// behind the device work that it waits for, and a launch waits for room in the queue of its stream. Delays that none of
// this explains are kept as they were recorded, so that a replay without an edit gives the recorded step.
#pragma once

#include <cstdint>
#include <vector>

#include "analysis/host_work.h"
#include "analysis/step_timing.h"
#include "replay/edit.h"
#include "trace/trace.h"

namespace telltale {

struct ReplayedStep {
  Nanoseconds period = 0;       // of the steady state
  Nanoseconds device_busy = 0;  // per period
  Nanoseconds host_busy = 0;    // per period, of the busiest line of host work; waits left out
};

class StepGraph {
 public:
  // Kernels as long as this outlive the call that launches them, unless it waits.
  static constexpr Nanoseconds kTellingKernel = 30'000;

  // The trace must outlive the graph; `host_work` is by event. Linear in the events of the steps.
  StepGraph(const Trace& trace, const StepTiming& timing, const std::vector<HostWork>& host_work);

  // Several rounds of all steps in a row; the last round's length, by step. Thread-safe; linear in the graph.
  ReplayedStep replay(const Edit& edit) const;

  // Whether nearly all launches of telling kernels return only when their kernel has ended: CUDA_LAUNCH_BLOCKING.
  bool is_launch_blocking() const { return is_launch_blocking_; }
  std::size_t wait_count() const { return waits_.size(); }  // waits of the host for the device, in all steps
  std::size_t work_count() const { return works_.size(); }  // device work launched in all steps
  std::size_t memory_bytes() const;

 private:
  friend class GraphBuilder;
  friend class Simulation;

  static constexpr std::uint32_t kNone = UINT32_MAX;

  struct HostNode {
    Nanoseconds own = 0;                           // without waiting
    EventId event = kNoEvent;                      // the innermost one, or kNoEvent
    std::uint32_t wait = kNone;                    // index of waits_
    std::uint32_t queue = kNone;                   // the stream in whose queue it needs room
    std::uint32_t first_work = 0, work_count = 0;  // what it launches, in works_
    bool begins_event = false;                     // the first stretch of its event
    bool begins_step = false;
  };
  struct Wait {
    std::uint32_t work;  // that it waits for
    Nanoseconds tail;    // from the work's end to the call's
  };
  struct Work {
    EventId event = kNoEvent;
    Nanoseconds duration = 0;
    Nanoseconds after_previous = 0;  // from the end of the work before it on its stream, at least
    Nanoseconds after_launch = 0;    // from the beginning of the host node that launches it, at least
    Nanoseconds after_other = 0;     // from the end of `other`, at least
    std::uint32_t other = kNone;     // earlier work of another stream
    std::uint32_t stream = 0;
  };

  const Trace* trace_;
  std::vector<std::vector<HostNode>> lanes_;  // lines of host work that do not hand over to one another
  std::vector<Work> works_;                   // of each node together, in order of launch
  std::vector<Wait> waits_;
  std::uint32_t streams_ = 0;
  std::uint32_t queue_capacity_ = 0;  // launches of a stream that can wait until it begins them
  std::int64_t steps_ = 1;
  bool is_launch_blocking_ = false;
};

}  // namespace telltale
