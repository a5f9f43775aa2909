#include "trace/flows.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/merge_runs.h"
#include "trace/nesting.h"

namespace telltale {
namespace {

enum class FlowUse : std::uint8_t { kKept, kRedundant, kForwardBackward, kLaunch };

FlowUse use_of(std::string_view category) {
  if (category == "fwdbwd" || category == "forward_backward") return FlowUse::kForwardBackward;
  if (category == "HostToDevice" || category == "async_npu") return FlowUse::kLaunch;
  if (category == "ac2g" || category == "async_cpu_to_gpu" || category == "async_gpu") return FlowUse::kRedundant;
  return FlowUse::kKept;
}

// Which arrows of a list have a start, and which an end. Ids are mostly consecutive numbers, which a table takes; text
// and scattered numbers go to a map.
class FlowIds {
 public:
  explicit FlowIds(std::span<const FlowPoint> points) {
    std::int64_t least = INT64_MAX, greatest = INT64_MIN;
    for (const FlowPoint& point : points) {
      least = std::min(least, point.id_number);
      greatest = std::max(greatest, point.id_number);
    }
    const auto range = static_cast<std::uint64_t>(greatest) - static_cast<std::uint64_t>(least);
    constexpr std::uint64_t kBytesPerPoint = 16;
    if (!points.empty() && range < kBytesPerPoint * points.size()) {
      least_ = least;
      table_.resize(range + 1);
    }
    for (const FlowPoint& point : points) ends_of(point) |= point.role == FlowRole::kStart ? kStart : kEnd;
  }

  bool has_start(const FlowPoint& point) const { return (found(point) & kStart) != 0; }
  bool has_end(const FlowPoint& point) const { return (found(point) & kEnd) != 0; }

 private:
  static constexpr std::uint8_t kStart = 1, kEnd = 2;

  bool is_in_table(const FlowPoint& point) const { return !table_.empty() && point.id == kEmptyString; }
  std::size_t slot_of(const FlowPoint& point) const {
    return static_cast<std::size_t>(static_cast<std::uint64_t>(point.id_number) - static_cast<std::uint64_t>(least_));
  }
  std::uint8_t& ends_of(const FlowPoint& point) {
    return is_in_table(point) ? table_[slot_of(point)] : map_[{point.id, point.id_number}];
  }
  std::uint8_t found(const FlowPoint& point) const {
    return is_in_table(point) ? table_[slot_of(point)] : map_.at({point.id, point.id_number});
  }

  std::int64_t least_ = 0;
  std::vector<std::uint8_t> table_;  // by id, from `least_` on
  std::map<std::pair<StringId, std::int64_t>, std::uint8_t> map_;
};

auto arrow_of(const FlowPoint& point) { return std::tie(point.id, point.id_number); }

bool is_earlier(const FlowPoint& a, const FlowPoint& b) {
  return std::tuple_cat(arrow_of(a), std::tie(a.time, a.byte_offset)) <
         std::tuple_cat(arrow_of(b), std::tie(b.time, b.byte_offset));
}

// Calls `take` with the points of each arrow, in the order of time.
template <typename Take>
void for_each_arrow(std::vector<FlowPoint>& points, Take take) {
  merge_runs(std::span(points), is_earlier);
  for (auto first = points.begin(); first != points.end();) {
    auto last = first;
    while (last != points.end() && arrow_of(*last) == arrow_of(*first)) ++last;
    take(std::span<const FlowPoint>(first, last));
    first = last;
  }
}

class FlowLinker {
 public:
  FlowLinker(Trace& trace, const FlowPlaces& places) : trace_(trace), places_(places), open_rows_(trace.events) {}

  void link(FlowList& list) {
    name_ = list.kind.name;
    const FlowUse use = use_of(trace_.strings[list.kind.category]);
    if (use == FlowUse::kKept) {
      for_each_arrow(list.points, [this](std::span<const FlowPoint> points) { draw(points); });
      return;
    }
    check(list.points);
    if (use == FlowUse::kLaunch)
      for_each_arrow(list.points, [this](std::span<const FlowPoint> points) { gather_launches(points); });
    if (use == FlowUse::kForwardBackward) {
      count_forward_threads();
      for_each_arrow(list.points, [this](std::span<const FlowPoint> points) { learn(points); });
    }
  }

  // An arrow from a call of the device's API names the launch of device work. One from an operator names whoever made
  // that call or, without one, the work itself.
  void link_launches() {
    Events& events = trace_.events;
    for (const auto& [host, device] : launches_)
      if (is_api_call(events.kind[host]) && events.cause[device] == kNoEvent) events.cause[device] = host;
    for (const auto& [host, device] : launches_) {
      const EventId op = events.kind[host] == Kind::kOperator ? host : trace_.ancestor(host, Kind::kOperator);
      const EventId call = events.cause[device];
      if (op == kNoEvent || op == call) continue;
      if (call == kNoEvent)
        events.cause[device] = op;
      else if (is_api_call(events.kind[call]) && events.cause[call] == kNoEvent &&
               trace_.ancestor(call, Kind::kOperator) == kNoEvent)
        events.cause[call] = op;
    }
  }

