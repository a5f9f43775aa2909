#include "trace/attributes.h"

#include <array>

namespace telltale {
namespace {

constexpr std::uint32_t bit(Kind kind) { return std::uint32_t{1} << static_cast<unsigned>(kind); }

constexpr std::uint32_t kAll = (std::uint32_t{1} << kKindCount) - 1;
constexpr std::uint32_t kOperator = bit(Kind::kOperator);
constexpr std::uint32_t kCalls = bit(Kind::kRuntime) | bit(Kind::kDriver);
constexpr std::uint32_t kOnDevice = bit(Kind::kKernel) | bit(Kind::kMemcpy) | bit(Kind::kMemset) | bit(Kind::kSync) |
                                    bit(Kind::kCollective) | bit(Kind::kDeviceAnnotation) | bit(Kind::kDeviceOther);
constexpr std::uint32_t kCopy = bit(Kind::kMemcpy) | bit(Kind::kMemset);
constexpr std::uint32_t kSync = bit(Kind::kSync);
constexpr std::uint32_t kNone = 0;
// Profilers of frameworks number what they record; elsewhere these are names like any other.
constexpr std::uint32_t kOfFrameworks =
    kAll & ~(bit(Kind::kAnnotation) | bit(Kind::kOther) | bit(Kind::kInstant) | bit(Kind::kAsync));

using A = Attribute;
using T = AttributeType;
using D = DetailTable;

constexpr std::array kInfos = std::to_array<AttributeInfo>({
    {A::kExternalId, "External id", T::kInteger, "", D::kLinks, kOperator | kCalls | kOnDevice,
     "the operator that an event belongs to, by the number that both carry"},
    {A::kCorrelation, "correlation", T::kInteger, "", D::kLinks, kOperator | kCalls | kOnDevice,
     "a launch and its device work, by the number that both carry"},
    {A::kSequence, "Sequence number", T::kInteger, "", D::kOperators, kOperator,
     "autograd's number of a forward operator, which its backward one shares"},
    {A::kForwardThread, "Fwd thread id", T::kInteger, "", D::kOperators, kOperator,
     "the thread of the forward operator, in torch's own numbering"},
    {A::kInputShapes, "Input Dims", T::kShapes, "", D::kOperators, kAll, "shapes of an operator's arguments"},
    {A::kInputStrides, "Input Strides", T::kShapes, "", D::kOperators, kAll, "strides of an operator's arguments"},
    {A::kInputTypes, "Input type", T::kTexts, "", D::kOperators, kAll, "types of an operator's arguments"},
    {A::kConcreteInputs, "Concrete Inputs", T::kTexts, "", D::kOperators, kAll,
     "values of an operator's arguments that are no tensors"},
    {A::kCallStack, "Call stack", T::kText, "", D::kStacks, kAll, "frames joined by ;, innermost first"},
    {A::kModuleHierarchy, "Module Hierarchy", T::kText, "", D::kStacks, kAll, "modules around an operator"},
    {A::kDevice, "device", T::kInteger, "", D::kElsewhere, kOnDevice, "number of the device"},
    {A::kRegisters, "registers per thread", T::kInteger, "registers", D::kKernels, kOnDevice,
     "registers that a thread of the kernel uses"},
    {A::kSharedMemory, "shared memory", T::kInteger, "bytes", D::kKernels, kOnDevice,
     "shared memory that a block of the kernel uses"},
    {A::kBlocksPerMultiprocessor, "blocks per SM", T::kReal, "blocks", D::kKernels, kOnDevice,
     "blocks of the grid for each multiprocessor of the device"},
    {A::kWarpsPerMultiprocessor, "warps per SM", T::kReal, "warps", D::kKernels, kOnDevice,
     "warps of the grid for each multiprocessor of the device"},
    {A::kGrid, "grid", T::kSizes, "blocks", D::kKernels, kOnDevice, "size of the grid"},
    {A::kBlock, "block", T::kSizes, "threads", D::kKernels, kOnDevice, "size of a block"},
    {A::kOccupancy, "est. achieved occupancy %", T::kInteger, "%", D::kKernels, kOnDevice,
     "share of a multiprocessor's warps that the launch can use"},
    {A::kGraph, "graph id", T::kInteger, "", D::kGraphNodes, kCalls | kOnDevice, "number of the CUDA graph"},
    {A::kGraphNode, "graph node id", T::kInteger, "", D::kGraphNodes, kCalls | kOnDevice, "number of its node"},
    {A::kBytes, "bytes", T::kInteger, "bytes", D::kCopies, kCopy, "size of a copy or a fill"},
    {A::kSyncKind, "cuda_sync_kind", T::kText, "", D::kSyncs, kSync, "what was waited for: Stream Wait Event"},
    {A::kWaitOnStream, "wait_on_stream", T::kInteger, "", D::kSyncs, kSync, "the stream that was waited for"},
    {A::kWaitOnEvent, "wait_on_cuda_event_id", T::kInteger, "", D::kSyncs, kSync, "the event that was waited for"},
    {A::kMemoryBytes, "Bytes", T::kInteger, "bytes", D::kMemory, kNone, "allocated, or freed when negative"},
    {A::kMemoryAddress, "Addr", T::kInteger, "", D::kMemory, kNone, "address of the memory"},
    {A::kMemoryDeviceType, "Device Type", T::kInteger, "", D::kMemory, kNone, "0: the host; in torch's own numbering"},
    {A::kMemoryDeviceId, "Device Id", T::kInteger, "", D::kMemory, kNone, "number of the device"},
    {A::kTotalAllocated, "Total Allocated", T::kInteger, "bytes", D::kMemory, kNone, "allocated behind it, in all"},
    {A::kTotalReserved, "Total Reserved", T::kInteger, "bytes", D::kMemory, kNone, "reserved behind it, in all"},
    {A::kMemoryPool, "Memory pool", T::kText, "", D::kMemory, kNone, "the pool of the allocator"},
    {A::kCollectiveName, "Collective name", T::kText, "", D::kCollectives, kAll, "what it does: allreduce"},
    {A::kCollectiveType, "dtype", T::kText, "", D::kCollectives, kAll, "type of the elements"},
    {A::kInElements, "In msg nelems", T::kInteger, "elements", D::kCollectives, kAll, "elements that go in"},
    {A::kOutElements, "Out msg nelems", T::kInteger, "elements", D::kCollectives, kAll, "elements that come out"},
    {A::kInSplit, "In split size", T::kText, "", D::kCollectives, kAll, "how what goes in is divided among ranks"},
    {A::kOutSplit, "Out split size", T::kText, "", D::kCollectives, kAll, "how what comes out is divided among ranks"},
    {A::kGroupSize, "Group size", T::kInteger, "ranks", D::kCollectives, kAll, "ranks in the process group"},
    {A::kGroupName, "Process Group Name", T::kText, "", D::kCollectives, kAll, "name of the process group"},
    {A::kGroupDescription, "Process Group Description", T::kText, "", D::kCollectives, kAll,
     "what the process group is for"},
    {A::kGroupRanks, "Process Group Ranks", T::kText, "", D::kCollectives, kAll, "its ranks, as a JSON list"},
    {A::kRank, "Rank", T::kInteger, "", D::kCollectives, kAll, "rank of the process"},
    {A::kSourceRank, "Src Rank", T::kInteger, "", D::kCollectives, kAll, "rank that sends"},
    {A::kDestinationRank, "Dst Rank", T::kInteger, "", D::kCollectives, kAll, "rank that receives"},
    {A::kCollectiveSequence, "Seq", T::kInteger, "", D::kCollectives, kAll, "number of the collective in its group"},
    {A::kIsAsync, "Is asynchronized op", T::kFlag, "", D::kCollectives, kAll, "whether the caller goes on at once"},
    {A::kSourceFile, "Source path", T::kText, "", D::kSources, kAll, "file of the program"},
    {A::kSourceLine, "Source line", T::kInteger, "", D::kSources, kAll, "line in that file"},
    {A::kSourceFunction, "Source function", T::kText, "", D::kSources, kAll, "function around that line"},
    {A::kRecordFunctionId, "Record function id", T::kInteger, "", D::kElsewhere, kOfFrameworks, "the writer's number"},
    {A::kEventIndex, "Ev Idx", T::kInteger, "", D::kElsewhere, kOfFrameworks, "the writer's number of the event"},
    {A::kPythonId, "Python id", T::kInteger, "", D::kElsewhere, kOfFrameworks, "the writer's number of the call"},
    {A::kPythonParentId, "Python parent id", T::kInteger, "", D::kElsewhere, kOfFrameworks,
     "the writer's number of the call around it"},
    {A::kPythonModuleId, "Python module id", T::kInteger, "", D::kElsewhere, kOfFrameworks,
     "the writer's number of the module"},
    {A::kCallbackId, "cbid", T::kInteger, "", D::kElsewhere, kOfFrameworks, "CUPTI's number of the function"},
    {A::kContext, "context", T::kInteger, "", D::kElsewhere, kOnDevice, "number of the CUDA context"},
    {A::kStream, "stream", T::kInteger, "", D::kElsewhere, kOnDevice, "number of the stream, which its track tells"},
    {A::kQueued, "queued", T::kInteger, "", D::kElsewhere, kOfFrameworks, "when it was queued; writers have 0 there"},
    {A::kBandwidth, "memory bandwidth (GB/s)", T::kReal, "GB/s", D::kElsewhere, kOfFrameworks,
     "bytes of a copy over its duration"},
});
static_assert(kInfos.size() + 1 == kAttributeCount);

constexpr bool are_in_order() {
  for (std::size_t i = 0; i < kInfos.size(); ++i)
    if (kInfos[i].attribute != static_cast<Attribute>(i)) return false;
  return true;
}
static_assert(are_in_order());

}  // namespace

const AttributeInfo& info_of(Attribute attribute) { return kInfos[static_cast<std::size_t>(attribute)]; }

Attribute attribute_named(std::string_view name) {
  for (const AttributeInfo& info : kInfos)
    if (info.name == name) return info.attribute;
  return Attribute::kUnknown;
}

bool has_column(Attribute attribute, Kind kind, AttributeSet present) {
  if (attribute == Attribute::kUnknown) return false;
  const AttributeInfo& info = info_of(attribute);
  if ((info.kinds & bit(kind)) == 0) return false;
  if (info.table == DetailTable::kKernels) return present.has_any(kLaunchSizes);
  if (info.table == DetailTable::kCollectives) return present.has(Attribute::kCollectiveName);
  return true;
}

}  // namespace telltale
