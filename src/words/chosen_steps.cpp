#include "words/chosen_steps.h"

#include <fmt/format.h>

#include <algorithm>

namespace telltale {

std::string why_no_step(const Trace& trace, const std::optional<StepRange>& chosen, std::string_view option) {
  if (!chosen || !steps_in(trace, *chosen).empty()) return {};
  if (trace.steps.empty()) return fmt::format("the trace marks no steps, so {} cannot choose any", option);
  const auto [first, last] = std::ranges::minmax(trace.steps, {}, &Step::index);
  return first.index == last.index
             ? fmt::format("{} chooses none: the trace has only step {}", option, first.index)
             : fmt::format("{} chooses none: the trace has steps {} to {}", option, first.index, last.index);
}

}  // namespace telltale
