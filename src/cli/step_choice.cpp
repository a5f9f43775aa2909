#include "cli/step_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/step_range_text.h"

namespace telltale::cli {

void declare_steps(CLI::App& app, std::optional<StepRange>& chosen) {
  app.add_option_function<std::string>(
         "--steps",
         [&chosen](const std::string& text) {
           chosen = parsed_step_range(text);
           if (!chosen) {
             throw CLI::ValidationError("--steps", "'" + text + "' is no range of steps; write 5, 3..7, 3.. or ..7");
           }
         },
         "Only these steps: 5, 3..7, 3.. or ..7, as in ProfilerStep#5; device work counts where it was launched")
      ->type_name("RANGE");
}

std::string why_no_step(const Trace& trace, const std::optional<StepRange>& chosen) {
  if (!chosen || !steps_in(trace, *chosen).empty()) return {};
  if (trace.steps.empty()) return "the trace marks no steps, so --steps cannot choose any";
  const auto [first, last] = std::ranges::minmax(trace.steps, {}, &Step::index);
  return first.index == last.index
             ? fmt::format("--steps chooses none: the trace has only step {}", first.index)
             : fmt::format("--steps chooses none: the trace has steps {} to {}", first.index, last.index);
}

}  // namespace telltale::cli
