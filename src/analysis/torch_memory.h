// Memory as torch.profiler tells it: what each call allocated and freed, and what memory is used for over time.
//
// Pure and thread-safe; linear in the trace's events and memory events, but for sorting by time.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/time.h"
#include "trace/trace.h"

namespace telltale {

// By how much the memory in use changed during a span of time.
struct MemoryChange {
  std::int64_t host = 0, device = 0;  // bytes; negative when more was freed than allocated
};

// Counts what all threads of a process allocated and freed, as torch.profiler does: a step whose backward pass runs on
// autograd's thread is charged with it, and a step that keeps nothing shows zero.
class MemoryChanges {
 public:
  explicit MemoryChanges(const Trace& trace);
  bool empty() const { return is_empty_; }

  // Answers for spans of one process in the order of their starts; each answer costs the logarithm of the number of
  // allocations inside the span. Refers to the MemoryChanges it was made from.
  class Walk {
   public:
    MemoryChange during(Nanoseconds start, Nanoseconds end);  // both ends included

   private:
    friend class MemoryChanges;
    struct Series;
    explicit Walk(const Series* series) : series_(series) {}
    const Series* series_;
    std::size_t first_ = 0;
  };
  Walk walk(ProcessId process) const;

 private:
  std::vector<Walk::Series> series_;  // by process
  bool is_empty_ = true;
};

struct MemoryChanges::Walk::Series {
  std::vector<Nanoseconds> time;    // ascending
  std::vector<MemoryChange> until;  // until[i]: the sum of all changes before the i-th; one more than `time`
};

// What memory is used for, in the order of the columns of torch's timeline.
//
// Whose a block is cannot be seen from its allocation alone. What a program noted of the addresses of its tensors
// decides first; the rest follows from when and where a block was allocated and freed.
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

// Notes are taken by another clock than events are: 100 µs.
inline constexpr Nanoseconds kClockDifference = 100'000;

// A tensor that lived at that time.
struct TensorNote {
  Nanoseconds time = 0;
  std::uint64_t address = 0;  // of its storage, likewise below
  std::int64_t bytes = 0;
  MemoryCategory category = MemoryCategory::kUnknown;
};

// A piece of a device's memory, from its allocation to its free.
struct CategorizedBlock {
  static constexpr Nanoseconds kBeforeTheTrace = INT64_MIN, kNever = INT64_MAX;
  static constexpr std::size_t kNoNote = SIZE_MAX;

  std::uint64_t address = 0;
  std::int64_t bytes = 0;
  Nanoseconds allocated = kBeforeTheTrace, freed = kNever;
  EventId event = kNoEvent;          // that allocated it
  EventId freeing_event = kNoEvent;  // that freed it
  MemoryCategory category = MemoryCategory::kUnknown;
  MemoryCategory noted = MemoryCategory::kUnknown;  // what notes say of it
  std::size_t note = kNoNote;                       // which of the notes tells most of it
  bool was_there_before() const { return allocated == kBeforeTheTrace; }
};

// Of one device, in the order in which they were allocated; those that were there before come to light when they are
// freed or noted.
std::vector<CategorizedBlock> categorized_blocks(const Trace& trace, DeviceId device,
                                                 std::span<const TensorNote> notes);

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
