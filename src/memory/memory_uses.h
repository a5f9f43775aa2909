// What each piece of a device's memory is used for, from its allocation to its free.
//
// What the program noted of its tensors decides first. Else it follows from when and where a block was made and freed:
// what the forward pass makes and the backward pass still finds is kept for it; what the backward pass makes and
// outlives it until the optimizer comes is a gradient, and where none comes, what has a parameter's size then; what the
// optimizer makes and outlives it is its state; what is made before any of them and never freed are parameters, in
// training those that have a gradient of their size. What the forward pass has made when memory runs out in it is taken
// as kept, where autograd was at work. Where no operators were recorded, as in a snapshot, the frames of the call stack
// say which of these it was.
//
// Pure and thread-safe; linear in memory events, but for sorting.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/phases.h"
#include "trace/trace.h"

namespace telltale {

enum class MemoryUse : std::uint8_t {
  kParameters,
  kGradients,
  kOptimizerState,
  kActivations,  // kept for backward
  kTemporaries,
  kInputs,
  kCommunication,
  kWorkspace,
  kKvCache,
  kCudaGraphs,  // pools of
  kOutside,     // of PyTorch: what the device counts beyond what the allocator holds
  kBefore,      // made before the recording, and nothing tells what it is
  kLeftBehind,  // by a leak, in an earlier step: see LeakedBlocks
  kOther,
};
inline constexpr std::size_t kMemoryUseCount = 14;
std::string_view name_of(MemoryUse use);          // "optimizer_state"
std::string_view words_for(MemoryUse use);        // "activations kept for backward"
std::string_view short_words_for(MemoryUse use);  // "activations"

struct UsedBlock {
  static constexpr Nanoseconds kBeforeTheTrace = INT64_MIN, kNever = INT64_MAX;

  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  Nanoseconds allocated = kBeforeTheTrace, freed = kNever;
  EventId event = kNoEvent;            // that allocated it
  EventId freeing_event = kNoEvent;    // that freed it
  StringId call_stack = kEmptyString;  // of the allocation, where the allocator's log has it
  StringId name = kEmptyString;        // as the program calls the tensor, where it noted it
  MemoryUse use = MemoryUse::kOther;
  bool is_noted = false;             // the program itself says what it is
  bool is_left_behind = false;       // by a leak, in a step before the peak: see LeakedBlocks
  Nanoseconds left_behind = kNever;  // when the step ended that left it

  bool lives_at(Nanoseconds time) const { return allocated <= time && time < freed; }
  MemoryUse use_at(Nanoseconds time) const { return time > left_behind ? MemoryUse::kLeftBehind : use; }
};

// Of one device, by when they were made; `phases` are by event.
std::vector<UsedBlock> used_blocks(const Trace& trace, DeviceId device, const std::vector<Phase>& phases);

}  // namespace telltale
