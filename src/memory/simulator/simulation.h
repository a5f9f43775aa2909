// A recorded program's requests, served by a simulated allocator under other settings or limits, and how well the
// simulation reproduces what was recorded.
//
// Pure and thread-safe; O(n log n) in the requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "memory/simulator/allocator_requests.h"
#include "memory/simulator/simulated_allocator.h"
#include "trace/trace.h"

namespace telltale {

// A block that is freed before the request of one entry and made again before that of another, which is
// kNoAllocatorEntry where it does not come back. Rows of Trace::allocator_events.
struct BlockAbsence {
  std::uint32_t block = 0;
  std::size_t from = 0, until = kNoAllocatorEntry;
};

// A block that is made before the request of an entry, earlier than the program asked for it.
struct EarlyBlock {
  std::uint32_t block = 0;
  std::size_t entry = 0;
};

struct SimulationOptions {
  AllocatorSettings settings;
  SimulatorLimits limits;
  std::span<const double> scale = {};  // by block: how many times the bytes that were recorded; empty: as recorded
  std::span<const BlockAbsence> absences = {};  // by `from`
  std::span<const EarlyBlock> early = {};       // by `entry`
  std::optional<std::uint64_t> stream = {};     // that all requests are for; else as recorded
  bool empties_cache = true;                    // where the program does
  bool makes_room_as_recorded = false;          // where the recorded allocator did, and not where the limits say
  bool keeps_curve = false;
};

// The first request for which there was no memory.
struct SimulatedFailure {
  std::size_t entry = 0;  // row of Trace::allocator_events; kNoAllocatorEntry: what was there before does not fit
  std::int64_t requested = 0;
  AllocatorTotals totals;  // before it
};

struct SimulatedRun {
  AllocatorTotals peak;                                 // the most of each, at times of their own
  std::size_t peak_reserved_entry = kNoAllocatorEntry;  // where it was reached
  std::size_t peak_allocated_entry = kNoAllocatorEntry;
  std::optional<SimulatedFailure> failure;  // nothing was simulated after it
  std::int64_t retries = 0;                 // how often the cache had to be emptied for lack of memory
  bool starts_as_recorded = true;           // else what was there before was requested anew, by address
  std::vector<std::int64_t> reserved;       // after each request, where options.keeps_curve
};

SimulatedRun simulate(const AllocatorRequests& requests, const SimulationOptions& options);

// What was recorded beside what the simulation makes of it under the recorded settings.
struct SimulationCheck {
  static constexpr double kMostMiss = 0.02;

  std::int64_t recorded_peak_reserved = 0, simulated_peak_reserved = 0;
  std::int64_t recorded_peak_allocated = 0, simulated_peak_allocated = 0;
  double peak_miss = 0;     // of reserved, as a share of what was recorded; negative: too low
  double largest_miss = 0;  // of the curve of reserved, at any request, as a share of the recorded peak
  double mean_miss = 0;
  std::size_t skipped = 0;  // entries that contradict the log before them
  std::vector<std::string> unknown_settings;

  bool holds() const { return peak_miss <= kMostMiss && peak_miss >= -kMostMiss; }
};

SimulationCheck check_simulation(const Trace& trace, const AllocatorRequests& requests);

// "The simulation reproduces …", or by how much it misses and what that means.
std::string sentence_of(const SimulationCheck& check);

}  // namespace telltale
