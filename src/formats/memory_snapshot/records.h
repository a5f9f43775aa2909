// Dicts of a snapshot as records: the values of the keys that snapshots have, found in one walk over a dict.
//
// Used by one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

enum class Field : std::uint8_t {
  kUnknown,
  kSegments,
  kDeviceTraces,
  kSettings,
  kAnnotations,
  kDevice,
  kAddress,
  kTotalSize,
  kStream,
  kSegmentType,
  kPool,
  kIsExpandable,
  kFrames,
  kBlocks,
  kSize,
  kRequestedSize,
  kState,
  kHistory,
  kRealSize,
  kAction,
  kDeviceFree,
  kTime,
  kCompileContext,
  kUserMetadata,
  kFilename,
  kLine,
  kName,
  kStage,
  kMaxSplitSize,
  kDivisions,
};
inline constexpr std::size_t kFieldCount = static_cast<std::size_t>(Field::kDivisions) + 1;

// The value of each field, kNoValue where the dict lacks it.
struct Record {
  std::array<ValueId, kFieldCount> values;
  ValueId operator[](Field field) const { return values[static_cast<std::size_t>(field)]; }
  bool has(Field field) const { return (*this)[field] != kNoValue; }
};

class Records {
 public:
  // `values` must live as long as this does.
  explicit Records(const Values& values) : values_(values), fields_(values.value_count(), kNotSeen) {}

  // False for what is no dict, which has no field, and for dicts of more keys than any snapshot has.
  bool read(ValueId dict, Record& record);

 private:
  static constexpr std::uint8_t kNotSeen = UINT8_MAX;
  Field field_of(ValueId key);

  const Values& values_;
  std::vector<std::uint8_t> fields_;  // which one a key names, by value
};

}  // namespace telltale::memory_snapshot
