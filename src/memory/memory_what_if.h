// What a recorded program's memory would be under other allocator settings, with another batch, on another device or
// with fixes made: its peaks, whether it fits, where it fails first, and the largest batch that fits.
//
// Among free blocks of one size, the allocator takes the one with the lowest address, and where a device puts segments
// that were not recorded is not known: each question is simulated with segments that go up and with such that go down.
//
// Pure and thread-safe; two simulations for each way in which memory may grow, and some ten times as many for the
// largest batch.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/memory_map.h"
#include "analysis/source_line.h"
#include "memory/batch_scaling.h"
#include "memory/memory_edit.h"
#include "memory/simulator/simulation.h"
#include "trace/trace.h"

namespace telltale {

// No larger batch is tried.
inline constexpr double kMostBatchFactor = 64;

struct MemoryWhatIfChanges {
  std::optional<std::int64_t> capacity;  // of the device
  std::optional<double> batch_factor;
  std::optional<AllocatorSettings> settings;  // all of them, the recorded ones where they do not change
  bool wants_largest_batch = false;           // needs a capacity
  MemoryEdit edit;                            // what fixes do
};

// A finding whose fix is taken as made.
struct WithoutFinding {
  std::string rule, title, fix_id;
};

struct WhatIfFailure {
  std::optional<SourceLine> source;  // the line of the program whose request fails
  std::string made_by;               // the operator; may be empty
  std::int64_t requested = 0;
  std::int64_t allocated = 0, reserved = 0;  // before it
  std::optional<Nanoseconds> time;           // nothing: what was there before the recording does not fit
  bool was_survived = false;                 // there was none in the recording either, and the program went on
};

// One end of the range, for each of its amounts.
struct WhatIfMemory {
  std::int64_t peak_allocated = 0;            // where it fails: until then, likewise below
  std::optional<std::int64_t> peak_reserved;  // nothing: there is no allocator that reserves any, or it is not known
  std::int64_t retries = 0;                   // how often the allocator had to empty its cache
  std::optional<WhatIfFailure> failure;
};

struct MemoryWhatIf {
  std::string path;
  DeviceId device = 0;
  std::vector<WithoutFinding> without;
  bool is_simulated = true;  // else allocations are added up: see walked_what_if()
  SimulationCheck check;     // where it is simulated
  WhatIfMemory before;       // under the recorded settings, without a limit
  WhatIfMemory low, high;    // with the changes; the same but where something is not sure
  std::optional<std::int64_t> capacity;
  std::int64_t outside_bytes = 0;  // of the capacity, what PyTorch could not have in the recording
  std::optional<double> batch_factor;
  std::string settings;             // as text; empty: PyTorch's own
  bool has_other_settings = false;  // whether they are part of the question
  // Times the recorded batch: the largest that fits surely, and at best.
  std::optional<double> largest_batch, largest_batch_at_best;
  bool is_from_two_recordings = false;
  std::vector<std::string> remarks;  // sentences

  enum class Verdict : std::uint8_t { kFits, kMayFit, kFails };
  Verdict verdict() const;
};

// `other`: a recording of the same program with another batch size, or null.
MemoryWhatIf memory_what_if(const Trace& trace, DeviceId device, const MemoryWhatIfChanges& changes,
                            const Trace* other = nullptr);

// The same without the allocator's log: the recorded blocks of a device, added up with the edit. What the allocator
// reserves is a range: at the low end no more than blocks take, at the high end as much beyond that as was recorded.
// Of the changes, capacity and edit count.
MemoryWhatIf walked_what_if(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks,
                            const MemoryWhatIfChanges& changes);

}  // namespace telltale
