#include "formats/kineto/spellings.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace telltale::kineto {
namespace {

struct Entry {
  std::string_view name;
  Attribute key = Attribute::kUnknown;
};

constexpr Entry kEntries[] = {
    {"External id", Attribute::kExternalId},
    {"external id", Attribute::kExternalId},
    {"correlation", Attribute::kCorrelation},
    {"Sequence number", Attribute::kSequence},
    {"Fwd thread id", Attribute::kForwardThread},
    {"Input Dims", Attribute::kInputShapes},
    {"Input dims", Attribute::kInputShapes},
    {"Input Strides", Attribute::kInputStrides},
    {"Input type", Attribute::kInputTypes},
    {"Concrete Inputs", Attribute::kConcreteInputs},
    {"Call stack", Attribute::kCallStack},
    {"Module Hierarchy", Attribute::kModuleHierarchy},
    {"device", Attribute::kDevice},
    {"registers per thread", Attribute::kRegisters},
    {"shared memory", Attribute::kSharedMemory},
    {"blocks per SM", Attribute::kBlocksPerMultiprocessor},
    {"warps per SM", Attribute::kWarpsPerMultiprocessor},
    {"grid", Attribute::kGrid},
    {"block", Attribute::kBlock},
    {"est. achieved occupancy %", Attribute::kOccupancy},
    {"graph id", Attribute::kGraph},
    {"graph node id", Attribute::kGraphNode},
    {"bytes", Attribute::kBytes},
    {"cuda_sync_kind", Attribute::kSyncKind},
    {"wait_on_stream", Attribute::kWaitOnStream},
    {"wait_on_cuda_event_id", Attribute::kWaitOnEvent},
    {"Bytes", Attribute::kMemoryBytes},
    {"Addr", Attribute::kMemoryAddress},
    {"Device Type", Attribute::kMemoryDeviceType},
    {"Device Id", Attribute::kMemoryDeviceId},
    {"Total Allocated", Attribute::kTotalAllocated},
    {"Total Reserved", Attribute::kTotalReserved},
    {"Collective name", Attribute::kCollectiveName},
    {"dtype", Attribute::kCollectiveType},
    {"In msg nelems", Attribute::kInElements},
    {"Out msg nelems", Attribute::kOutElements},
    {"In split size", Attribute::kInSplit},
    {"Out split size", Attribute::kOutSplit},
    {"Group size", Attribute::kGroupSize},
    {"Process Group Name", Attribute::kGroupName},
    {"Process Group Description", Attribute::kGroupDescription},
    {"Process Group Ranks", Attribute::kGroupRanks},
    {"Rank", Attribute::kRank},
    {"Src Rank", Attribute::kSourceRank},
    {"Dst Rank", Attribute::kDestinationRank},
    {"Seq", Attribute::kCollectiveSequence},
    {"Is asynchronized op", Attribute::kIsAsync},
    {"Source path", Attribute::kSourceFile},
    {"Source line", Attribute::kSourceLine},
    {"Source function", Attribute::kSourceFunction},
    {"Memory pool", Attribute::kMemoryPool},
    {"Record function id", Attribute::kRecordFunctionId},
    {"Ev Idx", Attribute::kEventIndex},
    {"Python id", Attribute::kPythonId},
    {"Python parent id", Attribute::kPythonParentId},
    {"Python module id", Attribute::kPythonModuleId},
    {"cbid", Attribute::kCallbackId},
    {"context", Attribute::kContext},
    {"stream", Attribute::kStream},
    {"queued", Attribute::kQueued},
    {"memory bandwidth (GB/s)", Attribute::kBandwidth},
};

constexpr std::size_t kSlots = 512;

// From the length, the first byte, the last one and two in the middle: enough to tell all of them apart.
constexpr std::size_t slot_of(std::string_view name, std::uint32_t factor) {
  const auto byte = [&](std::size_t i) { return static_cast<std::uint32_t>(static_cast<unsigned char>(name[i])); };
  const std::size_t n = name.size();
  const std::uint32_t mixed =
      (byte(0) | byte(n / 2) << 8 | byte(n - 1) << 16 | byte(std::min(n / 2 + 1, n - 1)) << 24) ^
      static_cast<std::uint32_t>(n * 0x9E5);
  return (mixed * factor) >> 23;
}

constexpr bool is_perfect(std::uint32_t factor) {
  std::array<bool, kSlots> taken{};
  for (const Entry& entry : kEntries) {
    bool& slot = taken[slot_of(entry.name, factor)];
    if (slot) return false;
    slot = true;
  }
  return true;
}

constexpr std::uint32_t find_factor() {
  std::uint32_t factor = 0x9E3779B1;
  while (!is_perfect(factor)) factor = (factor * 1664525 + 1013904222) | 1;
  return factor;
}

constexpr std::uint32_t kFactor = find_factor();

// A name laid out for comparing 32 bytes at once; none is longer.
struct Slot {
  std::array<char, 32> name{};
  std::uint32_t used = 0;  // a bit for each byte of the name
  Attribute key = Attribute::kUnknown;
};

constexpr std::uint32_t bits_for(std::size_t bytes) {
  return static_cast<std::uint32_t>((std::uint64_t{1} << bytes) - 1);
}

constexpr std::array<Slot, kSlots> make_table() {
  std::array<Slot, kSlots> table{};
  for (const Entry& entry : kEntries) {
    Slot& slot = table[slot_of(entry.name, kFactor)];
    std::copy(entry.name.begin(), entry.name.end(), slot.name.begin());
    slot.used = bits_for(entry.name.size());
    slot.key = entry.key;
  }
  return table;
}

constexpr std::array<Slot, kSlots> kTable = make_table();
constexpr std::size_t kLongestName = 31;

constexpr std::array<std::string_view, kAttributeCount> kNames = [] {
  std::array<std::string_view, kAttributeCount> names{};
  for (const Entry& entry : kEntries) {
    std::string_view& name = names[static_cast<std::size_t>(entry.key)];
    if (name.empty()) name = entry.name;
  }
  return names;
}();

}  // namespace

Attribute attribute_of(const StringToken& name) {
  const std::size_t size = name.size();
  if (size == 0 || size > kLongestName) return Attribute::kUnknown;
  const Slot& slot = kTable[slot_of({name.begin, size}, kFactor)];
  const Mask low = Window(name.begin).equal_to(Window(slot.name.data()));
  const Mask high = Window(name.begin + 16).equal_to(Window(slot.name.data() + 16));
  const std::uint32_t same = low | high << 16;
  const bool is_it = slot.used == bits_for(size) && (same & slot.used) == slot.used;
  return is_it ? slot.key : Attribute::kUnknown;
}

Attribute attribute_of(std::string_view name) {
  if (name.size() > kLongestName) return Attribute::kUnknown;
  std::array<char, 2 * kLongestName> padded{};
  std::copy(name.begin(), name.end(), padded.begin());
  return attribute_of(StringToken{padded.data(), padded.data() + name.size(), true});
}

std::string_view spelling_of(Attribute attribute) { return kNames[static_cast<std::size_t>(attribute)]; }

}  // namespace telltale::kineto
