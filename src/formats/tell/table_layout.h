// The tables of a trace in a .tell file, and the numbers by which they know kinds of things. See docs/formats/tell.md.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/interned_values.h"
#include "trace/trace.h"

namespace telltale::tell {

// The numbers are part of the file format.
enum class TableId : std::uint8_t {
  kRowCounts = 0,
  kTrace = 1,
  kStrings = 2,
  kProcesses = 3,
  kTracks = 4,
  kDevices = 5,
  kLabels = 6,
  kEvents = 7,
  kSteps = 8,
  kOperatorInputs = 9,
  kOperators = 10,
  kOperatorStacks = 11,
  kSourceLocations = 12,
  kSources = 13,
  kKernelLaunches = 14,
  kKernels = 15,
  kGraphNodes = 16,
  kCopies = 17,
  kSyncs = 18,
  kCollectives = 19,
  kLanes = 20,
  kCategories = 21,
  kOtherArguments = 22,
  kMemory = 23,
  kCounterValues = 24,
  kCounterSeries = 25,
  kFlows = 26,
  kMetadata = 27,
  kDistributed = 28,
  kProcessGroups = 29,
  kAnomalies = 30,
};
inline constexpr std::size_t kTableCount = static_cast<std::size_t>(TableId::kAnomalies) + 1;

// What the numbers in a file stand for. New ones are added at the end, whatever the order in the program.
inline constexpr Kind kFileKinds[] = {
    Kind::kOperator,    Kind::kAnnotation, Kind::kPython, Kind::kModule,  Kind::kRuntime,    Kind::kDriver,
    Kind::kKernel,      Kind::kMemcpy,     Kind::kMemset, Kind::kSync,    Kind::kCollective, Kind::kDeviceAnnotation,
    Kind::kDeviceOther, Kind::kOverhead,   Kind::kSpan,   Kind::kInstant, Kind::kAsync,      Kind::kOther,
};
static_assert(std::size(kFileKinds) == kKindCount);
inline constexpr TrackKind kFileTrackKinds[] = {TrackKind::kThread, TrackKind::kStream, TrackKind::kAsync,
                                                TrackKind::kCounter, TrackKind::kRecording};
inline constexpr MemorySpace kFileMemorySpaces[] = {MemorySpace::kUnknown, MemorySpace::kPageable,
                                                    MemorySpace::kPinned,  MemorySpace::kDevice,
                                                    MemorySpace::kArray,   MemorySpace::kManaged};

// A name and a kind that go together: far fewer than events.
struct Label {
  StringId name = kEmptyString;
  Kind kind = Kind::kOther;
  bool operator==(const Label&) const = default;
};

inline std::uint64_t hash_value(const Label& label) {
  return hash_with(hash_with(0, label.name), static_cast<std::uint64_t>(label.kind));
}

struct RowCount {
  std::uint64_t table = 0;
  std::uint64_t rows = 0;
};

// How many rows each table has in all.
using RowCounts = std::array<std::uint64_t, kTableCount>;

}  // namespace telltale::tell
