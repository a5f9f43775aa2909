// telltale whatif TRACE: what a step would take if parts of it were gone, faster or slower.
#include <CLI/CLI.hpp>
#include <memory>

#include "answers/change_words.h"
#include "answers/what_if.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"
#include "report/text_width.h"

namespace telltale::cli {
namespace {

constexpr std::size_t kHelpWidth = 80;

struct WhatIfOptions {
  answers::WhatIfRequest request;
  bool wants_json = false;
};

Result<ExitCode> show_answer(const WhatIfOptions& options, const GlobalOptions& globals) {
  const auto answer = answers::what_if(asked(options.request, globals));
  if (!answer) return std::unexpected(answer.error());
  return options.wants_json ? print_data(answer->json()) : print(answer->terminal(output_style()));
}

void declare_changes(CLI::App& app, answers::WhatIfRequest& request) {
  app.add_option("--remove", request.remove,
                 "What matches is gone: host events with all that they call and the device work launched within, "
                 "device work by itself; may be given several times")
      ->allow_extra_args(false)
      ->type_name("PATTERN");
  app.add_option("--scale", request.scale,
                 "What matches takes this many times as long: 0.5 is twice as fast; may be given several times")
      ->allow_extra_args(false)
      ->type_name("PATTERN=FACTOR");
  app.add_flag("--no-sync", request.no_sync, "No call waits for the device");
  app.add_flag("--instant-data", request.instant_data, "Batches are ready when they are asked for");
  app.add_flag("--graph", request.graph,
               "All device work of a step is one CUDA graph: no time for Python, operators and launches; waits, copies "
               "and data loading stay");
  app.add_flag("--no-observer", request.no_observer, "Leave out what the recording cost, before and after the change");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<WhatIfOptions>();
  declare_trace(app, options->request.source.path)->required();
  declare_changes(app, options->request);
  declare_steps(app, options->request.steps);
  app.add_flag("--json", options->wants_json, "Print telltale.whatif/1");
  app.footer(paragraph_of("PATTERN is NAME or KIND:NAME. NAME is the whole name of an event, as telltale top shows it "
                          "with --full-names; in it * stands for any text and ? for one character. KIND is " +
                              answers::kinds_that_are_replayed() + ". Changes combine.",
                          kHelpWidth) +
             "\n"
             "  telltale whatif train.json.gz --remove aten::item\n"
             "  telltale whatif train.json.gz --scale 'kernel:*gemm*=0.5' --no-sync\n"
             "  telltale whatif train.json.gz --remove 'python:train.py(*): log' --no-observer");
  return [options, &globals] { return show_answer(*options, globals); };
}

}  // namespace

const Command commands::whatif = {"whatif", "Replay the steps with parts of them gone, faster or slower", declare};

}  // namespace telltale::cli
