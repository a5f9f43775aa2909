#include "analysis/recompilation.h"

#include <algorithm>

#include "analysis/host_work.h"
#include "analysis/names_where.h"

namespace telltale {
namespace {

constexpr std::ptrdiff_t kMoreThanWarmup = 3;

}  // namespace

std::vector<bool> compiling_steps(const Trace& trace, std::span<const Interval> steps) {
  const std::vector<bool> compiles = names_where(trace, is_compiling);
  std::vector<bool> found(steps.size());
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (!compiles[trace.events.name[event]] || is_on_device(trace.events.kind[event])) continue;
    const Nanoseconds start = trace.events.start[event];
    const auto step = std::ranges::partition_point(steps, [&](Interval each) { return each.end <= start; });
    if (step != steps.end() && step->begin <= start) found[static_cast<std::size_t>(step - steps.begin())] = true;
  }
  return found;
}

bool keeps_compiling(const std::vector<bool>& compiling_steps) {
  const auto count = std::ranges::count(compiling_steps, true);
  const auto half = compiling_steps.begin() + static_cast<std::ptrdiff_t>((compiling_steps.size() + 1) / 2);
  return count >= kMoreThanWarmup ||
         (count > 1 && std::find(half, compiling_steps.end(), true) != compiling_steps.end());
}

}  // namespace telltale
