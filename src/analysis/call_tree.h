// How calls of some kinds nest on their threads when all other kinds are left out.
//
// Pure and thread-safe; linear in the trace's events.
#pragma once

#include <vector>

#include "analysis/kind_set.h"
#include "trace/trace.h"

namespace telltale {

struct CallTree {
  // For every event of the trace, in the tree or not: the innermost call of the tree around it, or kNoEvent.
  std::vector<EventId> parent;
  std::vector<bool> is_call;    // whether an event is a call of the tree
  std::vector<bool> is_folded;  // a call that counts as part of its parent: same name, and the parent's only child
};

// Names that torch.profiler leaves out of its tables: its own marks, and accessors too small to matter.
bool is_left_out_by_torch(std::string_view name);

struct CallTreeOptions {
  KindSet kinds;
  // torch.profiler's own tree: folds pairs of one name, such as autocast makes, and leaves its own marks out.
  bool as_torch = false;
};

CallTree call_tree(const Trace& trace, const CallTreeOptions& options);

}  // namespace telltale
