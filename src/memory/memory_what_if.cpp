#include "memory/memory_what_if.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "analysis/host_work.h"
#include "analysis/memory_summary.h"
#include "analysis/phases.h"
#include "base/amounts.h"
#include "memory/memory_peak.h"
#include "memory/stack_words.h"

namespace telltale {
namespace {

// What the device had that PyTorch could not get when it was out of memory; 0 where that never happened.
std::int64_t outside_bytes(const Trace& trace, DeviceId device, std::int64_t total) {
  AllocatorWalk walk(trace, device);
  std::int64_t outside = 0;
  while (walk.apply_next()) {
    const AllocatorEvent& event = trace.allocator_events[walk.entry()];
    if (event.action != AllocatorAction::kOutOfMemory || event.address > static_cast<std::uint64_t>(total)) continue;
    outside = std::max(outside, total - walk.totals().reserved - static_cast<std::int64_t>(event.address));
  }
  return std::max<std::int64_t>(outside, 0);
}

void raise_to(WhatIfMemory& high, const WhatIfMemory& each) {
  high.peak_allocated = std::max(high.peak_allocated, each.peak_allocated);
  high.peak_reserved = std::max(high.peak_reserved, each.peak_reserved);
  high.retries = std::max(high.retries, each.retries);
}

void lower_to(WhatIfMemory& low, const WhatIfMemory& each) {
  low.peak_allocated = std::min(low.peak_allocated, each.peak_allocated);
  low.peak_reserved = std::min(low.peak_reserved, each.peak_reserved);
  low.retries = std::min(low.retries, each.retries);
}

class Question {
 public:
  Question(const Trace& trace, DeviceId device, const MemoryWhatIfChanges& changes)
      : trace_(trace), changes_(changes), requests_(allocator_requests(trace, device)) {
    settings_ = changes.settings.value_or(requests_.start.settings());
    if (const auto fixed = parse_allocator_settings(changes.edit.settings, settings_)) settings_ = *fixed;
    for (const Device& each : trace.devices)
      if (each.id == device && each.memory_bytes) device_bytes_ = *each.memory_bytes;
    if (device_bytes_ > 0) outside_ = outside_bytes(trace, device, device_bytes_);
    if (!changes.edit.blocks.empty()) edit_ = simulated_edit(trace, requests_, changes.edit);
  }

  MemoryWhatIf answer(const Trace* other) {
    MemoryWhatIf result;
    result.device = requests_.device;
    result.check = check_simulation(trace_, requests_);
    result.before = seen(simulate(requests_, {.settings = requests_.start.settings()}));
    result.capacity = changes_.capacity;
    result.outside_bytes = outside_;
    result.batch_factor = changes_.batch_factor;
    result.settings = settings_text(settings_);
    result.has_other_settings = changes_.settings.has_value() || !changes_.edit.settings.empty();
    if (!settings_.unknown.empty())
      result.remarks.push_back(fmt::format("The simulation knows nothing of {}.", listed(settings_.unknown)));
    if (changes_.settings && !changes_.capacity) {
      std::vector<std::string> without_effect;
      if (settings_.memory_fraction > 0) without_effect.emplace_back("per_process_memory_fraction");
      if (settings_.garbage_collection_threshold > 0) without_effect.emplace_back("garbage_collection_threshold");
      if (!without_effect.empty())
        result.remarks.push_back(
            fmt::format("Without a limit, {} {} no effect: say with --fits how much memory there is.",
                        listed(without_effect), without_effect.size() == 1 ? "has" : "have"));
    }

    if (changes_.batch_factor || changes_.wants_largest_batch) {
      const std::vector<UsedBlock> uses =
          used_blocks(trace_, requests_.device, phase_by_event(trace_, host_work_by_event(trace_)));
      scaling_ = other == nullptr
                     ? batch_scaling(trace_, requests_, uses)
                     : batch_scaling(trace_, requests_, uses, *other, allocator_requests(*other, requests_.device));
      result.is_from_two_recordings = scaling_.is_from_two;
      if (!scaling_.remark.empty())
        result.remarks.push_back(fmt::format("One recording alone was used: {}.", scaling_.remark));
    }
    set_range(changes_.batch_factor.value_or(1), result);
    if (changes_.wants_largest_batch && changes_.capacity) {
      result.largest_batch = largest([this](double factor) {
        return std::ranges::all_of(scaling_.ways, [&](const auto& way) {
          return !run(factor, way).failure && !(asks_otherwise(factor) && run(factor, way, true).failure);
        });
      });
      result.largest_batch_at_best = largest([this](double factor) {
        return std::ranges::any_of(scaling_.ways, [&](const auto& way) {
          return !run(factor, way).failure || (asks_otherwise(factor) && !run(factor, way, true).failure);
        });
      });
    }
    if (!run_starts_as_recorded_ && !requests_.start_blocks.empty())
      result.remarks.push_back(
          fmt::format("What was there before the recording ({}) is laid out anew, in the order of its addresses.",
                      counted(static_cast<double>(requests_.start_blocks.size()), "block")));
    return result;
  }

