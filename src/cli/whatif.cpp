// telltale whatif TRACE: what a step would take if parts of it were gone, faster or slower.
#include <memory>
#include <set>

#include "cli/command.h"
#include "cli/event_pattern_text.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/step_choice.h"
#include "cli/suggestion.h"
#include "replay/what_if.h"
#include "report/text_width.h"
#include "report/whatif_json.h"
#include "report/whatif_terminal.h"

namespace telltale::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;

struct WhatIfOptions {
  std::string path;
  std::optional<StepRange> steps;
  Changes changes;
  bool wants_json = false;
};

std::string kinds_that_are_replayed() {
  std::string words;
  for (int i = 0; i < kKindCount; ++i) {
    const auto kind = static_cast<Kind>(i);
    if (is_replayed(kind)) words.append(words.empty() ? "" : ", ").append(name_of(kind));
  }
  return words;
}

// A pattern without anything to match is a mistake that is seen before the trace is read.
PatternChange checked(PatternChange change, const std::string& option) {
  if (change.pattern.name.empty()) throw CLI::ValidationError(option, "a pattern needs a name; * matches all");
  if (change.pattern.kind && !is_replayed(*change.pattern.kind)) {
    throw CLI::ValidationError(option, "events of the kind " + std::string(name_of(*change.pattern.kind)) +
                                           " take no time of their own; there are " + kinds_that_are_replayed());
  }
  return change;
}

// The names of the trace's events, those of host and device that a replay runs.
std::vector<std::string> names_in(const Trace& trace) {
  std::set<StringId> names;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (is_replayed(trace.events.kind[event])) names.insert(trace.events.name[event]);
  std::vector<std::string> texts;
  for (const StringId name : names) texts.emplace_back(trace.strings[name]);
  return texts;
}

// Why a pattern that matches nothing does so, as far as we can tell.
std::string why_no_match(const EventPattern& pattern, const Trace& trace) {
  const std::string sentence = "nothing in the steps matches '" + text_of(pattern) + "'";
  const std::size_t colon = pattern.name.find(':');
  const std::string before = pattern.name.substr(0, colon);
  if (!pattern.kind && colon != std::string::npos && pattern.name.substr(colon, 2) != "::") {
    std::vector<std::string> kinds;
    for (int i = 0; i < kKindCount; ++i) kinds.emplace_back(name_of(static_cast<Kind>(i)));
    if (const std::string near = suggestion(before, kinds); !near.empty()) return sentence + near;
  }
  if (pattern.name.find_first_of("*?") == std::string::npos) {
    const std::string near = suggestion(pattern.name, names_in(trace));
    return sentence + (near.empty() ? "; a name counts as a whole, and * stands for any text" : near);
  }
  return sentence;
}

Result<ExitCode> show_answer(const WhatIfOptions& options, const GlobalOptions& globals) {
  if (!options.changes.has_any() && !options.changes.leaves_out_observer) {
    return failure("say what to change: --remove, --scale, --no-sync, --instant-data, --graph or --no-observer");
  }
  ProgressLine progress;
  const Result<Trace> trace = load(options.path, globals, progress);
  if (!trace) return std::unexpected(trace.error());
  if (const std::string reason = why_no_step(*trace, options.steps); !reason.empty()) {
    return failure(reason, options.path);
  }
  progress.show_now("Replaying");
  WhatIf answer = what_if(*trace, options.changes, options.steps);
  answer.path = options.path;
  progress.clear();
  for (std::size_t i = 0; i < answer.reach.size(); ++i) {
    if (answer.reach[i].calls == 0 && answer.reach[i].device_work == 0)
      return failure(why_no_match(options.changes.patterns[i].pattern, *trace), options.path);
  }
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
