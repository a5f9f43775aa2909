// What the caching allocator holds and nobody uses, and why: pieces that live blocks pin, pieces that never come
// together, segments of other streams, and what rounding adds. And which settings would have kept less of it.
//
// Pure and thread-safe; O(n log n) in the entries of the log. Settings cost a simulation each.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/source_line.h"
#include "memory/allocator_walk.h"
#include "memory/simulator/simulation.h"
#include "trace/trace.h"

namespace telltale {

// A live block beside free space. A free piece between two live blocks is pinned by both, half each.
struct PinningBlock {
  std::uint64_t address = 0;
  std::int64_t bytes = 0;            // its own
  std::int64_t pinned_bytes = 0;     // free ones that cannot be given back because of it
  std::optional<SourceLine> source;  // the line that made it; nothing: not known
};

// The blocks that one line made.
struct PinningLine {
  std::optional<SourceLine> source;
  std::int64_t pinned_bytes = 0;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

struct Fragmentation {
  std::size_t entry = kNoAllocatorEntry;  // row of Trace::allocator_events after which it is so
  Nanoseconds time = 0;
  AllocatorTotals totals;
  // These four and `requested` add up to what is reserved.
  std::int64_t hard_bytes = 0;        // free in segments, or pages of expandable ones, that hold live blocks
  std::int64_t soft_bytes = 0;        // in free segments and pages of the stream that asks: none is large enough alone
  std::int64_t stream_bytes = 0;      // in free segments and pages of other streams and private pools
  std::int64_t rounding_bytes = 0;    // what blocks have beyond what was asked for
  std::vector<PinningBlock> pinning;  // by falling bytes that they pin, the first ten
  std::vector<PinningLine> lines;     // likewise, the first fifty
};

// After the first allocation that finds as much reserved as ever.
Fragmentation fragmentation_at_peak(const Trace& trace, DeviceId device);
// After the last entry that is not later than `time`.
Fragmentation fragmentation_at(const Trace& trace, DeviceId device, Nanoseconds time);

struct SettingEffect {
  std::string change;  // "expandable_segments:True", "without empty_cache()"
  std::int64_t peak_reserved = 0;
  std::int64_t saving_bytes = 0;  // of the peak, against the simulation of the recorded settings
};

// Changes that would lower the peak of what is reserved, by falling saving.
std::vector<SettingEffect> settings_that_help(const Trace& trace, const AllocatorRequests& requests);

}  // namespace telltale
