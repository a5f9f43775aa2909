// telltale info TRACE: what the trace holds.
#include "answers/info.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"

namespace telltale::cli {
namespace {

struct InfoOptions {
  answers::InfoRequest request;
  bool wants_json = false;
};

Result<ExitCode> show_info(const InfoOptions& options, const GlobalOptions& globals) {
  const auto answer = answers::info(asked(options.request, globals));
  if (!answer) return std::unexpected(answer.error());
  return options.wants_json ? print_data(answer->json()) : print(answer->terminal(output_style()));
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<InfoOptions>();
  declare_trace(app, options->request.source.path)->required();
  app.add_flag("--json", options->wants_json, "Print telltale.info/1 instead of a card");
  return [options, &globals] { return show_info(*options, globals); };
}

}  // namespace

const Command commands::info = {
    "info", "Say what a trace holds: devices, steps, threads, kinds of events, and what is wrong with it", declare};

}  // namespace telltale::cli
