#include "memory/memory_peak.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "analysis/memory_summary.h"
#include "memory/stack_words.h"
#include "trace/gauges.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

constexpr std::size_t kMostTensors = 10;
constexpr std::size_t kMostRows = 50;

// The operator that wanted the memory; empty where there is none.
std::string_view operator_around(const Trace& trace, EventId event) {
  const EventId maker = maker_of(trace, event);
  const bool is_operator = maker != kNoEvent && trace.events.kind[maker] == Kind::kOperator;
  return is_operator ? trace.name(maker) : std::string_view();
}

template <typename Row>
void sort_and_cut(std::vector<Row>& rows) {
  std::ranges::stable_sort(rows, std::ranges::greater{}, &Row::bytes);
  if (rows.size() > kMostRows) rows.resize(kMostRows);
}

// Several events may happen at one time: the peak is the highest of them, any other time is behind the last.
MemoryPoint level_at(const DeviceMemory& device, Nanoseconds time) {
  if (time == device.peak.time) return device.peak;
  const auto behind = std::ranges::upper_bound(device.levels, time, {}, &MemoryPoint::time);
  if (behind != device.levels.begin()) return *(behind - 1);
  return {.time = time, .allocated = device.allocated_before, .reserved = 0};
}

class PeakTally {
 public:
  PeakTally(const Trace& trace, MemoryPeak& peak) : trace_(trace), peak_(peak) {}

  void add(const UsedBlock& block) {
    UseBytes& use = uses_[block.use];
    use.bytes += block.bytes;
    use.noted_bytes += block.is_noted ? block.bytes : 0;
    ++use.blocks;
    known_ += block.bytes;
    Sum& size = sizes_[block.bytes];
    size.bytes += block.bytes;
    ++size.blocks;
    if (block.use == MemoryUse::kBefore) return;
    peak_.placed += block.bytes;
    const std::optional<SourceLine> source = line_of(trace_, block);
    Line& line = lines_[source ? std::tuple(source->file, source->line) : std::tuple(std::string(), -1)];
    line.row.source = source;
    line.row.bytes += block.bytes;
    ++line.row.blocks;
    line.largest.offer(block, line.row.example);
    line.by_use[block.use] += block.bytes;
    add(modules_[std::string(module_around(trace_, block.event))], block);
    add(operators_[std::string(operator_around(trace_, block.event))], block);
    keep_if_large(block);
  }

  void finish() {
    const std::int64_t unknown = peak_.allocated - known_;
    if (unknown > 0) uses_[MemoryUse::kBefore].bytes += unknown;
    if (peak_.device_used && *peak_.device_used > peak_.reserved_at_peak && peak_.reserved_at_peak > 0)
      uses_[MemoryUse::kOutside].bytes = *peak_.device_used - peak_.reserved_at_peak;
    for (auto& [use, row] : uses_) {
      row.use = use;
      if (row.bytes > 0) peak_.uses.push_back(row);
    }
    for (auto& [place, line] : lines_) {
      line.row.use = std::ranges::max_element(line.by_use, {}, [](const auto& each) { return each.second; })->first;
      peak_.lines.push_back(line.row);
    }
    for (const auto& [name, row] : modules_) peak_.modules.push_back({name, row.bytes, row.blocks, row.example});
    for (const auto& [name, row] : operators_) peak_.operators.push_back({name, row.bytes, row.blocks, row.example});
    for (const auto& [size, row] : sizes_) peak_.sizes.push_back({size, row.bytes, row.blocks});
    std::ranges::stable_sort(peak_.uses, std::ranges::greater{}, &UseBytes::bytes);
    sort_and_cut(peak_.lines);
    sort_and_cut(peak_.modules);
    sort_and_cut(peak_.operators);
    sort_and_cut(peak_.sizes);
    std::ranges::stable_sort(largest_, std::ranges::greater{}, &UsedBlock::bytes);
    if (largest_.size() > kMostTensors) largest_.resize(kMostTensors);
    for (const UsedBlock& block : largest_) peak_.tensors.push_back(described(trace_, block));
  }

 private:
  // The largest of those that it was shown.
  struct Largest {
    std::int64_t bytes = 0;
    void offer(const UsedBlock& block, EventId& example) {
      if (block.bytes <= bytes) return;
      bytes = block.bytes;
      example = block.event;
    }
  };
  struct Sum {
    std::int64_t bytes = 0, blocks = 0;
    EventId example = kNoEvent;
    Largest largest;
  };
  struct Line {
    LineBytes row;
    Largest largest;
    std::map<MemoryUse, std::int64_t> by_use;
  };

