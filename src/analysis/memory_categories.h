// What memory is used for, as torch.profiler's memory timeline tells it: parameters, gradients, activations, and so on.
//
// Whose a block is cannot be seen from its allocation alone. What a program noted of the addresses of its tensors
// decides first; the rest follows from when and where a block was allocated and freed. Pure and thread-safe; linear in
// the trace's events and memory events, but for sorting the notes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace telltale {

// In the order of the columns of torch's timeline.
enum class MemoryCategory : std::uint8_t {
  kParameter,
  kOptimizerState,
  kInput,           // data that a model is given, and what else the forward pass needs and does not differentiate
  kTemporary,       // freed by the operator that allocated it
  kActivation,      // made by the forward pass
  kGradient,        // of a parameter
  kAutogradDetail,  // made by the backward pass, and no gradient of a parameter
  kUnknown,
};
inline constexpr std::size_t kMemoryCategoryCount = 8;

// A tensor that lived at that time.
struct TensorNote {
  Nanoseconds time = 0;
  std::uint64_t address = 0;  // of its storage, likewise below
  std::int64_t bytes = 0;
  MemoryCategory category = MemoryCategory::kUnknown;
};

// Numbered as torch numbers them; no block changes its category, so that its third action does not occur.
enum class MemoryAction : std::uint8_t { kPreexisting = 1, kCreate = 2, kDestroy = 4 };

struct CategorizedChange {
  Nanoseconds time = 0;  // that of the first event when it was there before
  MemoryAction action = MemoryAction::kCreate;
  std::int64_t bytes = 0;  // negative when a block is freed
  MemoryCategory category = MemoryCategory::kUnknown;
};

// Of one device, by time; what was there before comes first.
std::vector<CategorizedChange> memory_by_category(const Trace& trace, DeviceId device,
                                                  std::span<const TensorNote> notes);

struct CategorizedMemory {
  Nanoseconds time = 0;
  std::array<std::int64_t, kMemoryCategoryCount> bytes{};  // in use after everything that happened at this time
};

// One entry for each microsecond in which something changes.
std::vector<CategorizedMemory> memory_over_time(std::span<const CategorizedChange> changes);

}  // namespace telltale
