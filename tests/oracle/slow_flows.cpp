#include "slow_flows.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <tuple>

#include "slow_links.h"

namespace telltale::oracle {
namespace {

using Arrow = std::tuple<std::string, std::string, SlowId>;  // category, name, id

bool is_forward_backward(const std::string& category) { return category == "fwdbwd" || category == "forward_backward"; }

bool is_launch(const std::string& category) { return category == "HostToDevice" || category == "async_npu"; }

// Arrows whose message the causes carry.
bool is_redundant(const std::string& category) {
  return is_forward_backward(category) || is_launch(category) || category == "ac2g" || category == "async_cpu_to_gpu" ||
         category == "async_gpu";
}

class Flows {
 public:
  Flows(const std::vector<SlowEvent>& events, const std::vector<SlowTrackKey>& tracks, Nanoseconds origin, Trace& trace)
      : tracks_(tracks), origin_(origin), trace_(trace) {
    for (const SlowEvent& event : events)
      if (event.phase == 's' || event.phase == 't' || event.phase == 'f')
        arrows_[{event.category, event.name, event.id}].push_back(&event);
    for (auto& [arrow, points] : arrows_)
      std::ranges::stable_sort(points, {}, [](const SlowEvent* point) { return point->time; });
  }

  void link() {
    for (const auto& [arrow, points] : arrows_) {
      if (is_redundant(std::get<0>(arrow)))
        check(points);
      else
        join(points);
    }
  }

  // First the calls that launched, then the operators behind them.
  void link_launches() {
    Events& events = trace_.events;
    for (const bool wants_calls : {true, false}) {
      for (const auto& [arrow, points] : arrows_) {
        if (!is_launch(std::get<0>(arrow)) || points.empty()) continue;
        EventId host = kNoEvent;
        for (const SlowEvent* point : points)
          if (host == kNoEvent && point->phase == 's') host = event_at(*point);
        if (host == kNoEvent) continue;
        for (const SlowEvent* point : points) {
          const EventId device = point->phase == 's' ? kNoEvent : event_at(*point);
          if (device == kNoEvent || !is_device_work(events.kind[device])) continue;
          if (wants_calls) {
            if (is_api_call(events.kind[host]) && events.cause[device] == kNoEvent) events.cause[device] = host;
            continue;
          }
          EventId op = host;
          while (op != kNoEvent && events.kind[op] != Kind::kOperator) op = events.parent[op];
          EventId& cause = events.cause[device];
          if (op == kNoEvent) continue;
          if (cause == kNoEvent) {
            cause = op;
          } else if (is_api_call(events.kind[cause]) && events.cause[cause] == kNoEvent) {
            EventId around = cause;
            while (around != kNoEvent && events.kind[around] != Kind::kOperator) around = events.parent[around];
            if (around == kNoEvent) events.cause[cause] = op;
          }
        }
      }
    }
  }

  // Which track each of torch's forward threads is: what the first flow in the file says that tells it.
  std::map<std::uint32_t, TrackId> forward_threads() const {
    std::map<std::uint64_t, std::pair<std::uint32_t, TrackId>> lessons;
    for (const auto& [arrow, points] : arrows_) {
      if (!is_forward_backward(std::get<0>(arrow))) continue;
      const SlowEvent* start = nullptr;
      for (const SlowEvent* point : points) {
        if (point->phase == 's') start = point;
        if (point->phase == 's' || start == nullptr) continue;
        const EventId forward = event_at(*start), backward = event_at(*point);
        const OperatorInfo* info = backward == kNoEvent ? nullptr : trace_.operators.find(backward);
        if (forward != kNoEvent && info != nullptr && info->forward_thread > 0)
          lessons[point->byte_offset] = {info->forward_thread, trace_.events.track[forward]};
      }
    }
    std::map<std::uint32_t, TrackId> threads;
    for (const auto& [offset, lesson] : lessons) threads.insert(lesson);
    return threads;
  }

 private:
  void note(Anomaly anomaly, const SlowEvent& event) { trace_.anomalies.add(anomaly, event.byte_offset); }

