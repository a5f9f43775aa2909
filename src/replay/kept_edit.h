// An edit that is kept to be tried again, alone or together with others: only what it changes, as runs of events.
//
// Pure and thread-safe. What recording cost is no part of it.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "base/time.h"
#include "replay/edit.h"
#include "trace/trace.h"

namespace telltale {

struct KeptEdit {
  KeptEdit() = default;
  // `batch`: how many times the samples a step has with the edit, which scales what takes longer for them.
  explicit KeptEdit(const Edit& edit, int batch = 1);

  // Events in [first, end).
  struct Run {
    EventId first, end;
  };
  struct ScaledRun : Run {
    float factor;
  };

  std::vector<ScaledRun> scaled;  // ascending, likewise below
  std::vector<Run> free_of_waiting, graph_nodes;
  Nanoseconds added_host_ns = 0, added_device_ns = 0;
  int batch = 1;
};

// The change made to a part of what it scales: each factor as far from 1 as this share, 0 to 1, of the way. For edits
// that only scale; null of null.
std::shared_ptr<const KeptEdit> partly(const std::shared_ptr<const KeptEdit>& edit, double share);

// How many times the samples a step has with all of them: the largest batch.
int batch_with(std::span<const KeptEdit* const> edits);

// All of them made to a program. An event that several shorten takes the shortest of these times: what one fix saves of
// it, another cannot save again. Times that they add are added up. With a larger batch, what is left of an event grows
// as the edit for the batch says. Their order does not matter.
Edit combined(const Trace& trace, const ObserverCost& observer, std::span<const KeptEdit* const> edits);

}  // namespace telltale
