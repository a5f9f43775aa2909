// A trace as torch.profiler's events() has it: host calls in torch's order, with torch's parents, and what devices did.
//
// Pure and thread-safe; needs no GIL.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/torch_memory.h"
#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale::python {

struct TorchEvent {
  EventId event = kNoEvent;
  std::int64_t parent = -1;           // its place in the list
  std::int64_t thread = 0;            // the system's number
  std::int64_t forward_thread = 0;    // of a backward operator: the thread of its forward one, 0 when that is not known
  std::uint32_t inputs = UINT32_MAX;  // index of Trace::operator_inputs
  std::uint32_t stack = 0;            // index of TorchEvents::stacks; the first one is empty
  std::uint32_t extras = 0;           // index of TorchEvents::extras; the first ones are none
  std::size_t number = 0;             // Kineto's "Ev Idx"
  std::uint64_t arrow = 0;            // number of the arrow from a forward operator to its backward one; 0: none
  bool does_arrow_start = false;      // at this event
  std::int64_t sequence = -1;
  std::int64_t flops = 0;
  MemoryChange memory;
  bool is_backward = false;
  bool is_async = false;     // ended on another thread than it began on: stands in no tree
  std::int64_t linked = -1;  // of a call of the device's API: the place of the operator around it
};

// Device work, or an annotation as its device work shows it.
struct TorchDeviceEvent {
  EventId event = kNoEvent;  // of the work, or the annotation of the host
  Interval span;
  std::int64_t device = 0, stream = 0;
  std::int64_t linked = -1;  // the place of the operator that asked for it, or of the annotation
  bool is_annotation = false;
};

// The name of the overload, and arguments by name as a JSON object; each may be empty.
struct OverloadAndKeywords {
  std::string overload, keywords;
};

struct TorchEvents {
  std::vector<TorchEvent> events;            // by start, the longer first
  std::vector<TorchDeviceEvent> on_devices;  // by start
  std::vector<std::vector<std::string>> stacks;
  std::vector<OverloadAndKeywords> extras;
};

TorchEvents torch_events(const Trace& trace);

// An allocation or a free that happened in no call: torch gives each an event of its own.
struct StrayMemory {
  Nanoseconds time = 0;
  std::int64_t thread = 0;
  MemoryChange change;
};

std::vector<StrayMemory> stray_memory(const Trace& trace);

}  // namespace telltale::python
