// Calls inside of calls as a tree, as flame graphs show it, with what each of them takes.
//
// By stack, the outermost are threads; device work stands inside of the calls that launched it, or captured it in a
// CUDA graph. By module, only modules are calls, and what runs backward belongs to the module of its forward operator.
// Pure and thread-safe; linear in the trace's events, but for sorting.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analysis/step_timing.h"
#include "trace/trace.h"

namespace telltale {

enum class FlameWeight : std::uint8_t {
  kHostTime,    // the time of calls, each nanosecond of a thread once
  kDeviceTime,  // of device work
  kBytes,       // bytes that were allocated
};
enum class FlameFrames : std::uint8_t { kStacks, kModules };
enum class FlameOrder : std::uint8_t {
  kHeavy,  // calls of one name in the same place are one, whatever the step, the heaviest first
  kTime,   // in the order in which they happen; only neighbors are one
};

struct FlameOptions {
  FlameWeight weight = FlameWeight::kHostTime;
  FlameFrames frames = FlameFrames::kStacks;
  FlameOrder order = FlameOrder::kHeavy;
  std::size_t most_nodes = 20'000;  // the lightest are left out beyond it
};

struct FlameNode {
  static constexpr std::int32_t kNoParent = -1;
  StringId name = kEmptyString;  // empty: outside of all modules
  bool is_track = false;         // the name is a thread's or a stream's
  std::int32_t parent = kNoParent;
  std::int64_t value = 0;      // with all within, in nanoseconds or bytes
  std::int64_t start = 0;      // where it lies among all: behind its siblings, within its parent
  EventId example = kNoEvent;  // its longest event; none of tracks
};

struct FlameTree {
  std::vector<FlameNode> nodes;  // parents come first
  std::int64_t total = 0;        // of the outermost
  std::size_t left_out = 0;      // nodes
};

// A tree of nodes that have only what is their own as value, and of which parents come first: summed up, laid out one
// behind the other in an order, and without the lightest beyond `most_nodes`.
FlameTree finished_flame_tree(std::vector<FlameNode> nodes, FlameOrder order, std::size_t most_nodes);

// What happens in the timing's steps. Host time within them, device work that was launched in them, allocations.
FlameTree flame_tree(const Trace& trace, const StepTiming& timing, const FlameOptions& options);

}  // namespace telltale
