#include "analysis/copy_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <span>
#include <utility>

#include "analysis/api_calls.h"
#include "base/merge_runs.h"
#include "trace/side_table.h"

namespace telltale {
namespace {

// Calls of cudaMemcpyAsync that wait for nothing took 3 to 50 µs in the traces of tests/diagnosis, half of those that
// move much memory more than 20 µs. What a call takes beyond this is waiting.
constexpr Nanoseconds kEnqueueCost = 30'000;

bool is_host(MemorySpace space) { return space == MemorySpace::kPageable || space == MemorySpace::kPinned; }
bool is_device(MemorySpace space) { return space == MemorySpace::kDevice || space == MemorySpace::kArray; }

CopyDirection direction_of(const CopyInfo& info) {
  if (is_host(info.from) && is_device(info.to)) return CopyDirection::kHostToDevice;
  if (is_device(info.from) && is_host(info.to)) return CopyDirection::kDeviceToHost;
  if (is_device(info.from) && is_device(info.to)) return CopyDirection::kDeviceToDevice;
  return CopyDirection::kOther;
}

// Adds to every copy on a device the time in which it is the only work there.
class ExposedTime {
 public:
  ExposedTime(const Trace& trace, std::vector<CopyCall>& calls) : trace_(trace), calls_(calls) {}

  void add(DeviceId device) {
    collect(device);
    merge_runs(std::span(begins_), [](const Boundary& a, const Boundary& b) { return a.time < b.time; });
    merge_runs(std::span(ends_), [](const Boundary& a, const Boundary& b) { return a.time < b.time; });
    sweep();
  }

 private:
  struct Boundary {
    Nanoseconds time;
    std::uint32_t copy;  // an index of calls_, or kNoCopy for other work
  };
  static constexpr std::uint32_t kNoCopy = UINT32_MAX;

  void collect(DeviceId device) {
    begins_.clear();
    ends_.clear();
    const Events& events = trace_.events;
    for (const Track& track : trace_.tracks) {
      if (track.device != device) continue;
      auto copy = std::ranges::lower_bound(calls_, track.first_event, {}, &CopyCall::event);
      for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
        if (!is_device_work(events.kind[event])) continue;
        const bool is_copy = copy != calls_.end() && copy->event == event;
        const auto index = is_copy ? static_cast<std::uint32_t>(copy++ - calls_.begin()) : kNoCopy;
        begins_.push_back({events.start[event], index});
        ends_.push_back({events.end(event), index});
      }
    }
  }

  // The sum of the works that run is the one that runs when there is just one.
  void sweep() {
    std::size_t running = 0, begun = 0;
    std::uint64_t sum = 0;
    Nanoseconds since = 0;
    for (const Boundary& end : ends_) {
      for (; begun < begins_.size() && begins_[begun].time <= end.time; ++begun) {
        credit(running, sum, begins_[begun].time - since);
        since = begins_[begun].time;
        ++running;
        sum += begins_[begun].copy;
      }
      credit(running, sum, end.time - since);
      since = end.time;
      --running;
      sum -= end.copy;
    }
  }

  void credit(std::size_t running, std::uint64_t sum, Nanoseconds time) {
    if (running == 1 && sum != kNoCopy) calls_[sum].exposed += time;
  }