  // One start may have many ends (the kernels of a graph), in any order of time: clocks of devices drift.
  void check(const std::vector<const SlowEvent*>& points) {
    const auto is_start = [](const SlowEvent* point) { return point->phase == 's'; };
    const bool has_start = std::ranges::any_of(points, is_start);
    const bool has_end = !std::ranges::all_of(points, is_start);
    for (const SlowEvent* point : points) {
      if (is_start(point) && !has_end) note(Anomaly::kFlowWithoutEnd, *point);
      if (!is_start(point) && !has_start) note(Anomaly::kFlowWithoutStart, *point);
    }
  }

  void join(const std::vector<const SlowEvent*>& points) {
    const SlowEvent* from = nullptr;
    for (const SlowEvent* point : points) {
      if (point->phase == 's') {
        if (from) note(Anomaly::kFlowWithoutEnd, *from);
      } else if (!from) {
        note(Anomaly::kFlowWithoutStart, *point);
      } else {
        keep(*from, *point);
      }
      from = point->phase == 'f' ? nullptr : point;
    }
    if (from) note(Anomaly::kFlowWithoutEnd, *from);
  }

  void keep(const SlowEvent& from, const SlowEvent& to) {
    const EventId source = event_at(from), target = event_at(to);
    if (source == kNoEvent || target == kNoEvent)
      note(Anomaly::kFlowUnbound, source == kNoEvent ? from : to);
    else
      trace_.flows.push_back({trace_.strings.intern(to.name), source, target});
  }

  // On the first track of that pid and tid that has an answer.
  EventId event_at(const SlowEvent& point) const {
    const Nanoseconds time = point.time - origin_;
    for (TrackId track = 0; track < tracks_.size(); ++track) {
      const SlowTrackKey& key = tracks_[track];
      if (key.process != point.process || key.thread != point.thread) continue;
      const bool binds_to_next = point.phase == 'f' && !point.binds_to_enclosing;
      const EventId event = binds_to_next ? next_at(track, time) : innermost_at(trace_, track, time);
      if (event != kNoEvent) return event;
    }
    return kNoEvent;
  }

  EventId next_at(TrackId track, Nanoseconds time) const {
    const Track& place = trace_.tracks[track];
    for (EventId event = place.first_event; event < place.first_event + place.event_count; ++event)
      if (trace_.events.start[event] >= time) return event;
    return kNoEvent;
  }

  const std::vector<SlowTrackKey>& tracks_;
  Nanoseconds origin_;
  Trace& trace_;
  std::map<Arrow, std::vector<const SlowEvent*>> arrows_;
};

void link_backward(const std::map<std::uint32_t, TrackId>& threads, const std::vector<SlowRow>& rows, Trace& trace) {
  Events& events = trace.events;
  std::map<std::int64_t, std::vector<EventId>> forwards;  // by sequence number
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const EventId event = trace.operators.event(i);
    const OperatorInfo& info = trace.operators.row(i);
    if (events.kind[event] == Kind::kOperator && info.sequence >= 0 && info.forward_thread == 0)
      forwards[info.sequence].push_back(event);
  }
  for (std::size_t i = 0; i < trace.operators.size(); ++i) {
    const EventId event = trace.operators.event(i);
    const OperatorInfo& info = trace.operators.row(i);
    if (events.kind[event] != Kind::kOperator || info.sequence < 0 || info.forward_thread == 0) continue;
    std::set<TrackId> candidate_tracks;
    EventId forward = kNoEvent;
    const auto thread = threads.find(info.forward_thread);
    for (const EventId candidate : forwards[info.sequence]) {
      if (events.start[candidate] >= events.start[event]) continue;
      if (thread != threads.end() && events.track[candidate] != thread->second) continue;
      candidate_tracks.insert(events.track[candidate]);
      forward = candidate;  // of one track, the last in row order starts last
    }
    if (candidate_tracks.size() == 1)
      events.cause[event] = forward;
    else
      trace.anomalies.add(Anomaly::kBackwardWithoutForward, rows[event].event->byte_offset);
  }
}

}  // namespace

void link_flows(const std::vector<SlowEvent>& events, const std::vector<SlowTrackKey>& tracks,
                const std::vector<SlowRow>& rows, Nanoseconds origin, Trace& trace) {
  Flows flows(events, tracks, origin, trace);
  flows.link();
  flows.link_launches();
  link_backward(flows.forward_threads(), rows, trace);
}

}  // namespace telltale::oracle
