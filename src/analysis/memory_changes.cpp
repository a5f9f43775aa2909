#include "analysis/memory_changes.h"

#include <algorithm>
#include <numeric>

namespace telltale {

MemoryChanges::MemoryChanges(const Trace& trace) : series_(trace.processes.size()) {
  const MemoryEvents& memory = trace.memory;
  is_empty_ = memory.size() == 0;

  std::vector<std::uint32_t> by_time(memory.size());
  std::iota(by_time.begin(), by_time.end(), 0U);
  if (!std::ranges::is_sorted(memory.time)) {
    std::ranges::stable_sort(by_time, {}, [&](std::uint32_t row) { return memory.time[row]; });
  }
  for (Walk::Series& series : series_) series.until.emplace_back();
  for (const std::uint32_t row : by_time) {
    Walk::Series& series = series_[trace.tracks[memory.track[row]].process];
    MemoryChange sum = series.until.back();
    (memory.device[row] == kHost ? sum.host : sum.device) += memory.bytes[row];
    series.time.push_back(memory.time[row]);
    series.until.push_back(sum);
  }
}

MemoryChanges::Walk MemoryChanges::walk(ProcessId process) const { return Walk(&series_[process]); }

MemoryChange MemoryChanges::Walk::during(Nanoseconds start, Nanoseconds end) {
  const std::vector<Nanoseconds>& time = series_->time;
  while (first_ < time.size() && time[first_] < start) ++first_;

  std::size_t reach = 1;  // most spans hold few allocations: look near before looking far
  while (first_ + reach < time.size() && time[first_ + reach] <= end) reach *= 2;
  const auto from = time.begin() + static_cast<std::ptrdiff_t>(first_);
  const auto to = time.begin() + static_cast<std::ptrdiff_t>(std::min(first_ + reach, time.size()));
  const std::size_t last = static_cast<std::size_t>(std::upper_bound(from, to, end) - time.begin());

  const MemoryChange before = series_->until[first_];
  const MemoryChange after = series_->until[last];
  return {after.host - before.host, after.device - before.device};
}

}  // namespace telltale
