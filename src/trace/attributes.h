// The vocabulary of what an event can carry beyond when and where it happened, whatever tool wrote the trace.
//
// A reader finds the attribute that its file means, gives its value through typed calls (see attribute_values.h and
// event_details.h), and knows nothing of the tables that hold it. How a format spells an attribute is that format's own
// business; the names here are those of the fields of live recordings and of the arguments in CSV.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "trace/kind.h"

namespace telltale {

enum class Attribute : std::uint8_t {
  kExternalId,
  kCorrelation,
  kSequence,
  kForwardThread,
  kInputShapes,
  kInputStrides,
  kInputTypes,
  kConcreteInputs,
  kCallStack,
  kModuleHierarchy,
  kDevice,
  kRegisters,
  kSharedMemory,
  kBlocksPerMultiprocessor,
  kWarpsPerMultiprocessor,
  kGrid,
  kBlock,
  kOccupancy,
  kGraph,
  kGraphNode,
  kBytes,
  kSyncKind,
  kWaitOnStream,
  kWaitOnEvent,
  kMemoryBytes,
  kMemoryAddress,
  kMemoryDeviceType,
  kMemoryDeviceId,
  kTotalAllocated,
  kTotalReserved,
  kMemoryPool,
  kCollectiveName,
  kCollectiveType,
  kInElements,
  kOutElements,
  kInSplit,
  kOutSplit,
  kGroupSize,
  kGroupName,
  kGroupDescription,
  kGroupRanks,
  kRank,
  kSourceRank,
  kDestinationRank,
  kCollectiveSequence,
  kIsAsync,
  kSourceFile,
  kSourceLine,
  kSourceFunction,
  // Say what a column says already, or number things for the writer's own use:
  kRecordFunctionId,
  kEventIndex,
  kPythonId,
  kPythonParentId,
  kPythonModuleId,
  kCallbackId,
  kContext,
  kStream,
  kQueued,
  kBandwidth,
  kUnknown,  // none of these
};
inline constexpr std::size_t kAttributeCount = static_cast<std::size_t>(Attribute::kUnknown) + 1;

enum class AttributeType : std::uint8_t {
  kInteger,
  kReal,
  kText,
  kFlag,
  kShapes,  // a list with the shape of each argument: [[16,1000],[]]
  kTexts,   // a list with a text for each argument: ["float",""]
  kSizes,   // of a grid or a block: x, y, z
};

// The rows that hold attributes. A row exists where one of its attributes is there; of a launch, where the event has a
// grid or a block; of a collective, where it has a name.
enum class DetailTable : std::uint8_t {
  kLinks,
  kOperators,
  kStacks,
  kSources,
  kKernels,
  kGraphNodes,
  kCopies,
  kSyncs,
  kCollectives,
  kMemory,
  kElsewhere,  // the event's track, or nowhere: it says nothing new
};

struct AttributeInfo {
  Attribute attribute = Attribute::kUnknown;
  std::string_view name;
  AttributeType type = AttributeType::kInteger;
  std::string_view unit;  // empty where it has none
  DetailTable table = DetailTable::kElsewhere;
  std::uint32_t kinds = 0;  // a bit for each kind of event that has a column for it
  std::string_view text;    // what it is, in one line
};

// It must not be kUnknown.
const AttributeInfo& info_of(Attribute attribute);
inline std::string_view name_of(Attribute attribute) { return info_of(attribute).name; }

// By its name above; kUnknown when there is none of that name. A linear search.
Attribute attribute_named(std::string_view name);

// Attributes that an event, or a site of events, has.
class AttributeSet {
 public:
  constexpr AttributeSet() = default;
  template <typename... Attributes>
  explicit constexpr AttributeSet(Attributes... attributes) : bits_((bit(attributes) | ...)) {}

  constexpr bool has(Attribute attribute) const { return (bits_ & bit(attribute)) != 0; }
  constexpr bool has_any(AttributeSet others) const { return (bits_ & others.bits_) != 0; }
  constexpr bool is_empty() const { return bits_ == 0; }
  constexpr void add(Attribute attribute) { bits_ |= bit(attribute); }

 private:
  static constexpr std::uint64_t bit(Attribute attribute) {
    return std::uint64_t{1} << static_cast<unsigned>(attribute);
  }
  std::uint64_t bits_ = 0;
};
static_assert(kAttributeCount <= 64);

inline constexpr AttributeSet kOperatorInputs{Attribute::kInputShapes, Attribute::kInputStrides, Attribute::kInputTypes,
                                              Attribute::kConcreteInputs};
inline constexpr AttributeSet kLaunchSizes{Attribute::kGrid, Attribute::kBlock};

// Whether a column holds the attribute for events of that kind that have `present`.
bool has_column(Attribute attribute, Kind kind, AttributeSet present);

}  // namespace telltale
