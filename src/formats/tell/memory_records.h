// Records about memory: the log of PyTorch's allocators, what they held when it begins, and tensors whose role the
// program knows. docs/formats/tell.md says what makes a site one of theirs.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "formats/tell/sites.h"
#include "trace/event_batch.h"

namespace telltale::tell {

enum class MemoryField : std::uint8_t {
  kAction,
  kAddress,
  kBytes,
  kDevice,
  kStream,
  kPool,
  kLarge,
  kExpandable,
  kRequested,
  kState,
  kSegment,
  kRole,
  kName,
};
constexpr std::size_t kMemoryFields = 13;

// Numbers, and texts in the names of a reading thread, by MemoryField.
using MemoryRecord = std::array<std::int64_t, kMemoryFields>;

class MemoryRecordPlan {
 public:
  MemoryRecordPlan() = default;
  MemoryRecordPlan(const Site& site, const Sites& sites);

  bool is_known() const { return type_ != Type::kNone; }
  MemoryRecord read(ByteReader& column, const Sites& sites, LocalTexts& texts) const;
  // False when a number cannot be what it says. The log's blocks become memory events as well.
  bool add(const MemoryRecord& record, Nanoseconds time, TrackId track, EventBatch& batch) const;

 private:
  enum class Type : std::uint8_t { kNone, kAllocatorEvent, kSegment, kBlock, kNotedTensor };

  Type type_ = Type::kNone;
  std::vector<MemoryField> fields_;
};

}  // namespace telltale::tell
