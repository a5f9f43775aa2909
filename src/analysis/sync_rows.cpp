#include "analysis/sync_rows.h"

#include <algorithm>
#include <tuple>
#include <unordered_map>

namespace telltale {
namespace {

struct Sum {
  std::size_t calls = 0;
  Nanoseconds waited = 0, idle = 0;
  const SyncPoint* worst = nullptr;
};

bool is_worse(const SyncPoint& one, const SyncPoint& other) {
  return std::tie(one.idle_after, one.waited) > std::tie(other.idle_after, other.waited);
}

}  // namespace

std::vector<SyncRow> sync_rows(const Trace& trace, const StepTiming& timing, const std::vector<SyncPoint>& syncs) {
  std::unordered_map<StringId, Sum> by_name;
  for (const SyncPoint& sync : syncs) {
    Sum& sum = by_name[trace.events.name[sync.op == kNoEvent ? sync.call : sync.op]];
    ++sum.calls;
    sum.waited += sync.waited;
    sum.idle += sync.idle_after;
    if (sum.worst == nullptr || is_worse(sync, *sum.worst)) sum.worst = &sync;
  }

  const auto a_step = [&](Nanoseconds time) {
    return static_cast<Nanoseconds>(static_cast<double>(time) / timing.periods);
  };
  std::vector<SyncRow> rows;
  for (const auto& [name, sum] : by_name) {
    rows.push_back({std::string(trace.strings[name]), static_cast<double>(sum.calls) / timing.periods,
                    a_step(sum.waited), a_step(sum.idle), sum.worst->call});
  }
  std::ranges::sort(rows, [](const SyncRow& one, const SyncRow& other) {
    return std::tie(one.idle_ns, one.waited_ns, other.name) > std::tie(other.idle_ns, other.waited_ns, one.name);
  });
  return rows;
}

}  // namespace telltale
