// A flame graph: by stack or by module, of host time, device time, memory that is allocated, or that stands at the
// peak.
#pragma once

#include <memory>
#include <string>

#include "analysis/flame_tree.h"
#include "answers/view.h"
#include "answers/view_kept.h"
#include "base/error.h"

namespace telltale::answers {

struct FlameRequest {
  std::string weight = "host";  // or device, memory, peak
  std::string by = "stack";     // or module
  std::string order = "heavy";  // or time
  StepsText steps;
};

struct FlameAnswer {
  std::shared_ptr<const std::string> text;

  std::string json() const { return *text; }
};

Result<FlameAnswer> flame(const View& view, const FlameRequest& request);

}  // namespace telltale::answers
