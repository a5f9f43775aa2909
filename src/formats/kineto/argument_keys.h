// The arguments that Kineto gives its events and that a column of the model holds, recognized by one hash and one
// comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "formats/kineto/scan.h"

namespace telltale::kineto {

enum class ArgumentKey : std::uint8_t {
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
  // What only our own recorder knows, and our own writer writes:
  kSourceFile,
  kSourceLine,
  kSourceFunction,
  kMemoryPool,
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
  kUnknown,
};
inline constexpr std::size_t kArgumentKeyCount = static_cast<std::size_t>(ArgumentKey::kUnknown) + 1;

// The bytes behind the name are looked at too (see scan.h).
ArgumentKey argument_key(const StringToken& name);

// The same for a name that stands alone.
ArgumentKey argument_key(std::string_view name);

// How Kineto spells it today; it must not be kUnknown.
std::string_view name_of(ArgumentKey key);

}  // namespace telltale::kineto
