// Time in which Python frees a large tensor of the host, behind the operator that was the last to read it.
//
// Nothing in a trace says so. But allocators keep small blocks and give large ones back to the system, page by page,
// which takes longer than many an operator: Python's time right behind an operator that computed on such a tensor
// counts as that, up to what giving back its bytes takes.
#pragma once

#include <optional>

#include "advise/facts.h"

namespace telltale {

struct FreedMemory {
  EventId within = kNoEvent;  // the innermost call around it, whose own time it is part of
  Nanoseconds time = 0;
};

// Behind an operator, or the whole call that copies a tensor to the device. Nothing where shapes are not recorded.
std::optional<FreedMemory> freed_behind(const Facts& facts, EventId call);

}  // namespace telltale
