#include "advise/patterns/freed_memory.h"

#include <algorithm>

#include "analysis/operator_arguments.h"

namespace telltale {
namespace {

// glibc's malloc gives blocks of 32 MiB and more back when they are freed, and learns to keep smaller ones.
constexpr double kLeastBytes = 32.0 * 1024 * 1024;
// Blocks of 38.5 MB took 1.6 to 2.4 ms beside an H200, and 5.6 ms (128 MiB: 40 ms) on a machine whose processors were
// all busy; those of 16 MiB, which are kept, less than 0.1 ms.
constexpr double kBytesPerNanosecond = 5;
// Python between two operators takes less.
constexpr Nanoseconds kLeast = 100'000;

// Of the first tensor that the call, or an operator within it, is given.
double bytes_of_first_tensor(const Trace& trace, EventId call, EventId end) {
  for (EventId event = call; event < end; ++event) {
    const OperatorArguments arguments(texts_of(trace, event));
    if (!arguments.shape(0).empty()) return arguments.bytes(0);
  }
  return 0;
}

bool is_copy_to_device(const Trace& trace, EventId work) {
  const CopyInfo* const copy = trace.copies.find(work);
  return copy != nullptr && copy->to == MemorySpace::kDevice && copy->from != MemorySpace::kDevice;
}

// A tensor of the host: it is copied to the device, or computed on without one.
bool reads_tensor_of_host(const Facts& facts, EventId call, EventId end) {
  const std::span<const EventId> launched = facts.launched.of_range(call, end);
  if (!launched.empty())
    return std::ranges::all_of(launched, [&](EventId work) { return is_copy_to_device(facts.trace, work); });
  for (EventId event = call; event < end; ++event)
    if (facts.computes_on_host(event)) return true;
  return false;
}

}  // namespace

std::optional<FreedMemory> freed_behind(const Facts& facts, EventId call) {
  const Trace& trace = facts.trace;
  const Track& track = trace.tracks[trace.events.track[call]];
  const EventId next = subtree_end(trace, call);
  if (next >= track.first_event + track.event_count) return std::nullopt;
  const EventId within = trace.events.parent[next];
  const Nanoseconds time = trace.events.start[next] - trace.events.end(call);
  if (within == kNoEvent || time < kLeast || facts.host_work[within] != HostWork::kPython) return std::nullopt;
  if (!reads_tensor_of_host(facts, call, next)) return std::nullopt;
  const double bytes = bytes_of_first_tensor(trace, call, next);
  if (bytes < kLeastBytes) return std::nullopt;
  return FreedMemory{within, std::min(time, static_cast<Nanoseconds>(bytes / kBytesPerNanosecond))};
}

}  // namespace telltale