  static void add(Sum& sum, const UsedBlock& block) {
    sum.bytes += block.bytes;
    ++sum.blocks;
    sum.largest.offer(block, sum.example);
  }

  void keep_if_large(const UsedBlock& block) {
    largest_.push_back(block);
    if (largest_.size() < 100 * kMostTensors) return;
    std::ranges::stable_sort(largest_, std::ranges::greater{}, &UsedBlock::bytes);
    largest_.resize(kMostTensors);
  }

  const Trace& trace_;
  MemoryPeak& peak_;
  std::map<MemoryUse, UseBytes> uses_;
  std::map<std::tuple<std::string, int>, Line> lines_;
  std::map<std::string, Sum> modules_, operators_;
  std::map<std::int64_t, Sum> sizes_;
  std::vector<UsedBlock> largest_;
  std::int64_t known_ = 0;
};

}  // namespace

std::optional<std::int64_t> capacity_of(const Trace& trace, DeviceId device) {
  if (device == kHost) {
    const std::string* const bytes = trace.metadata_named("memory_bytes");
    return bytes == nullptr ? std::nullopt : integer_in(*bytes);
  }
  // The allocator may count devices otherwise than the tracer does; a single one is meant in any case.
  const auto found =
      trace.devices.size() == 1 ? trace.devices.begin() : std::ranges::find(trace.devices, device, &Device::id);
  return found == trace.devices.end() ? std::nullopt : found->memory_bytes;
}

std::optional<std::int64_t> device_count_at(const Trace& trace, DeviceId device, Nanoseconds time) {
  const Counters& counters = trace.counters;
  for (const CounterSeries& series : counters.series) {
    const auto gauge = gauge_called(trace.strings[series.name]);
    if (!gauge || gauge->quantity != gauges::kMemoryUsed || gauge->device_id != device || series.count == 0) continue;
    const std::span times(counters.time.data() + series.first, series.count);
    const auto behind = std::ranges::upper_bound(times, time) - times.begin();
    return static_cast<std::int64_t>(
        counters.value[series.first + static_cast<std::size_t>(std::max<std::ptrdiff_t>(behind - 1, 0))]);
  }
  return {};
}

std::optional<SourceLine> line_of(const Trace& trace, const UsedBlock& block) {
  if (auto source = source_line(trace, block.event)) return source;
  return block.call_stack == kEmptyString ? std::nullopt : line_of_stack(trace.strings[block.call_stack]);
}

PeakTensor described(const Trace& trace, const UsedBlock& block) {
  PeakTensor tensor{.bytes = block.bytes, .use = block.use, .is_noted = block.is_noted};
  tensor.name = trace.strings[block.name];
  tensor.made_by = operator_around(trace, block.event);
  tensor.module = module_around(trace, block.event);
  tensor.freed_by = operator_around(trace, block.freeing_event);
  tensor.source = line_of(trace, block);
  if (block.allocated != UsedBlock::kBeforeTheTrace) tensor.made = block.allocated;
  if (block.freed != UsedBlock::kNever) tensor.freed = block.freed;
  tensor.event = block.event;
  tensor.address = block.address;
  return tensor;
}

MemoryPeak memory_peak(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks) {
  return memory_at(trace, device, blocks, device.peak.time);
}

MemoryPeak memory_at(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks,
                     Nanoseconds time) {
  const MemoryPoint level = level_at(device, time);
  MemoryPeak peak{.device = device.device,
                  .allocated = level.allocated,
                  .reserved = device.peak_reserved,
                  .reserved_at_peak = level.reserved,
                  .time = time};
  peak.capacity = capacity_of(trace, device.device);
  peak.device_used = device_count_at(trace, device.device, peak.time);
  PeakTally tally(trace, peak);
  const UsedBlock* last = nullptr;  // made at the peak
  for (const UsedBlock& block : blocks) {
    if (!block.lives_at(peak.time)) continue;
    UsedBlock then = block;
    then.use = block.use_at(peak.time);
    tally.add(then);
    if (block.allocated == peak.time) last = &block;
  }
  tally.finish();
  if (last != nullptr) {
    peak.at_operator = operator_around(trace, last->event);
    peak.at_module = module_around(trace, last->event);
    peak.source = line_of(trace, *last);
  }
  return peak;
}

}  // namespace telltale