  const Trace& trace_;
  std::vector<CopyCall>& calls_;  // by event id
  std::vector<Boundary> begins_, ends_;
};

// The call after `call` with the same parent when it waits for the device, as in aten::copy_; else kNoEvent.
EventId wait_behind(const Trace& trace, EventId call) {
  const Events& events = trace.events;
  const EventId op = events.parent[call];
  if (op == kNoEvent || events.kind[op] != Kind::kOperator) return kNoEvent;
  EventId next = call + 1;
  while (next < events.size() && events.track[next] == events.track[call] && events.start[next] < events.end(call))
    ++next;
  if (next >= events.size() || events.track[next] != events.track[call] || events.parent[next] != op) return kNoEvent;
  return is_api_call(events.kind[next]) && is_waiting_call(trace.name(next)) ? next : kNoEvent;
}

void measure_blocking(const Trace& trace, EventId launch, CopyCall& call) {
  const Events& events = trace.events;
  // A graph's launch makes copies too, and stands for much else.
  const ApiCall made_by = is_api_call(events.kind[launch]) ? api_call_named(trace.name(launch)) : ApiCall::kOther;
  if (made_by != ApiCall::kCopy && made_by != ApiCall::kWaitingCopy) return;
  call.wait = wait_behind(trace, launch);
  call.host_blocked = std::max<Nanoseconds>(0, events.duration[launch] - kEnqueueCost) +
                      (call.wait == kNoEvent ? 0 : events.duration[call.wait]);
}

std::vector<CopyCall> copies_of_steps(const Trace& trace, const StepTiming& timing) {
  const Events& events = trace.events;
  std::vector<CopyCall> calls;
  SideTableWalk<CopyInfo> infos(trace.copies);
  for (EventId event = 0; event < events.size(); ++event) {
    if (events.kind[event] != Kind::kMemcpy) continue;
    const EventId launch = events.cause[event];
    if (launch == kNoEvent || step_at(timing, events.start[launch]) < 0) continue;
    CopyCall call;
    call.event = event;
    call.duration = events.duration[event];
    measure_blocking(trace, launch, call);
    if (const CopyInfo* info = infos.find(event); info != nullptr) {
      call.direction = direction_of(*info);
      call.is_pageable = info->from == MemorySpace::kPageable || info->to == MemorySpace::kPageable;
      call.bytes = std::max<std::int64_t>(0, info->bytes);
    }
    calls.push_back(call);
  }
  return calls;
}

std::vector<CopyRow> rows_of(const std::vector<CopyCall>& calls, std::size_t steps) {
  struct Sums {
    CopyRow row;
    Nanoseconds sized = 0;  // how long the copies take whose size is known
  };
  std::map<std::pair<CopyDirection, bool>, Sums> by_way;
  for (const CopyCall& call : calls) {
    auto& [row, sized] = by_way[{call.direction, call.is_pageable}];
    row.calls += 1;
    row.bytes += static_cast<double>(call.bytes);
    row.duration_ns += call.duration;
    row.exposed_ns += call.exposed;
    row.host_blocked_ns += call.host_blocked;
    if (call.bytes > 0) sized += call.duration;
  }
  std::vector<CopyRow> rows;
  for (auto& [way, sums] : by_way) {
    CopyRow& row = sums.row;
    std::tie(row.direction, row.is_pageable) = way;
    if (sums.sized > 0) row.bytes_per_second = row.bytes / static_cast<double>(sums.sized) * 1e9;
    row.calls /= static_cast<double>(steps);
    row.bytes /= static_cast<double>(steps);
    const auto count = static_cast<Nanoseconds>(steps);
    row.duration_ns /= count;
    row.exposed_ns /= count;
    row.host_blocked_ns /= count;
    rows.push_back(row);
  }
  return rows;
}

}  // namespace

std::string_view name_of(CopyDirection direction) {
  constexpr std::array<std::string_view, 4> kNames = {"host_to_device", "device_to_host", "device_to_device", "other"};
  return kNames[static_cast<std::size_t>(direction)];
}

CopySummary copy_summary(const Trace& trace, const StepTiming& timing) {
  CopySummary summary;
  summary.calls = copies_of_steps(trace, timing);

  std::vector<DeviceId> devices;
  for (const CopyCall& call : summary.calls) devices.push_back(trace.tracks[trace.events.track[call.event]].device);
  std::ranges::sort(devices);
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  ExposedTime exposed(trace, summary.calls);
  for (const DeviceId device : devices) exposed.add(device);

  summary.rows = rows_of(summary.calls, timing.steps.size());
  return summary;
}

}  // namespace telltale
