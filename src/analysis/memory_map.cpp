#include "analysis/memory_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <unordered_map>
#include <utility>

#include "analysis/source_line.h"

namespace telltale {
namespace {

constexpr std::size_t kMostRows = 100;

DeviceMemory memory_of(const Trace& trace, DeviceId device, const std::vector<std::size_t>& rows) {
  MemoryLevels levels = memory_levels(trace, rows);
  DeviceMemory found{.device = device, .levels = std::move(levels.points), .allocated_before = levels.allocated_before};
  found.peak = *std::ranges::max_element(found.levels, {}, &MemoryPoint::allocated);
  found.peak_reserved = std::ranges::max(found.levels, {}, &MemoryPoint::reserved).reserved;
  return found;
}

// When and in which phase a block of the trace was freed.
struct Freed {
  Nanoseconds time = INT64_MAX;  // after the trace
  Phase phase = Phase::kOther;
};

struct Block {
  std::size_t row = 0;  // of its allocation
  Freed freed;
};

class Tally {
 public:
  explicit Tally(const MemoryEvents& memory) : memory_(memory) {}

  void add(std::string name, std::size_t row) {
    Group& group = groups_[std::move(name)];
    group.row.bytes += memory_.bytes[row];
    ++group.row.allocations;
    if (memory_.bytes[row] <= group.largest) return;
    group.largest = memory_.bytes[row];
    group.row.example = memory_.event[row];
  }
  void add_unknown(std::string name, std::int64_t bytes) { groups_[std::move(name)].row.bytes += bytes; }

  // What is too little to be listed stands in a row of its own.
  std::vector<MemoryRow> rows() const {
    std::vector<MemoryRow> rows;
    for (const auto& [name, group] : groups_) {
      rows.push_back(group.row);
      rows.back().name = name;
    }
    std::ranges::stable_sort(rows, std::ranges::greater{}, &MemoryRow::bytes);
    if (rows.size() <= kMostRows) return rows;
    MemoryRow others{.name = fmt::format("{} others", rows.size() - kMostRows + 1)};
    for (std::size_t i = kMostRows - 1; i < rows.size(); ++i) {
      others.bytes += rows[i].bytes;
      others.allocations += rows[i].allocations;
    }
    rows.resize(kMostRows - 1);
    rows.push_back(std::move(others));
    return rows;
  }

 private:
  struct Group {
    MemoryRow row;
    std::int64_t largest = 0;
  };
  const MemoryEvents& memory_;
  std::map<std::string, Group> groups_;
};

class LiveBlocks {
 public:
  LiveBlocks(const Trace& trace, DeviceId device, Nanoseconds at, const std::vector<Phase>& phases)
      : trace_(trace), phases_(phases) {
    const MemoryEvents& memory = trace.memory;
    std::unordered_map<std::uint64_t, std::size_t> at_address;  // in blocks_
    for (std::size_t row = 0; row < memory.size(); ++row) {
      if (memory.device[row] != device) continue;
      const auto block = at_address.find(memory.address[row]);
      const bool is_known = block != at_address.end();
      if (is_known) blocks_[block->second].freed = {memory.time[row], phase_of(memory.event[row])};
      if (memory.bytes[row] > 0) {
        at_address[memory.address[row]] = blocks_.size();
        blocks_.push_back({row, {}});
      } else if (is_known) {
        at_address.erase(block);
      } else if (memory.time[row] > at) {
        freed_from_before_ -= memory.bytes[row];
      }
    }
    std::erase_if(blocks_, [&](const Block& block) { return memory.time[block.row] > at || block.freed.time <= at; });
    find_optimizer_steps();
  }

  const std::vector<Block>& blocks() const { return blocks_; }

  // Of blocks that are freed behind that time, and of which no allocation was seen.
  std::int64_t freed_from_before() const { return freed_from_before_; }

  std::string kind_of(const Block& block) const {
    const Nanoseconds made = trace_.memory.time[block.row];
    const Phase phase = phase_of(trace_.memory.event[block.row]);
    if (phase == Phase::kForward && block.freed.phase == Phase::kBackward) return "kept for backward";
    const auto next = std::ranges::upper_bound(optimizer_starts_, made);
    if (phase == Phase::kBackward && next != optimizer_starts_.end() && *next < block.freed.time) return "gradients";
    if (phase == Phase::kOptimizer && outlives_step(made, block.freed.time)) return "optimizer state";
    return std::string(phase == Phase::kOther ? "outside of the phases" : name_of(phase));
  }

 private:
  Phase phase_of(EventId event) const { return event == kNoEvent ? Phase::kOther : phases_[event]; }

  void find_optimizer_steps() {
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      const EventId parent = trace_.events.parent[event];
      if (phases_[event] == Phase::kOptimizer && !is_on_device(trace_.events.kind[event]) &&
          (parent == kNoEvent || phases_[parent] != Phase::kOptimizer))
        optimizer_starts_.push_back(trace_.events.start[event]);
    }
    std::ranges::sort(optimizer_starts_);
  }