  std::vector<ForwardThread> take_threads() {
    std::vector<ForwardThread> threads;
    for (const auto& [number, lesson] : lessons_) threads.push_back(lesson.thread);
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
      const bool is_start = point.role == FlowRole::kStart;
      if (is_start && from != nullptr) note(Anomaly::kFlowWithoutEnd, *from);
      if (!is_start && from == nullptr) note(Anomaly::kFlowWithoutStart, point);
      if (!is_start && from != nullptr) keep(*from, point);
      from = point.role == FlowRole::kEnd ? nullptr : &point;
    }
    if (from != nullptr) note(Anomaly::kFlowWithoutEnd, *from);
  }

  // One start may have many ends (the kernels of a graph), in any order of time: clocks of devices drift.
  void check(std::span<const FlowPoint> points) {
    const FlowIds ids(points);
    for (const FlowPoint& point : points) {
      const bool is_start = point.role == FlowRole::kStart;
      if (is_start && !ids.has_end(point)) note(Anomaly::kFlowWithoutEnd, point);
      if (!is_start && !ids.has_start(point)) note(Anomaly::kFlowWithoutStart, point);
    }
  }

  void keep(const FlowPoint& from, const FlowPoint& to) {
    const EventId source = event_at(from), target = event_at(to);
    if (source == kNoEvent) return note(Anomaly::kFlowUnbound, from);
    if (target == kNoEvent) return note(Anomaly::kFlowUnbound, to);
    trace_.flows.push_back({name_, source, target});
  }

  void gather_launches(std::span<const FlowPoint> points) {
    const auto start = std::ranges::find(points, FlowRole::kStart, &FlowPoint::role);
    const EventId host = start == points.end() ? kNoEvent : event_at(*start);
    if (host == kNoEvent) return;
    for (const FlowPoint& point : points) {
      const EventId device = point.role == FlowRole::kStart ? kNoEvent : event_at(point);
      if (device != kNoEvent && is_device_work(trace_.events.kind[device])) launches_.emplace_back(host, device);
    }
  }

  void count_forward_threads() {
    if (!forward_threads_.empty()) return;
    std::uint32_t last = 0;
    for (std::size_t i = 0; i < trace_.operators.size(); ++i) {
      const std::uint32_t number = trace_.operators.row(i).forward_thread;
      if (number != 0 && number != last) forward_threads_.insert(last = number);
    }
  }

  void learn(std::span<const FlowPoint> points) {
    const FlowPoint* from = nullptr;
    for (const FlowPoint& point : points) {
      if (point.role == FlowRole::kStart)
        from = &point;
      else if (from != nullptr)
        learn(*from, point);
    }
  }

  // Where two flows disagree, the one that stands first in the file is believed.
  void learn(const FlowPoint& from, const FlowPoint& to) {
    const bool is_all_known = lessons_.size() == forward_threads_.size();
    if (is_all_known && latest_lesson_ < to.byte_offset) return;
    const EventId backward = event_at(to);
    const OperatorInfo* info = backward == kNoEvent ? nullptr : trace_.operators.find(backward);
    if (info == nullptr || info->forward_thread == 0) return;
    const auto known = lessons_.find(info->forward_thread);
    if (known != lessons_.end() && known->second.byte_offset < to.byte_offset) return;
    const EventId forward = event_at(from);
    if (forward == kNoEvent) return;
    const Lesson lesson{{info->forward_thread, trace_.events.track[forward]}, to.byte_offset};
    lessons_.insert_or_assign(info->forward_thread, lesson);
    latest_lesson_ = std::max(latest_lesson_, lesson.byte_offset);
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
    return open_rows_.innermost_at(track, time, hint);
  }

  EventId next_at(const Track& track, Nanoseconds time) const {
    const auto starts = trace_.events.start.begin() + track.first_event;
    const auto found = std::lower_bound(starts, starts + track.event_count, time);
    if (found == starts + track.event_count) return kNoEvent;
    return track.first_event + static_cast<EventId>(found - starts);
  }

  void note(Anomaly anomaly, const FlowPoint& point) {
    trace_.anomalies.add(anomaly, point.byte_offset, trace_.strings[name_]);
  }

  Trace& trace_;
  const FlowPlaces& places_;
  OpenRows open_rows_;
  StringId name_ = kEmptyString;                       // of the list at hand
  std::map<std::uint32_t, Lesson> lessons_;            // by the number of the forward thread
  std::uint64_t latest_lesson_ = 0;                    // where the last one of them stands in the file, at most
  std::vector<std::pair<EventId, EventId>> launches_;  // host event, device work
  std::set<std::uint32_t> forward_threads_;
};

}  // namespace

std::vector<ForwardThread> link_flows(Trace& trace, std::vector<FlowList> lists, const FlowPlaces& places) {
  FlowLinker linker(trace, places);
  for (FlowList& list : lists) linker.link(list);
  linker.link_launches();
  return linker.take_threads();
}

}  // namespace telltale
