// What torch.profiler says of device work: which call it belongs to, and where on the device an annotation was.
//
// Pure and thread-safe; linear in the trace's events.
#pragma once

#include <vector>

#include "analysis/call_tree.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// For each event, the innermost call of a kind that it is, or is inside of; kNoEvent where there is none.
std::vector<EventId> innermost_of(const Trace& trace, const CallTree& tree, Kind kind);

// Who asked for device work, by torch's own tree (CallTreeOptions::as_torch).
class TorchLaunches {
 public:
  // Without `annotations_launch`, what is launched outside all operators is nobody's, as in torch's own tables.
  TorchLaunches(const Trace& trace, const CallTree& tree, bool annotations_launch);

  // Of a piece of device work: the operator around its launch, failing that the one that the launch names, or an
  // annotation around it; kNoEvent where there is none.
  EventId call_of(EventId device_event) const;
  // The same of a call of the device's API.
  EventId call_around(EventId api_call) const;
  // The innermost annotation around its launch.
  EventId annotation_of(EventId device_event) const;

 private:
  const Trace& trace_;
  const CallTree& tree_;
  bool annotations_launch_;
  std::vector<EventId> operators_, annotations_;  // around each event
};

// An annotation as its device work shows it on a stream: from the first start to the last end.
struct DeviceAnnotation {
  EventId annotation = kNoEvent;
  TrackId stream = 0;
  Interval span;
};

// Each piece of device work counts for the innermost annotation around its launch alone. By start.
std::vector<DeviceAnnotation> device_annotations(const Trace& trace, const TorchLaunches& launches);

}  // namespace telltale
