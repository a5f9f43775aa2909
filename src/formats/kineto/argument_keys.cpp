#include "formats/kineto/argument_keys.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace telltale::kineto {
namespace {

struct Entry {
  std::string_view name;
  ArgumentKey key = ArgumentKey::kUnknown;
};

constexpr Entry kEntries[] = {
    {"External id", ArgumentKey::kExternalId},
    {"external id", ArgumentKey::kExternalId},
    {"correlation", ArgumentKey::kCorrelation},
    {"Sequence number", ArgumentKey::kSequence},
    {"Fwd thread id", ArgumentKey::kForwardThread},
    {"Input Dims", ArgumentKey::kInputShapes},
    {"Input dims", ArgumentKey::kInputShapes},
    {"Input Strides", ArgumentKey::kInputStrides},
    {"Input type", ArgumentKey::kInputTypes},
    {"Concrete Inputs", ArgumentKey::kConcreteInputs},
    {"Call stack", ArgumentKey::kCallStack},
    {"Module Hierarchy", ArgumentKey::kModuleHierarchy},
    {"device", ArgumentKey::kDevice},
    {"registers per thread", ArgumentKey::kRegisters},
    {"shared memory", ArgumentKey::kSharedMemory},
    {"blocks per SM", ArgumentKey::kBlocksPerMultiprocessor},
    {"warps per SM", ArgumentKey::kWarpsPerMultiprocessor},
    {"grid", ArgumentKey::kGrid},
    {"block", ArgumentKey::kBlock},
    {"est. achieved occupancy %", ArgumentKey::kOccupancy},
    {"graph id", ArgumentKey::kGraph},
    {"graph node id", ArgumentKey::kGraphNode},
    {"bytes", ArgumentKey::kBytes},
    {"cuda_sync_kind", ArgumentKey::kSyncKind},
    {"wait_on_stream", ArgumentKey::kWaitOnStream},
    {"wait_on_cuda_event_id", ArgumentKey::kWaitOnEvent},
    {"Bytes", ArgumentKey::kMemoryBytes},
    {"Addr", ArgumentKey::kMemoryAddress},
    {"Device Type", ArgumentKey::kMemoryDeviceType},
    {"Device Id", ArgumentKey::kMemoryDeviceId},
    {"Total Allocated", ArgumentKey::kTotalAllocated},
    {"Total Reserved", ArgumentKey::kTotalReserved},
    {"Collective name", ArgumentKey::kCollectiveName},
    {"dtype", ArgumentKey::kCollectiveType},
    {"In msg nelems", ArgumentKey::kInElements},
    {"Out msg nelems", ArgumentKey::kOutElements},
    {"In split size", ArgumentKey::kInSplit},
    {"Out split size", ArgumentKey::kOutSplit},
    {"Group size", ArgumentKey::kGroupSize},
    {"Process Group Name", ArgumentKey::kGroupName},
    {"Process Group Description", ArgumentKey::kGroupDescription},
    {"Process Group Ranks", ArgumentKey::kGroupRanks},
    {"Rank", ArgumentKey::kRank},
    {"Src Rank", ArgumentKey::kSourceRank},
    {"Dst Rank", ArgumentKey::kDestinationRank},
    {"Seq", ArgumentKey::kCollectiveSequence},
    {"Is asynchronized op", ArgumentKey::kIsAsync},
    {"Source path", ArgumentKey::kSourceFile},
    {"Source line", ArgumentKey::kSourceLine},
    {"Source function", ArgumentKey::kSourceFunction},
    {"Memory pool", ArgumentKey::kMemoryPool},
    {"Record function id", ArgumentKey::kRecordFunctionId},
    {"Ev Idx", ArgumentKey::kEventIndex},
    {"Python id", ArgumentKey::kPythonId},
    {"Python parent id", ArgumentKey::kPythonParentId},
    {"Python module id", ArgumentKey::kPythonModuleId},
    {"cbid", ArgumentKey::kCallbackId},
    {"context", ArgumentKey::kContext},
    {"stream", ArgumentKey::kStream},
    {"queued", ArgumentKey::kQueued},
    {"memory bandwidth (GB/s)", ArgumentKey::kBandwidth},
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
  ArgumentKey key = ArgumentKey::kUnknown;
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

constexpr std::array<std::string_view, kArgumentKeyCount> kNames = [] {
  std::array<std::string_view, kArgumentKeyCount> names{};
  for (const Entry& entry : kEntries) {
    std::string_view& name = names[static_cast<std::size_t>(entry.key)];
    if (name.empty()) name = entry.name;
  }
  return names;
}();

}  // namespace

ArgumentKey argument_key(const StringToken& name) {
  const std::size_t size = name.size();
  if (size == 0 || size > kLongestName) return ArgumentKey::kUnknown;
  const Slot& slot = kTable[slot_of({name.begin, size}, kFactor)];
  const Mask low = Window(name.begin).equal_to(Window(slot.name.data()));
  const Mask high = Window(name.begin + 16).equal_to(Window(slot.name.data() + 16));
  const std::uint32_t same = low | high << 16;
  const bool is_it = slot.used == bits_for(size) && (same & slot.used) == slot.used;
  return is_it ? slot.key : ArgumentKey::kUnknown;
}

ArgumentKey argument_key(std::string_view name) {
  if (name.size() > kLongestName) return ArgumentKey::kUnknown;
  std::array<char, 2 * kLongestName> padded{};
  std::copy(name.begin(), name.end(), padded.begin());
  return argument_key(StringToken{padded.data(), padded.data() + name.size(), true});
}

std::string_view name_of(ArgumentKey key) { return kNames[static_cast<std::size_t>(key)]; }

}  // namespace telltale::kineto
