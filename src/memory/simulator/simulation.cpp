#include "memory/simulator/simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/amounts.h"

namespace telltale {
namespace {

using Asked = AllocatorRequest::Kind;

// Whether blocks would lie as they do under the other settings.
bool places_alike(const AllocatorSettings& a, const AllocatorSettings& b) {
  return a.expandable_segments == b.expandable_segments && a.max_split_size == b.max_split_size &&
         a.roundup_power2_divisions == b.roundup_power2_divisions;
}

class Run {
 public:
  Run(const AllocatorRequests& requests, const SimulationOptions& options)
      : requests_(requests), options_(options), allocator_(options.settings, options.limits) {
    held_.resize(requests.blocks);
    if (!options.early.empty()) {
      asked_.resize(requests.blocks);
      for (const AllocatorRequest& request : requests.list)
        if (request.kind == Asked::kAllocate) asked_[request.block] = &request;
    }
    if (options.absences.empty()) return;
    made_.resize(requests.blocks);
    for (const BlockAbsence& absence : options.absences)
      if (absence.until != kNoAllocatorEntry) returns_.emplace_back(absence.until, absence.block);
    std::ranges::sort(returns_);
  }

  SimulatedRun run() && {
    if (!start()) return std::move(result_);
    note(kNoAllocatorEntry);
    if (options_.keeps_curve) result_.reserved.reserve(requests_.list.size());
    for (const AllocatorRequest& request : requests_.list) {
      if (!make_early(request.entry) || !change_absences(request.entry) || !serve(request)) break;
      note(request.entry);
      if (options_.keeps_curve) result_.reserved.push_back(allocator_.totals().reserved);
    }
    result_.retries = allocator_.retries();
    return std::move(result_);
  }

 private:
  bool is_limited() const { return options_.limits.allowed || options_.limits.device < SimulatorLimits::kNone; }

  double scale(std::uint32_t block) const { return options_.scale.empty() ? 1 : options_.scale[block]; }

  std::int64_t bytes(std::uint32_t block, std::int64_t recorded) const {
    if (options_.scale.empty()) return recorded;
    const double scaled = std::ceil(static_cast<double>(recorded) * scale(block));
    return static_cast<std::int64_t>(std::clamp(scaled, 0.0, static_cast<double>(kMostRequested)));
  }

  // False: what was there before does not fit.
  bool start() {
    const AllocatorWalk& before = requests_.start;
    const auto is_unscaled = [&](std::uint32_t block) { return scale(block) == 1; };
    bool is_as_recorded = places_alike(options_.settings, before.settings()) &&
                          before.totals().reserved <= options_.limits.allowed.value_or(options_.limits.device);
    for (std::uint32_t i = 0; i < requests_.start_blocks.size() && is_as_recorded; ++i) is_as_recorded = is_unscaled(i);
    result_.starts_as_recorded = is_as_recorded;
    if (is_as_recorded) {
      const auto live = allocator_.adopt(before);
      for (std::size_t i = 0; i < requests_.start_blocks.size(); ++i) {
        held_[i] = live.at(requests_.start_blocks[i]);
        if (made_.empty()) continue;
        const WalkedSegment& segment = *before.segment_at(requests_.start_blocks[i]);
        const std::int64_t asked = before.block_at(requests_.start_blocks[i])->requested;
        made_[i] = {std::max<std::int64_t>(asked, 1), segment.stream, segment.pool, true};
      }
      return true;
    }
    for (std::uint32_t i = 0; i < requests_.start_blocks.size(); ++i) {
      const WalkedBlock& block = *before.block_at(requests_.start_blocks[i]);
      const WalkedSegment& segment = *before.segment_at(block.address);
      const std::int64_t wanted = bytes(i, std::max<std::int64_t>(block.requested, 1));
      if (!allocate(i, wanted, segment.stream, segment.pool, kNoAllocatorEntry)) return false;
      if (block.state == BlockState::kAwaitingFree) allocator_.request_free(held_[i]);
    }
    return true;
  }

  bool allocate(std::uint32_t block, std::int64_t wanted, std::uint64_t stream, StringId pool, std::size_t entry) {
    if (wanted == 0) return true;  // scaled away
    stream = options_.stream.value_or(stream);
    if (!made_.empty()) made_[block] = {.bytes = wanted, .stream = stream, .pool = pool, .is_there = true};
    held_[block] = allocator_.allocate(wanted, stream, pool);
    if (held_[block]) return true;
    result_.failure = SimulatedFailure{entry, wanted, allocator_.totals()};
    return false;
  }

  // Blocks that are there earlier than the program asks for them. False: one of them does not fit.
  bool make_early(std::size_t entry) {
    for (; next_early_ < options_.early.size() && options_.early[next_early_].entry <= entry; ++next_early_) {
      const std::uint32_t block = options_.early[next_early_].block;
      const AllocatorRequest* const asked = std::exchange(asked_[block], nullptr);
      if (asked == nullptr || asked->entry < entry) continue;
      if (!allocate(block, bytes(block, asked->bytes), asked->stream, asked->pool, entry)) return false;
      note(entry);
    }
    return true;
  }

  // Blocks that are sent away, or come back, before the request of an entry. False: one that comes back does not fit.
  bool change_absences(std::size_t entry) {
    for (; next_away_ < options_.absences.size() && options_.absences[next_away_].from <= entry; ++next_away_)
      allocator_.free(held_[options_.absences[next_away_].block]);
    for (; next_return_ < returns_.size() && returns_[next_return_].first <= entry; ++next_return_) {
      const std::uint32_t block = returns_[next_return_].second;
      const Made& made = made_[block];
      if (made.is_there && !allocate(block, made.bytes, made.stream, made.pool, entry)) return false;
      note(entry);
    }
    return true;
  }

