// telltale memory TRACE: what holds the memory, what grows, and what would free some.
#include <CLI/CLI.hpp>
#include <memory>

#include "answers/held_memory.h"
#include "cli/command.h"
#include "cli/memory_what_if.h"
#include "cli/output.h"
#include "cli/trace_source.h"

namespace telltale::cli {
namespace {

struct MemoryOptions {
  answers::HeldMemoryRequest request;
  answers::MemoryWhatIfRequest what_if;
  bool wants_json = false, wants_markdown = false, wants_collapsed = false;
};

Result<ExitCode> show_what_if(const MemoryOptions& options, const GlobalOptions& globals) {
  if (options.wants_markdown || options.wants_collapsed || !options.request.page.empty())
    return failure(
        "--markdown, --collapsed and --html show what was recorded; what would be is printed as text or with --json");
  answers::MemoryWhatIfRequest request = options.what_if;
  request.source = options.request.source;
  const auto answer = answers::memory_what_if(asked(request, globals));
  if (!answer) return std::unexpected(answer.error());
  return options.wants_json ? print_data(answer->json()) : print(answer->terminal(output_style()));
}

Result<ExitCode> show_memory(const MemoryOptions& options, const GlobalOptions& globals) {
  if (options.what_if.asks()) return show_what_if(options, globals);
  if (options.what_if.other) return failure("--other says how memory grows: give --batch or --fits with it");
  if (options.what_if.device) return failure("--device chooses for --fits, --batch and --settings: give one of them");
  const auto answer = answers::held_memory(asked(options.request, globals));
  if (!answer) return std::unexpected(answer.error());
  const auto printed = options.wants_json        ? print_data(answer->json())
                       : options.wants_markdown  ? print(answer->markdown())
                       : options.wants_collapsed ? print_data(answer->collapsed())
                                                 : print(answer->terminal(output_style()));
  if (printed && !options.request.page.empty()) say("the page is in " + options.request.page);
  return printed;
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<MemoryOptions>();
  declare_trace(app, options->request.source.path)->required();
  CLI::Option* json = app.add_flag("--json", options->wants_json,
                                   "Print telltale.memory/1, with a simulation telltale.memory_whatif/1");
  CLI::Option* markdown =
      app.add_flag("--markdown", options->wants_markdown, "Print Markdown, as for a pull request")->excludes(json);
  app.add_flag("--collapsed", options->wants_collapsed,
               "Print stacks with the bytes that stand at the peak, for flame graphs")
      ->excludes(json)
      ->excludes(markdown);
  app.add_option("--html", options->request.page,
                 "Also write a page with pictures and tables to this file; replaces only an older page")
      ->type_name("FILE");
  declare_memory_what_if(app, options->what_if);
  app.footer(
      "  telltale memory train.tell\n"
      "  telltale memory snapshot.pickle --json\n"
      "  telltale memory snapshot.pickle --fits 24GB\n"
      "  telltale memory train.tell --fits 24GB --without whole_logits");
  return [options, &globals] { return show_memory(*options, globals); };
}

}  // namespace

const Command commands::memory = {"memory", "Say what holds the memory, what grows, and what would free some", declare};

}  // namespace telltale::cli
