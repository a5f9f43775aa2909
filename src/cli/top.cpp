// telltale top TRACE: what took the time, as torch.profiler's key_averages() has it.
#include "answers/top.h"

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"

namespace telltale::cli {
namespace {

struct TopOptions {
  answers::TopRequest request;
  bool wants_json = false, wants_csv = false;
};

Result<ExitCode> show_top(const TopOptions& options, const GlobalOptions& globals) {
  const auto answer = answers::top(asked(options.request, globals));
  if (!answer) return std::unexpected(answer.error());
  if (options.wants_json) return print_data(answer->json());
  return options.wants_csv ? print_data(answer->csv()) : print(answer->terminal(output_style()));
}

void declare_choice(CLI::App& app, answers::TopRequest& request) {
  app.add_option("--by", request.by,
                 "Rows: operator, kernel (all device work), module, annotation, python or all; without it operators, "
                 "annotations and runtime calls")
      ->type_name("KIND");
  app.add_option("--group", request.group,
                 "What shares a row: name, shape (name and input shapes) or stack (name and Python frames)")
      ->type_name("HOW");
  app.add_option("--stack-depth", request.stack_depth, "Innermost frames that tell stacks apart (5); 200 at most")
      ->type_name("N");
  declare_steps(app, request.steps);
}

void declare_output(CLI::App& app, TopOptions& options) {
  answers::TopRequest& request = options.request;
  app.add_option("--sort", request.sort,
                 "Largest first by " + answers::sort_words() + "; torch.profiler's own names work too")
      ->type_name("KEY");
  app.add_option("--limit", request.limit, "At most this many rows, 0 for all (20; all with --json and --csv)")
      ->type_name("N");
  app.add_flag("--full-names", request.has_full_names, "Do not shorten names");
  CLI::Option* json = app.add_flag("--json", options.wants_json, "Print telltale.top/1");
  app.add_flag("--csv", options.wants_csv, "Print comma-separated values")->excludes(json);
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<TopOptions>();
  declare_trace(app, options->request.source.path)->required();
  declare_choice(app, options->request);
  declare_output(app, *options);
  app.footer(
      "  telltale top train.json.gz --sort self-cpu --limit 10\n"
      "  telltale top train.json.gz --by kernel --steps 3..7\n"
      "  telltale top train.json.gz --group shape --json");
  return [options, &globals] { return show_top(*options, globals); };
}

}  // namespace

const Command commands::top = {
    "top", "Rank operators, kernels, modules or Python calls by time, memory or calls, as key_averages() does",
    declare};

}  // namespace telltale::cli
