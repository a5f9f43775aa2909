// What the work of CUDA graphs was captured from.
//
// A graph is captured once and launched often, maybe long after. What its kernels tell is their node; recorders note
// each node when it is made, on the thread that makes it, and of a graph's executable copy which nodes it was cloned
// from.
#pragma once

#include <optional>
#include <vector>

#include "trace/trace.h"

namespace telltale {

struct CapturedNode {
  Nanoseconds time = 0;
  std::optional<TrackId> track;  // of the thread; nothing when that has no events
  std::int64_t node = 0;
  std::int64_t original = 0;  // the node that it was cloned from; 0: none
  StringId call_stack = kEmptyString;
};

// Fills Trace::graph_origins for device work whose node, or the one that it was cloned from, was noted. What a recorder
// notes while it starts or stops (inside overhead) was made before: only its stack counts.
//
// The trace's rows must be nested and its nodes known. Linear in events and device work, but for the search of what was
// open at each note.
void add_graph_origins(std::vector<CapturedNode> nodes, Trace& trace);

}  // namespace telltale
