// telltale analyze TRACE: why it is slow, and what each fix would buy.
#include "answers/analyze.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "answers/explain.h"
#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"

namespace telltale::cli {
namespace {

struct AnalyzeOptions {
  answers::AnalyzeRequest request;
  answers::ExplainRequest explained;
  bool wants_json = false, wants_markdown = false;
};

Result<ExitCode> explain(const AnalyzeOptions& options) {
  const auto answer = answers::explain(options.explained);
  if (!answer) return std::unexpected(answer.error());
  return print(options.wants_markdown ? answer->markdown() : answer->terminal(output_style()));
}

Result<ExitCode> analyze(const AnalyzeOptions& options, const GlobalOptions& globals) {
  const auto answer = answers::analyze(asked(options.request, globals));
  if (!answer) return std::unexpected(answer.error());
  const auto printed = options.wants_json       ? print_data(answer->json())
                       : options.wants_markdown ? print(answer->markdown())
                                                : print(answer->terminal(output_style()));
  if (printed && !options.request.page.empty()) say("the page is in " + options.request.page);
  return printed;
}

Result<ExitCode> show_analysis(const AnalyzeOptions& options, const GlobalOptions& globals) {
  if (!options.explained.rule.empty()) return explain(options);
  if (options.request.source.path.empty()) return failure("TRACE is required (see telltale analyze --help)");
  return analyze(options, globals);
}

void declare_choice(CLI::App& app, answers::AnalyzeRequest& request) {
  declare_steps(app, request.steps);
  app.add_option("--rule", request.rules, "Only what this rule finds; may be given several times")
      ->allow_extra_args(false)
      ->delimiter(',')
      ->type_name("ID");
  app.add_option("--min-saving", request.min_saving,
                 "Leave out what would save less than this share of a step, in percent (1)")
      ->type_name("PCT");
  app.add_option("--price", request.price, "What a kilowatt-hour costs: says what 1,000 steps cost")->type_name("X");
  app.add_option("--carbon", request.carbon, "Grams of CO2 for a kilowatt-hour: says what 1,000 steps emit")
      ->type_name("G");
}

void declare_output(CLI::App& app, AnalyzeOptions& options) {
  CLI::Option* json = app.add_flag("--json", options.wants_json, "Print telltale.analyze/1");
  app.add_flag("--markdown", options.wants_markdown, "Print Markdown, as for a pull request")->excludes(json);
  app.add_option("--html", options.request.page,
                 "Also write a page with pictures and tables to this file; replaces only an older page")
      ->type_name("FILE");
  app.add_option("--explain", options.explained.rule,
                 "Say what a rule, or all, looks for and how its saving is computed; needs no TRACE")
      ->type_name("RULE");
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<AnalyzeOptions>();
  declare_trace(app, options->request.source.path);
  declare_choice(app, options->request);
  declare_output(app, *options);
  app.footer(
      "  telltale train.json.gz\n"
      "  telltale analyze train.json.gz --steps 3..7 --html report.html\n"
      "  telltale analyze --explain host_sync");
  return [options, &globals] { return show_analysis(*options, globals); };
}

}  // namespace

const Command commands::analyze = {"analyze", "Say why it is slow, at which line, and what each fix would buy",
                                   declare};

}  // namespace telltale::cli
