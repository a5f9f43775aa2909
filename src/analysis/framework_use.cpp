#include "analysis/framework_use.h"

#include <algorithm>

namespace telltale {

bool uses_framework(const Trace& trace) {
  return std::ranges::any_of(trace.events.kind, [](Kind kind) {
    return kind == Kind::kOperator || kind == Kind::kPython || kind == Kind::kModule;
  });
}

}  // namespace telltale
