// Memory that every step takes and none gives back: as the allocator's events tell it, or at least the kernel.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "advise/facts.h"

namespace telltale {

// Healthy programs whose inputs vary grew by up to 0.6 MiB per step over three steps.
inline constexpr double kLeastMebibytesPerStep = 2;
// Over this many steps, less is told from noise as well, and matters where the memory would be full within a day.
// Numbers and predictions that are gathered for a metric, of some kilobytes per batch, come to less.
inline constexpr double kStepsThatTell = 10;
inline constexpr double kLeastKibibytesPerManySteps = 64;
inline constexpr double kMostHoursToEnd = 24;

struct GrowingMemory {
  DeviceId device = kHost;
  double bytes_per_step = 0;
  std::vector<Survivor> survivors;   // those that every part of the steps leaves behind, by falling bytes; never empty
  std::optional<SourceLine> source;  // the line that leaves most, where lines alone tell of it
  std::optional<double> steps_to_end;  // until the memory is full, where its size is known
};

// Nothing when the memory does not grow, or only as much as buffers of growing inputs do.
std::optional<GrowingMemory> growing_memory(const Facts& facts);

// The process's memory as the kernel counts it, where allocations were not recorded.
struct GrowingProcess {
  double bytes_per_step = 0;
  double bytes = 0;  // at the end
  std::optional<double> steps_to_end;
};

// Less than twice what the recorder may take for itself by default (64 MiB) may be the recorder's own.
inline constexpr double kLeastMebibytesOfProcess = 128;

// Nothing where it does not grow steadily: what warms up grows at first, and what the allocator keeps in reserve falls
// now and then.
std::optional<GrowingProcess> growing_process(const Facts& facts);

}  // namespace telltale
