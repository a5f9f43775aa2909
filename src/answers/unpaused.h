// A trace for analyses that look at steps which follow each other: pauses of the recorder are no idle time.
#pragma once

#include <memory>
#include <string>

#include "trace/trace.h"

namespace telltale::answers {

struct UnpausedTrace {
  std::shared_ptr<const Trace>
      trace;           // the same where the recorder did not pause; events have the same ids in any case
  std::string remark;  // a sentence about the steps that are left out; empty when there are none
};

UnpausedTrace unpaused(std::shared_ptr<const Trace> trace);

}  // namespace telltale::answers