 private:
  // Whether other segments are taken than those that were recorded, of which it is known where they lay.
  bool asks_otherwise(double factor) const { return factor != 1 || changes_.settings || !changes_.edit.is_empty(); }

  // The least and the most that is needed with the batch, over all ways in which memory may grow and in which the
  // device may place segments.
  void set_range(double factor, MemoryWhatIf& result) {
    const auto need = [](const WhatIfMemory& memory) {
      return std::pair(memory.failure.has_value(), memory.peak_reserved);
    };
    std::vector<WhatIfMemory> found;
    const auto add = [&](const std::vector<double>& way) {
      found.push_back(seen(run(factor, way)));
      if (asks_otherwise(factor)) found.push_back(seen(run(factor, way, true)));
    };
    if (factor == 1)
      add({});
    else
      std::ranges::for_each(scaling_.ways, add);
    std::ranges::stable_sort(found, {}, need);
    result.low = found.front();
    result.high = found.back();
    // The way that reserves least need not be the one that allocates least. Those that fail say only what is there
    // until then, which is no low end where others fit.
    for (const WhatIfMemory& each : found) {
      raise_to(result.high, each);
      if (each.failure.has_value() == result.low.failure.has_value()) lower_to(result.low, each);
    }
  }

  // `way`: how much of each block grows with the batch; of no meaning where that is the recorded one.
  SimulatedRun run(double factor, const std::vector<double>& way, bool segments_descend = false) {
    SimulationOptions options{.settings = settings_, .limits = limits()};
    options.limits.segments_descend = segments_descend;
    std::vector<double> scale;
    if (factor != 1) scale = scale_of(way, factor);
    if (scale.empty())
      scale = edit_.scale;
    else if (!edit_.scale.empty())
      std::ranges::transform(scale, edit_.scale, scale.begin(), std::multiplies{});
    options.scale = scale;
    options.absences = edit_.absences;
    options.early = edit_.early;
    options.stream = changes_.edit.stream;
    options.empties_cache = !changes_.edit.keeps_cache;
    SimulatedRun result = simulate(requests_, options);
    run_starts_as_recorded_ = run_starts_as_recorded_ && result.starts_as_recorded;
    return result;
  }

  SimulatorLimits limits() const {
    SimulatorLimits limits;
    const std::int64_t total = changes_.capacity.value_or(device_bytes_);
    if (total > 0) limits.address_space = total + total / 8;
    if (!changes_.capacity) return limits;
    limits.device = std::max<std::int64_t>(*changes_.capacity - outside_, 0);
    if (settings_.memory_fraction > 0)
      limits.allowed = static_cast<std::int64_t>(settings_.memory_fraction * static_cast<double>(*changes_.capacity));
    else if (settings_.garbage_collection_threshold > 0)
      limits.allowed = *changes_.capacity;
    return limits;
  }

