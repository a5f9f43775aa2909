#include "analysis/names_where.h"

namespace telltale {

std::vector<bool> names_where(const Trace& trace, const std::function<bool(std::string_view)>& test) {
  std::vector<bool> passes(trace.strings.size());
  for (StringId name = 0; name < passes.size(); ++name) passes[name] = test(trace.strings[name]);
  return passes;
}

}  // namespace telltale
