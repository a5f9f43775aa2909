#include "analysis/host_collectives.h"

#include <algorithm>
#include <array>

#include "analysis/names_where.h"
#include "analysis/wait_names.h"

namespace telltale {
namespace {

constexpr auto kBackends = std::to_array<std::string_view>({"gloo:", "mpi:", "ucc:"});

// A sleep, a file and a child process are waited for by themselves; the kernel tells a collective from no other lock.
bool says_nothing(std::string_view name) {
  switch (wait_of_call(name)) {
    case WaitFor::kLock:
    case WaitFor::kSocket:
    case WaitFor::kPoll:
    case WaitFor::kOther:
      return true;
    case WaitFor::kNothing:
      return name.starts_with("<built-in ");
    default:
      return false;
  }
}

}  // namespace

bool is_host_collective(std::string_view name) {
  return std::ranges::any_of(kBackends, [&](std::string_view backend) { return name.starts_with(backend); });
}

HostCollectives::HostCollectives(const Trace& trace) : trace_(trace) {
  const std::vector<bool> is_collective = names_where(trace, is_host_collective);
  if (std::ranges::find(is_collective, true) == is_collective.end()) return;
  std::vector<Interval> times;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (!is_collective[trace.events.name[event]] || is_on_device(trace.events.kind[event])) continue;
    events_.push_back(event);
    times.push_back({trace.events.start[event], trace.events.end(event)});
  }
  std::ranges::stable_sort(events_, {}, [&](EventId event) { return trace.events.start[event]; });
  running_ = united(std::move(times));
  says_nothing_ = names_where(trace, says_nothing);
}

bool HostCollectives::may_wait_in(EventId innermost) const {
  if (innermost == kNoEvent) return true;
  const Kind kind = trace_.events.kind[innermost];
  if (kind == Kind::kPython) return says_nothing_[trace_.events.name[innermost]];
  return kind == Kind::kAnnotation && !trace_.recorded.stacks;
}

std::vector<Interval>::const_iterator HostCollectives::first_that_ends_after(Nanoseconds time) const {
  return std::ranges::upper_bound(running_, time, {}, &Interval::end);
}

}  // namespace telltale
