// All that `telltale memory` says of an opened trace, with what the page draws beside it: worked out when it is first
// asked for, and kept.
#pragma once

#include <memory>
#include <string>

#include "answers/held_memory.h"
#include "answers/view.h"
#include "base/error.h"

namespace telltale::answers {

struct MemoryReportRequest {};

struct MemoryReportAnswer {
  std::shared_ptr<const HeldMemoryAnswer> held;

  std::string json() const;
};

// Takes as long as `telltale memory` when it is first asked.
Result<MemoryReportAnswer> view_memory_report(const View& view, const MemoryReportRequest& request);

// The same, for others who draw what stands at the peak.
Result<std::shared_ptr<const HeldMemoryAnswer>> held_memory_of(const View& view);

}  // namespace telltale::answers
