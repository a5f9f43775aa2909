// telltale whatif TRACE: what a step would take if parts of it were gone, faster or slower.
#include <memory>

#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/step_choice.h"
#include "replay/what_if.h"
#include "report/json.h"
#include "report/text_width.h"
#include "report/whatif_terminal.h"
#include "words/change_words.h"
#include "words/chosen_steps.h"
#include "words/event_pattern_text.h"

namespace telltale::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;

struct WhatIfOptions {
  std::string path;
  std::optional<StepRange> steps;
  Changes changes;
  bool wants_json = false;
};

// A pattern without anything to match is a mistake that is seen before the trace is read.
PatternChange checked(PatternChange change, const std::string& option) {
  Result<PatternChange> good = telltale::checked(std::move(change));
  if (!good) throw CLI::ValidationError(option, good.error().message);
  return *std::move(good);
}

Result<ExitCode> show_answer(const WhatIfOptions& options, const GlobalOptions& globals) {
  if (!options.changes.has_any() && !options.changes.leaves_out_observer) {
    return failure("say what to change: --remove, --scale, --no-sync, --instant-data, --graph or --no-observer");
  }
  ProgressLine progress;
  const Result<Trace> trace = load(options.path, globals, progress);
  if (!trace) return std::unexpected(trace.error());
  if (const std::string reason = why_no_step(*trace, options.steps, "--steps"); !reason.empty()) {
    return failure(reason, options.path);
  }
  progress.show_now("Replaying");
  WhatIf answer = what_if(*trace, options.changes, options.steps);
  answer.path = options.path;
  progress.clear();
  if (const std::string reason = why_no_match(answer, *trace); !reason.empty()) return failure(reason, options.path);
  return print(options.wants_json ? to_json(answer) : whatif_text(answer, output_style()));
}

void declare_patterns(CLI::App& app, WhatIfOptions& options) {
  app.add_option_function<std::vector<std::string>>(
         "--remove",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts)
             options.changes.patterns.push_back(checked({parsed_pattern(text), 0}, "--remove"));
         },
         "What matches is gone: host events with all that they call and the device work launched within, device work "
         "by itself; may be given several times")
      ->allow_extra_args(false)
      ->type_name("PATTERN");
  app.add_option_function<std::vector<std::string>>(
         "--scale",
         [&options](const std::vector<std::string>& texts) {
           for (const std::string& text : texts) {
             const auto scaling = parsed_scaling(text);
             if (!scaling) {
               throw CLI::ValidationError("--scale", "'" + text + "' is no PATTERN=FACTOR with a factor of 0 or more");
             }
             options.changes.patterns.push_back(checked(*scaling, "--scale"));
           }
         },
         "The same takes this many times as long: 0.5 is twice as fast; may be given several times")
      ->allow_extra_args(false)
      ->type_name("PATTERN=FACTOR");
}

void declare_changes(CLI::App& app, Changes& changes) {
  app.add_flag("--no-sync", changes.drops_waits, "No call waits for the device");
  app.add_flag("--instant-data", changes.has_instant_data, "Batches are there when they are asked for");
  app.add_flag("--graph", changes.runs_as_graph,
               "All device work of a step is one CUDA graph: no time for Python, operators and launches; waits, copies "
               "and data loading stay");
  app.add_flag("--no-observer", changes.leaves_out_observer,
               "Without what the recording cost, before and after the change");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<WhatIfOptions>();
  app.add_option("TRACE", options->path, "A trace file, or - for standard input")->required();
  declare_patterns(app, *options);
  declare_changes(app, options->changes);
  declare_steps(app, options->steps);
  app.add_flag("--json", options->wants_json, "Print telltale.whatif/1");
  app.footer(paragraph_of("PATTERN is NAME or KIND:NAME. NAME is the whole name of an event, as telltale top shows it "
                          "with --full-names; in it * stands for any text and ? for one character. KIND is one of " +
                              kinds_that_are_replayed() + ". Changes combine.",
                          kHelpWidth) +
             "\n"
             "  telltale whatif train.json.gz --remove aten::item\n"
             "  telltale whatif train.json.gz --scale 'kernel:*gemm*=0.5' --no-sync\n"
             "  telltale whatif train.json.gz --remove 'python:train.py(*): log' --no-observer");
  return [options, &globals] { return show_answer(*options, globals); };
}

}  // namespace

const Command kWhatIfCommand = {"whatif", "Replay the steps with parts of them gone, faster or slower", declare};

}  // namespace telltale::cli
