#include "cli/step_choice.h"

#include "words/step_range_text.h"

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

}  // namespace telltale::cli