  // The program itself has freed it: it does not come back.
  void end(std::uint32_t block) {
    if (!made_.empty()) made_[block].is_there = false;
  }

  bool serve(const AllocatorRequest& request) {
    switch (request.kind) {
      case Asked::kFailedAllocate:
        if (!is_limited()) return true;  // it was never there, and nothing tells what would have come of it
        [[fallthrough]];
      case Asked::kAllocate:
        if (held_[request.block] && !asked_.empty() && asked_[request.block] == nullptr) return true;
        if (!allocate(request.block, bytes(request.block, request.bytes), request.stream, request.pool, request.entry))
          return false;
        if (request.kind == Asked::kFailedAllocate) {
          note(request.entry);
          allocator_.free(held_[request.block]);
        }
        return true;
      case Asked::kRequestFree:
        end(request.block);
        allocator_.request_free(held_[request.block]);
        return true;
      case Asked::kFree:
      case Asked::kCompleteFree:
        end(request.block);
        allocator_.free(held_[request.block]);
        return true;
      case Asked::kEmptyCache:
        if (options_.empties_cache) allocator_.empty_cache();
        return true;
      case Asked::kMadeRoom:
        if (options_.makes_room_as_recorded) allocator_.empty_cache();
        return true;
      case Asked::kReleasePool:
        allocator_.release_pool(request.pool);
        return true;
    }
    return true;
  }

  void note(std::size_t entry) {
    const AllocatorTotals& now = allocator_.totals();
    AllocatorTotals& peak = result_.peak;
    if (now.reserved > peak.reserved) result_.peak_reserved_entry = entry;
    if (now.allocated > peak.allocated) result_.peak_allocated_entry = entry;
    peak.allocated = std::max(peak.allocated, now.allocated);
    peak.active = std::max(peak.active, now.active);
    peak.requested = std::max(peak.requested, now.requested);
    peak.reserved = std::max(peak.reserved, now.reserved);
  }

  const AllocatorRequests& requests_;
  const SimulationOptions& options_;
  SimulatedAllocator allocator_;
  struct Made {
    std::int64_t bytes = 0;
    std::uint64_t stream = 0;
    StringId pool = kEmptyString;
    bool is_there = false;  // as far as the program knows
  };

  std::vector<SimulatedAllocator::Held> held_;                  // by block
  std::vector<Made> made_;                                      // by block, where some go away
  std::vector<std::pair<std::size_t, std::uint32_t>> returns_;  // entries before which blocks come back, ascending
  std::vector<const AllocatorRequest*> asked_;  // by block, where some are made early: null of those that are
  std::size_t next_away_ = 0, next_return_ = 0, next_early_ = 0;
  SimulatedRun result_;
};

}  // namespace

SimulatedRun simulate(const AllocatorRequests& requests, const SimulationOptions& options) {
  return Run(requests, options).run();
}

SimulationCheck check_simulation(const Trace& trace, const AllocatorRequests& requests) {
  SimulationOptions options{.settings = requests.start.settings()};
  options.makes_room_as_recorded = true;
  options.keeps_curve = true;
  const SimulatedRun simulated = simulate(requests, options);

  SimulationCheck check{.skipped = requests.skipped, .unknown_settings = options.settings.unknown};
  check.simulated_peak_reserved = simulated.peak.reserved;
  check.simulated_peak_allocated = simulated.peak.allocated;
  AllocatorWalk walk(trace, requests.device);
  check.recorded_peak_reserved = walk.totals().reserved;
  check.recorded_peak_allocated = walk.totals().allocated;
  double sum = 0, largest = 0;
  std::size_t request = 0;
  while (walk.apply_next()) {
    check.recorded_peak_reserved = std::max(check.recorded_peak_reserved, walk.totals().reserved);
    check.recorded_peak_allocated = std::max(check.recorded_peak_allocated, walk.totals().allocated);
    for (; request < simulated.reserved.size() && requests.list[request].entry <= walk.entry(); ++request) {
      // Segments go and come one by one in the log; the curves are compared where a block is handed out.
      if (requests.list[request].kind != Asked::kAllocate) continue;
      const double miss = std::abs(static_cast<double>(simulated.reserved[request] - walk.totals().reserved));
      sum += miss;
      largest = std::max(largest, miss);
    }
  }
  if (check.recorded_peak_reserved > 0) {
    const auto peak = static_cast<double>(check.recorded_peak_reserved);
    check.peak_miss = (static_cast<double>(check.simulated_peak_reserved) - peak) / peak;
    check.largest_miss = largest / peak;
    check.mean_miss = sum / static_cast<double>(std::max<std::size_t>(requests.list.size(), 1)) / peak;
  }
  return check;
}

std::string sentence_of(const SimulationCheck& check) {
  std::string text;
  if (check.recorded_peak_reserved == 0) {
    text = "Nothing was reserved in the recording, so there is nothing to compare the simulation with.";
  } else if (check.holds()) {
    text = fmt::format(
        "The simulation reproduces the recorded peak of {} reserved, {}.", format_bytes(check.recorded_peak_reserved),
        check.peak_miss == 0 ? "exactly" : fmt::format("to {}", format_percent(100 * std::abs(check.peak_miss))));
  } else {
    text = fmt::format(
        "The simulation misses the recorded peak of {} reserved by {} ({}): what it says of other "
        "settings is a rough guide.",
        format_bytes(check.recorded_peak_reserved), format_percent(100 * std::abs(check.peak_miss)),
        check.peak_miss < 0 ? "too low" : "too high");
  }
  if (!check.unknown_settings.empty())
    text += fmt::format(" It knows nothing of {}, under which the program ran.", listed(check.unknown_settings));
  return text;
}

}  // namespace telltale
