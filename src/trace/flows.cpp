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
    if (use == FlowUse::kKept) return draw(points);
    check(points);
    if (use == FlowUse::kForwardBackward) learn(points);
  }

  std::vector<ForwardThread> take_threads() {
    std::vector<ForwardThread> threads;
    for (const Lesson& lesson : lessons_) threads.push_back(lesson.thread);
    return threads;
  }

 private:
  struct Lesson {
    ForwardThread thread;
    std::uint64_t byte_offset = 0;
  };

  void draw(std::span<const FlowPoint> points) {
    const FlowPoint* from = nullptr;
    for (const FlowPoint& point : points) {
      const bool is_start = point.role == FlowPoint::Role::kStart;
      if (is_start && from != nullptr) note(Anomaly::kFlowWithoutEnd, *from);
      if (!is_start && from == nullptr) note(Anomaly::kFlowWithoutStart, point);
      if (!is_start && from != nullptr) keep(*from, point);
      from = point.role == FlowPoint::Role::kEnd ? nullptr : &point;
    }
    if (from != nullptr) note(Anomaly::kFlowWithoutEnd, *from);
  }

  // One start may have many ends (the kernels of a graph), in any order of time: clocks of devices drift.
  void check(std::span<const FlowPoint> points) {
    const auto is_start = [](const FlowPoint& point) { return point.role == FlowPoint::Role::kStart; };
    const bool has_start = std::any_of(points.begin(), points.end(), is_start);
    const bool has_end = !std::all_of(points.begin(), points.end(), is_start);
    if (has_start && has_end) return;
    for (const FlowPoint& point : points)
      note(has_start ? Anomaly::kFlowWithoutEnd : Anomaly::kFlowWithoutStart, point);
  }

  void keep(const FlowPoint& from, const FlowPoint& to) {
    const EventId source = event_at(from), target = event_at(to);
    if (source == kNoEvent) return note(Anomaly::kFlowUnbound, from);
    if (target == kNoEvent) return note(Anomaly::kFlowUnbound, to);
    trace_.flows.push_back({to.name, source, target});
  }

  void learn(std::span<const FlowPoint> points) {
    const FlowPoint* from = nullptr;
    for (const FlowPoint& point : points) {
      if (point.role == FlowPoint::Role::kStart)
        from = &point;
      else if (from != nullptr)
        learn(*from, point);
    }
  }

  // Where two flows disagree, the one that stands first in the file is believed.
  void learn(const FlowPoint& from, const FlowPoint& to) {
    const EventId backward = event_at(to);
    const OperatorInfo* info = backward == kNoEvent ? nullptr : trace_.operators.find(backward);
    if (info == nullptr || info->forward_thread == 0) return;
    const auto known = std::find_if(lessons_.begin(), lessons_.end(), [&](const Lesson& lesson) {
      return lesson.thread.number == info->forward_thread;
    });
    if (known != lessons_.end() && known->byte_offset < to.byte_offset) return;
    const EventId forward = event_at(from);
    if (forward == kNoEvent) return;
    const Lesson lesson{{info->forward_thread, trace_.events.track[forward]}, to.byte_offset};
    if (known != lessons_.end())
      *known = lesson;
    else
      lessons_.push_back(lesson);
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
  std::vector<Lesson> lessons_;
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
