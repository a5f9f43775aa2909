#include "memory/fragmentation.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <tuple>

#include "memory/stack_words.h"

namespace telltale {
namespace {

constexpr std::size_t kMostPinningBlocks = 10, kMostPinningLines = 50;

class Sorting {
 public:
  Sorting(const Trace& trace, const AllocatorWalk& walk) : trace_(trace), walk_(walk) {
    result_.entry = walk.entry();
    result_.totals = walk.totals();
    result_.rounding_bytes = walk.totals().active - walk.totals().requested;
    if (walk.entry() == kNoAllocatorEntry) return;
    const AllocatorEvent& event = trace.allocator_events[walk.entry()];
    result_.time = event.time;
    asking_stream_ = event.stream;
    if (const WalkedSegment* segment = walk.segment_at(event.address); segment != nullptr) asking_pool_ = segment->pool;
  }

  Fragmentation sort() && {
    for (const auto& [address, segment] : walk_.segments()) {
      auto block = walk_.blocks().find(address);
      for (; block != walk_.blocks().end() && block->first < segment.end(); ++block)
        if (!block->second.is_live()) take_free(segment, block);
    }
    std::map<std::tuple<std::string, int>, PinningLine> lines;
    for (const auto& [address, pinned] : pinned_) {
      const WalkedBlock& block = walk_.blocks().at(address);
      const std::optional<SourceLine> source = line_of_stack(trace_.strings[block.call_stack]);
      result_.pinning.push_back({address, block.bytes, pinned, source});
      PinningLine& line = lines[source ? std::tuple(source->file, source->line) : std::tuple(std::string(), -1)];
      line.source = source;
      line.pinned_bytes += pinned;
      line.bytes += block.bytes;
      ++line.blocks;
    }
    for (const auto& [place, line] : lines) result_.lines.push_back(line);
    const auto first = [](const auto& a, const auto& b) { return a.pinned_bytes > b.pinned_bytes; };
    std::ranges::stable_sort(result_.pinning, first);
    std::ranges::stable_sort(result_.lines, first);
    if (result_.pinning.size() > kMostPinningBlocks) result_.pinning.resize(kMostPinningBlocks);
    if (result_.lines.size() > kMostPinningLines) result_.lines.resize(kMostPinningLines);
    return std::move(result_);
  }

 private:
  using Blocks = std::map<std::uint64_t, WalkedBlock>;

  void take_free(const WalkedSegment& segment, Blocks::const_iterator free) {
    const WalkedBlock& block = free->second;
    // What could go back to the device: the whole segment, or whole pages.
    std::int64_t whole = segment.live == 0 ? block.bytes : 0;
    if (segment.is_expandable && segment.live != 0) {
      const auto page = static_cast<std::uint64_t>(segment.is_large ? kLargeSegment : kSmallSegment);
      const std::uint64_t from = (block.address - segment.address + page - 1) / page * page;
      const std::uint64_t to = (block.end() - segment.address) / page * page;
      if (to > from) whole = static_cast<std::int64_t>(to - from);
    }
    const bool is_of_asking = segment.stream == asking_stream_ && segment.pool == asking_pool_;
    (is_of_asking ? result_.soft_bytes : result_.stream_bytes) += whole;
    const std::int64_t held = block.bytes - whole;
    if (held == 0) return;
    result_.hard_bytes += held;
    std::vector<std::uint64_t> neighbors;
    if (block.address > segment.address) neighbors.push_back(std::prev(free)->first);
    if (block.end() < segment.end()) neighbors.push_back(std::next(free)->first);
    if (neighbors.size() == 2) pinned_[neighbors[1]] += held / 2;
    if (!neighbors.empty()) pinned_[neighbors[0]] += held - (neighbors.size() == 2 ? held / 2 : 0);
  }

  const Trace& trace_;
  const AllocatorWalk& walk_;
  std::uint64_t asking_stream_ = 0;
  StringId asking_pool_ = kEmptyString;
  std::map<std::uint64_t, std::int64_t> pinned_;  // by the address of a live block
  Fragmentation result_;
};

}  // namespace

Fragmentation fragmentation_at_peak(const Trace& trace, DeviceId device) {
  AllocatorWalk walk(trace, device);
  std::int64_t most = walk.totals().reserved;
  std::size_t at = kNoAllocatorEntry;
  bool is_new = true;  // the peak, with no allocation since
  while (walk.apply_next()) {
    if (walk.totals().reserved > most) {
      most = walk.totals().reserved;
      is_new = true;
      at = walk.entry();
    }
    const bool allocates = trace.allocator_events[walk.entry()].action == AllocatorAction::kAllocate;
    if (is_new && allocates && walk.totals().reserved == most && !walk.was_skipped()) {
      at = walk.entry();
      is_new = false;
    }
  }
  AllocatorWalk again(trace, device);
  if (at != kNoAllocatorEntry) again.apply_through(at);
  return Sorting(trace, again).sort();
}

Fragmentation fragmentation_at(const Trace& trace, DeviceId device, Nanoseconds time) {
  AllocatorWalk walk(trace, device);
  std::size_t at = kNoAllocatorEntry;
  for (std::size_t i = 0; i < trace.allocator_events.size(); ++i)
    if (trace.allocator_events[i].device == device && trace.allocator_events[i].time <= time) at = i;
  if (at != kNoAllocatorEntry) walk.apply_through(at);
  return Sorting(trace, walk).sort();
}

std::vector<SettingEffect> settings_that_help(const Trace& trace, const AllocatorRequests& requests) {
  // What stands in a snapshot without a log says nothing of the peak.
  if (requests.list.empty()) return {};
  SimulatorLimits limits;
  for (const Device& device : trace.devices)
    if (device.id == requests.device && device.memory_bytes && *device.memory_bytes > 0)
      limits.address_space = *device.memory_bytes + *device.memory_bytes / 8;
  const auto peak_with = [&](const AllocatorSettings& settings, bool empties_cache) {
    SimulationOptions options{.settings = settings, .limits = limits};
    options.empties_cache = empties_cache;
    options.makes_room_as_recorded = true;  // where the device was full, the cache cost nothing
    return simulate(requests, options).peak.reserved;
  };
  const AllocatorSettings& recorded = requests.start.settings();
  const std::int64_t now = peak_with(recorded, true);

  std::vector<SettingEffect> effects;
  const auto note = [&](std::string change, std::int64_t peak) {
    if (peak < now) effects.push_back({std::move(change), peak, now - peak});
  };
  for (const char* text : {"expandable_segments:True", "max_split_size_mb:64", "max_split_size_mb:128",
                           "max_split_size_mb:256", "max_split_size_mb:512", "roundup_power2_divisions:4",
                           "roundup_power2_divisions:8", "roundup_power2_divisions:16"}) {
    const Result<AllocatorSettings> changed = parse_allocator_settings(text, recorded);
    if (changed && *changed != recorded) note(text, peak_with(*changed, true));
  }
  if (std::ranges::any_of(
          requests.list, [](const AllocatorRequest& each) { return each.kind == AllocatorRequest::Kind::kEmptyCache; }))
    note("without empty_cache()", peak_with(recorded, false));
  std::ranges::stable_sort(effects, std::greater{}, &SettingEffect::saving_bytes);
  return effects;
}

}  // namespace telltale