  bool outlives_step(Nanoseconds made, Nanoseconds freed) const {
    const auto step = std::ranges::upper_bound(trace_.steps, made, {}, &Step::start);
    return step != trace_.steps.begin() && freed > (step - 1)->start + (step - 1)->duration;
  }

  const Trace& trace_;
  const std::vector<Phase>& phases_;
  std::vector<Block> blocks_;
  std::vector<Nanoseconds> optimizer_starts_;
  std::int64_t freed_from_before_ = 0;
};

}  // namespace

std::vector<DeviceMemory> memory_by_device(const Trace& trace) {
  const std::map<DeviceId, std::vector<std::size_t>> rows = memory_rows(trace);
  std::vector<DeviceMemory> devices;
  for (const auto& [device, of_device] : rows)
    if (device != kHost) devices.push_back(memory_of(trace, device, of_device));
  if (const auto host = rows.find(kHost); host != rows.end()) devices.push_back(memory_of(trace, kHost, host->second));
  return devices;
}

std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& levels, std::size_t most) {
  if (levels.size() <= most) return levels;
  const auto buckets = static_cast<Nanoseconds>(std::max<std::size_t>(1, most / 4));
  const Nanoseconds begin = levels.front().time;
  const Nanoseconds length = (levels.back().time - begin) / buckets + 1;
  std::vector<MemoryPoint> kept;
  for (std::size_t first = 0; first < levels.size();) {
    std::size_t end = first, lowest = first, highest = first;
    const Nanoseconds bucket = (levels[first].time - begin) / length;
    for (; end < levels.size() && (levels[end].time - begin) / length == bucket; ++end) {
      if (levels[end].allocated < levels[lowest].allocated) lowest = end;
      if (levels[end].allocated > levels[highest].allocated) highest = end;
    }
    std::size_t chosen[] = {first, lowest, highest, end - 1};
    std::ranges::sort(chosen);
    for (std::size_t i = 0; i < std::size(chosen); ++i)
      if (i == 0 || chosen[i] != chosen[i - 1]) kept.push_back(levels[chosen[i]]);
    first = end;
  }
  return kept;
}

std::string_view module_around(const Trace& trace, EventId event) {
  constexpr int kMostLooks = 1000, kMostCauses = 5;
  constexpr std::string_view kPrefix = "nn.Module: ";
  for (int causes = 0; causes < kMostCauses && event != kNoEvent; ++causes) {
    EventId cause = kNoEvent, at = event;
    for (int looks = 0; at != kNoEvent && looks < kMostLooks; ++looks, at = trace.events.parent[at]) {
      const std::string_view name = trace.name(at);
      if (trace.events.kind[at] == Kind::kModule) return name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name;
      if (cause == kNoEvent) cause = trace.events.cause[at];
    }
    event = cause;
  }
  return {};
}

LiveMemory live_memory(const Trace& trace, const DeviceMemory& device, Nanoseconds at,
                       const std::vector<Phase>& phases) {
  const LiveBlocks live(trace, device.device, at, phases);
  const MemoryEvents& memory = trace.memory;
  Tally operators(memory), modules(memory), lines(memory), kinds(memory);
  std::unordered_map<EventId, std::string> line_of;
  LiveMemory found;
  for (const Block& block : live.blocks()) {
    const EventId event = memory.event[block.row];
    found.bytes += memory.bytes[block.row];
    const EventId op = event == kNoEvent ? kNoEvent : trace.operator_at(event);
    operators.add(op != kNoEvent      ? std::string(trace.name(op))
                  : event != kNoEvent ? std::string(trace.name(event))
                                      : "outside of operators",
                  block.row);
    const std::string_view module = module_around(trace, event);
    modules.add(module.empty() ? "outside of modules" : std::string(module), block.row);
    const auto [line, is_new] = line_of.try_emplace(event);
    if (is_new) {
      const auto source = source_line(trace, event);
      line->second = !source            ? "unknown line"
                     : source->line > 0 ? fmt::format("{}:{}", source->file, source->line)
                                        : source->file;
    }
    lines.add(line->second, block.row);
    kinds.add(live.kind_of(block), block.row);
  }
  const auto behind = std::ranges::upper_bound(device.levels, at, {}, &MemoryPoint::time);
  const std::int64_t level = behind == device.levels.begin() ? device.allocated_before : (behind - 1)->allocated;
  found.before_bytes = std::max<std::int64_t>({0, level - found.bytes, live.freed_from_before()});
  if (found.before_bytes > 0) kinds.add_unknown("before the trace", found.before_bytes);
  found.by_operator = operators.rows();
  found.by_module = modules.rows();
  found.by_line = lines.rows();
  found.by_kind = kinds.rows();
  return found;
}

}  // namespace telltale
