// What stands in a device's memory when it holds most, or at any other time: how much, since which operator, module and
// line, and for what.
//
// Pure and thread-safe; linear in blocks, but for the lines of those that live.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/memory_map.h"
#include "analysis/source_line.h"
#include "memory/memory_uses.h"
#include "trace/trace.h"

namespace telltale {

struct UseBytes {
  MemoryUse use = MemoryUse::kOther;
  std::int64_t bytes = 0;
  std::int64_t noted_bytes = 0;  // of which the program itself said what they are; the rest was inferred
  std::int64_t blocks = 0;
};

struct LineBytes {
  std::optional<SourceLine> source;  // nothing: not known
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  MemoryUse use = MemoryUse::kOther;  // of most of them
  EventId example = kNoEvent;         // where the largest was made, likewise below
};

struct NamedBytes {
  std::string name;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
  EventId example = kNoEvent;
};

// Blocks of one size.
struct SizeBytes {
  std::int64_t size = 0;
  std::int64_t bytes = 0;
  std::int64_t blocks = 0;
};

struct PeakTensor {
  std::int64_t bytes = 0;
  MemoryUse use = MemoryUse::kOther;
  bool is_noted = false;
  std::string name;      // as the program calls it; may be empty, likewise below
  std::string made_by;   // the operator
  std::string module;    // around it
  std::string freed_by;  // the operator that used it last, as it was freed when that was done
  std::optional<SourceLine> source;
  std::optional<Nanoseconds> made, freed;  // nothing: before the recording, or not within it
  EventId event = kNoEvent;                // that made it
  std::uint64_t address = 0;
  // As MemoryLeak::kept_by; nothing also where it is not there any more when that was looked for.
  std::optional<std::vector<std::string>> kept_by;
};

struct MemoryPeak {
  DeviceId device = kHost;
  std::int64_t allocated = 0, reserved = 0;  // at most; 0 reserved: not recorded
  std::int64_t reserved_at_peak = 0;
  Nanoseconds time = 0;  // when most was allocated; the first, where there are several
  // What was allocated then.
  std::string at_operator, at_module;  // may be empty
  std::optional<SourceLine> source;
  std::optional<std::int64_t> capacity;     // how much memory there is
  std::optional<std::int64_t> device_used;  // then, by the device's own count; also of other processes
  // By falling bytes. Uses, without what is outside of PyTorch, add up to `allocated`; the others lack what was made
  // before the recording and is not known.
  std::vector<UseBytes> uses;
  std::vector<LineBytes> lines;
  std::vector<NamedBytes> modules, operators;
  std::vector<SizeBytes> sizes;
  std::vector<PeakTensor> tensors;  // the ten largest
  std::int64_t placed = 0;          // of blocks that lines, modules and operators are about, also those not listed
};

// How much memory a device has, or the host for the process; nothing where the trace does not say.
std::optional<std::int64_t> capacity_of(const Trace& trace, DeviceId device);

// The device's own count of its memory, that of other processes among it: the last at or before a time, or the first
// there is. Nothing where it was not recorded.
std::optional<std::int64_t> device_count_at(const Trace& trace, DeviceId device, Nanoseconds time);

// The line that made a block.
std::optional<SourceLine> line_of(const Trace& trace, const UsedBlock& block);

PeakTensor described(const Trace& trace, const UsedBlock& block);

// When it holds most.
MemoryPeak memory_peak(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks);
// The same at another time: `allocated` is what is allocated then.
MemoryPeak memory_at(const Trace& trace, const DeviceMemory& device, std::span<const UsedBlock> blocks,
                     Nanoseconds time);

}  // namespace telltale