  WhatIfMemory seen(const SimulatedRun& run) const {
    WhatIfMemory memory{run.peak.allocated, run.peak.reserved, run.retries, {}};
    if (!run.failure) return memory;
    WhatIfFailure failure{.requested = run.failure->requested,
                          .allocated = run.failure->totals.allocated,
                          .reserved = run.failure->totals.reserved};
    if (run.failure->entry != kNoAllocatorEntry) {
      const AllocatorEvent& event = trace_.allocator_events[run.failure->entry];
      failure.time = event.time;
      failure.was_survived = event.action == AllocatorAction::kOutOfMemory && asks_behind(run.failure->entry);
      failure.source = line_of_stack(trace_.strings[event.call_stack]);
      if (event.event != kNoEvent) {
        failure.made_by = trace_.name(event.event);
        if (!failure.source) failure.source = source_line(trace_, event.event);
      }
    }
    memory.failure = failure;
    return memory;
  }

  // Whether the program asks for memory again.
  bool asks_behind(std::size_t entry) const {
    return std::ranges::any_of(requests_.list, [&](const AllocatorRequest& request) {
      return request.entry > entry && request.kind == AllocatorRequest::Kind::kAllocate;
    });
  }

  // By bisection, to a sixteenth or, of large ones, to 2 %. 0: not even a sixteenth of the batch.
  static double largest(const std::function<bool(double)>& fits) {
    double good = 0, bad = 1;
    while (bad <= kMostBatchFactor && fits(bad)) good = std::exchange(bad, 2 * bad);
    if (bad > kMostBatchFactor) return good;
    while (bad - good > std::max(1.0 / 16, 0.02 * bad)) {
      const double middle = (good + bad) / 2;
      (fits(middle) ? good : bad) = middle;
    }
    return good;
  }

  const Trace& trace_;
  const MemoryWhatIfChanges& changes_;
  AllocatorRequests requests_;
  AllocatorSettings settings_;
  BatchScaling scaling_;
  SimulatedEdit edit_;
  std::int64_t device_bytes_ = 0;
  std::int64_t outside_ = 0;
  bool run_starts_as_recorded_ = true;
};

// Where the blocks stop fitting; nothing where they never do.
std::optional<WhatIfFailure> failure_of(const Trace& trace, std::span<const UsedBlock> blocks, const EditedPeak& peak,
                                        std::int64_t unused) {
  if (!peak.first_over) return {};
  const UsedBlock& block = blocks[*peak.first_over];
  WhatIfFailure failure{.source = line_of(trace, block),
                        .requested = block.bytes,
                        .allocated = peak.allocated_before_first_over,
                        .reserved = peak.allocated_before_first_over + unused};
  if (block.event != kNoEvent) failure.made_by = trace.name(maker_of(trace, block.event));
  if (block.allocated != UsedBlock::kBeforeTheTrace) failure.time = block.allocated;
  return failure;
}

}  // namespace

MemoryWhatIf::Verdict MemoryWhatIf::verdict() const {
  if (!high.failure) return Verdict::kFits;
  return low.failure ? Verdict::kFails : Verdict::kMayFit;
}

MemoryWhatIf memory_what_if(const Trace& trace, DeviceId device, const MemoryWhatIfChanges& changes,
                            const Trace* other) {
  return Question(trace, device, changes).answer(other);
}

MemoryWhatIf walked_what_if(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks,
                            const MemoryWhatIfChanges& changes) {
  MemoryWhatIf answer{.device = device.device, .is_simulated = false};
  answer.capacity = changes.capacity;
  const std::int64_t limit = changes.capacity.value_or(INT64_MAX);
  // What is allocated and no block accounts for was there before.
  const std::int64_t others = std::max<std::int64_t>(0, device.peak.allocated - edited_peak(blocks, {}).allocated);
  answer.before = {.peak_allocated = device.peak.allocated};
  std::int64_t unused = 0;
  if (device.peak_reserved > 0) {
    answer.before.peak_reserved = device.peak_reserved;
    unused = std::max<std::int64_t>(0, device.peak_reserved - device.peak.allocated);
  }
  const auto end_of_range = [&](std::int64_t beyond) {
    const EditedPeak peak = edited_peak(blocks, changes.edit, others, limit - beyond);
    WhatIfMemory memory{.peak_allocated = peak.allocated};
    if (device.peak_reserved > 0) memory.peak_reserved = peak.allocated + beyond;
    memory.failure = failure_of(trace, blocks, peak, beyond);
    return memory;
  };
  answer.low = end_of_range(0);
  answer.high = end_of_range(unused);
  return answer;
}

}  // namespace telltale
