#include "trace/flows.h"

#include <algorithm>
#include <tuple>

#include "base/merge_runs.h"
#include "trace/nesting.h"

namespace telltale {
namespace {

enum class FlowUse : std::uint8_t { kKept, kRedundant, kForwardBackward };

FlowUse use_of(std::string_view category) {
  if (category == "fwdbwd" || category == "forward_backward") return FlowUse::kForwardBackward;
  if (category == "ac2g" || category == "async_cpu_to_gpu" || category == "async_gpu") return FlowUse::kRedundant;
  return FlowUse::kKept;
}

auto arrow_of(const FlowPoint& point) { return std::tie(point.category, point.name, point.id, point.id_number); }

bool is_earlier(const FlowPoint& a, const FlowPoint& b) {
  return std::tuple_cat(arrow_of(a), std::tie(a.time, a.byte_offset)) <
         std::tuple_cat(arrow_of(b), std::tie(b.time, b.byte_offset));
}

class FlowLinker {
 public:
  FlowLinker(Trace& trace, const FlowPlaces& places) : trace_(trace), places_(places) {}

  // The points of one arrow, in the order of time.
  void join(std::span<const FlowPoint> points) {
    const FlowUse use = use_of(trace_.strings[points.front().category]);
    const FlowPoint* from = nullptr;
    for (const FlowPoint& point : points) {
      if (point.role != FlowPoint::Role::kStart) {
        if (from == nullptr) {
          note(Anomaly::kFlowWithoutStart, point);
        } else if (use == FlowUse::kKept) {
          keep(*from, point);
        } else if (use == FlowUse::kForwardBackward) {
          learn(*from, point);
        }
      }
      if (point.role == FlowPoint::Role::kStart && from != nullptr) note(Anomaly::kFlowWithoutEnd, *from);
      from = point.role == FlowPoint::Role::kEnd ? nullptr : &point;
    }
    if (from != nullptr) note(Anomaly::kFlowWithoutEnd, *from);
  }

  std::vector<ForwardThread> take_threads() { return std::move(threads_); }

 private:
  void keep(const FlowPoint& from, const FlowPoint& to) {
    const EventId source = event_at(from), target = event_at(to);
    if (source == kNoEvent) return note(Anomaly::kFlowUnbound, from);
    if (target == kNoEvent) return note(Anomaly::kFlowUnbound, to);
    trace_.flows.push_back({to.name, source, target});
  }

  void learn(const FlowPoint& from, const FlowPoint& to) {
    const EventId backward = event_at(to);
    if (backward == kNoEvent) return;
    const OperatorInfo* info = trace_.operators.find(backward);
    if (info == nullptr || info->forward_thread == 0) return;
    const bool is_known = std::any_of(threads_.begin(), threads_.end(), [&](const ForwardThread& thread) {
      return thread.number == info->forward_thread;
    });
    if (is_known) return;
    const EventId forward = event_at(from);
    if (forward != kNoEvent) threads_.push_back({info->forward_thread, trace_.events.track[forward]});
  }

  EventId event_at(const FlowPoint& point) const {
    for (const TrackId id : places_[point.place]) {
      const Track& track = trace_.tracks[id];
      const EventId event = point.binds_to_next ? next_at(track, point.time) : enclosing_at(track, point.time);
      if (event != kNoEvent) return event;
    }
    return kNoEvent;
  }

  EventId enclosing_at(const Track& track, Nanoseconds time) const {
    EventId hint = track.first_event;
    return innermost_at(trace_.events, track, time, hint);
  }

  EventId next_at(const Track& track, Nanoseconds time) const {
    const auto starts = trace_.events.start.begin() + track.first_event;
    const auto found = std::lower_bound(starts, starts + track.event_count, time);
    if (found == starts + track.event_count) return kNoEvent;
    return track.first_event + static_cast<EventId>(found - starts);
  }

  void note(Anomaly anomaly, const FlowPoint& point) {
    trace_.anomalies.add(anomaly, point.byte_offset, trace_.strings[point.name]);
  }

  Trace& trace_;
  const FlowPlaces& places_;
  std::vector<ForwardThread> threads_;
};

}  // namespace

std::vector<ForwardThread> link_flows(Trace& trace, std::vector<FlowPoint> points, const FlowPlaces& places) {
  merge_runs(std::span(points), is_earlier);
  FlowLinker linker(trace, places);
  for (auto first = points.begin(); first != points.end();) {
    auto last = first;
    while (last != points.end() && arrow_of(*last) == arrow_of(*first)) ++last;
    linker.join({first, last});
    first = last;
  }
  return linker.take_threads();
}

}  // namespace telltale
