#include "analysis/communication.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/work_class.h"
#include "trace/side_table.h"

namespace telltale {
namespace {

struct Collective {
  EventId event = kNoEvent;
  StringId name = kEmptyString;
  std::optional<double> bytes;
};

std::optional<double> bytes_of_type(std::string_view type) {
  constexpr std::pair<std::string_view, double> kSizes[] = {
      {"Float", 4}, {"BFloat16", 2}, {"Half", 2}, {"Double", 8}, {"Long", 8},         {"Int", 4},
      {"Short", 2}, {"Byte", 1},     {"Char", 1}, {"Bool", 1},   {"ComplexFloat", 8}, {"ComplexDouble", 16},
  };
  for (const auto& [name, bytes] : kSizes)
    if (type == name) return bytes;
  if (type.starts_with("Float8")) return 1;
  return {};
}

std::optional<double> bytes_of(const Trace& trace, const CollectiveInfo& info) {
  const std::optional<double> size = bytes_of_type(trace.strings[info.dtype]);
  if (!size || info.in_elements < 0) return {};
  return *size * static_cast<double>(info.in_elements);
}

// Finds the collectives among device work, and what is known about them.
class CollectiveFinder {
 public:
  explicit CollectiveFinder(const Trace& trace)
      : trace_(trace), infos_(trace.collectives), by_name_(trace.strings.size(), Answer::kUnknown) {}

  // Device events in ascending order.
  std::optional<Collective> find(EventId event) {
    const CollectiveInfo* info = info_of(event);
    if (info == nullptr && trace_.events.kind[event] != Kind::kCollective && !is_named_so(event)) return {};
    Collective collective{event, trace_.events.name[event], {}};
    if (info != nullptr) {
      if (info->collective != kEmptyString) collective.name = info->collective;
      collective.bytes = bytes_of(trace_, *info);
    }
    return collective;
  }

 private:
  const CollectiveInfo* info_of(EventId event) {
    if (trace_.collectives.empty()) return nullptr;
    if (const CollectiveInfo* info = infos_.find(event); info != nullptr) return info;
    const EventId op = trace_.operator_of(event);
    return op == kNoEvent ? nullptr : trace_.collectives.find(op);
  }

  bool is_named_so(EventId event) {
    if (trace_.events.kind[event] != Kind::kKernel) return false;
    Answer& answer = by_name_[trace_.events.name[event]];
    if (answer == Answer::kUnknown)
      answer = class_of_kernel_name(trace_.name(event)) == WorkClass::kCommunication ? Answer::kYes : Answer::kNo;
    return answer == Answer::kYes;
  }

  enum class Answer : std::uint8_t { kUnknown, kYes, kNo };
  const Trace& trace_;
  SideTableWalk<CollectiveInfo> infos_;
  std::vector<Answer> by_name_;
};

template <typename Visit>
void for_each_device_work(const Trace& trace, const Track& track, Visit visit) {
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event)
    if (is_device_work(trace.events.kind[event])) visit(event);
}

// Those that the steps launched. In a trace that knows no launches, those that run within the steps.
std::map<DeviceId, std::vector<Collective>> collectives_by_device(const Trace& trace, const StepTiming& timing) {
  const Events& events = trace.events;
  CollectiveFinder finder(trace);
  std::map<DeviceId, std::vector<Collective>> launched, of_unknown_launch;
  for (const Track& track : trace.tracks) {
    for_each_device_work(trace, track, [&](EventId event) {
      const std::optional<Collective> collective = finder.find(event);
      if (!collective) return;
      const EventId launch = events.cause[event];
      auto& by_device = launch == kNoEvent ? of_unknown_launch : launched;
      const Nanoseconds at = events.start[launch == kNoEvent ? event : launch];
      if (step_at(timing, at) >= 0) by_device[track.device].push_back(*collective);
    });
  }
  return launched.empty() ? of_unknown_launch : launched;
}

// When the device computes. Copies do not: they hide no communication, and often belong to it.
std::vector<Interval> computing(const Trace& trace, DeviceId device) {
  CollectiveFinder finder(trace);
  std::vector<Interval> other;
  for (const Track& track : trace.tracks) {
    if (track.device != device) continue;
    for_each_device_work(trace, track, [&](EventId event) {
      const Kind kind = trace.events.kind[event];
      if (kind != Kind::kMemcpy && kind != Kind::kMemset && !finder.find(event))
        other.push_back({trace.events.start[event], trace.events.end(event)});
    });
  }
  return united(std::move(other));
}

Nanoseconds length_outside(const std::vector<Interval>& part, const std::vector<Interval>& cover) {
  Nanoseconds covered = 0;
  auto first = cover.begin();  // the first one that may reach into what is left of `part`
  for (const Interval& interval : part) {
    while (first != cover.end() && first->end <= interval.begin) ++first;
    for (auto at = first; at != cover.end() && at->begin < interval.end; ++at)
      covered += std::min(at->end, interval.end) - std::max(at->begin, interval.begin);
  }
  return total_length(part) - covered;
}

std::vector<Interval> united_times(const Trace& trace, const std::vector<Collective>& collectives) {
  std::vector<Interval> times;
  for (const Collective& collective : collectives)
    times.push_back({trace.events.start[collective.event], trace.events.end(collective.event)});
  return united(std::move(times));
}

CollectiveRow row_of(const Trace& trace, const std::vector<Collective>& calls, const std::vector<Interval>& other,
                     std::size_t steps) {
  CollectiveRow row;
  row.name = trace.strings[calls.front().name];
  row.calls = static_cast<double>(calls.size()) / static_cast<double>(steps);
  for (const Collective& call : calls)
    if (call.bytes) row.bytes = row.bytes.value_or(0) + *call.bytes / static_cast<double>(steps);
  const std::vector<Interval> times = united_times(trace, calls);
  row.device_ns = total_length(times) / static_cast<Nanoseconds>(steps);
  row.exposed_ns = length_outside(times, other) / static_cast<Nanoseconds>(steps);
  return row;
}

}  // namespace

std::optional<double> Communication::overlap_percent() const {
  if (total_ns <= 0) return {};
  return 100 * static_cast<double>(total_ns - exposed_ns) / static_cast<double>(total_ns);
}

Communication communication(const Trace& trace, const StepTiming& timing) {
  std::map<DeviceId, std::vector<Collective>> by_device = collectives_by_device(trace, timing);
  Communication result;
  Nanoseconds longest = 0;
  for (const auto& [device, collectives] : by_device) {
    const Nanoseconds total = total_length(united_times(trace, collectives));
    if (total <= longest) continue;
    longest = total;
    result.device = device;
  }
  if (longest == 0) return result;

  const std::vector<Collective>& collectives = by_device[result.device];
  const std::vector<Interval> other = computing(trace, result.device);
  const auto steps = static_cast<Nanoseconds>(timing.steps.size());
  result.total_ns = longest / steps;
  result.exposed_ns = length_outside(united_times(trace, collectives), other) / steps;

  std::map<StringId, std::vector<Collective>> by_name;
  for (const Collective& collective : collectives) by_name[collective.name].push_back(collective);
  for (const auto& [name, calls] : by_name) result.rows.push_back(row_of(trace, calls, other, timing.steps.size()));
  std::ranges::stable_sort(result.rows, std::ranges::greater{}, &CollectiveRow::device_ns);
  return result;
}

}  // namespace telltale
