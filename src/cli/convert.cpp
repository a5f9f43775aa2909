// telltale convert TRACE -o FILE: the same trace, or a part of it, in another format.
#include "answers/convert.h"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/trace_source.h"
#include "formats/write_trace.h"

namespace telltale::cli {
namespace {

Result<ExitCode> convert(const answers::ConvertRequest& request, const GlobalOptions& globals) {
  if (request.output == "-" && isatty(STDOUT_FILENO) != 0)
    return failure(
        "standard output is a terminal, which would obey what names in the trace say; name a file, or a "
        "program behind |");
  const auto answer = answers::convert(asked(request, globals));
  if (!answer) return std::unexpected(answer.error());
  // Not into what another program may read.
  return print(answer->terminal(), STDERR_FILENO);
}

std::string formats_footer() {
  std::string footer = "Files end with\n";
  for (const OutputFormat& format : output_formats())
    footer += fmt::format("  {:<18} {}\n", format.extensions.front(), format.description);
  return footer + "Add .gz or .zst to compress. What a format has no place for is left out and counted.\n\n";
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto request = std::make_shared<answers::ConvertRequest>();
  declare_trace(app, request->source.path)->required();
  app.add_option("-o,--output", request->output, "The file to write, or - for standard output")
      ->required()
      ->type_name("FILE");
  app.add_option("--format", request->format,
                 "The format, where the file's ending does not name it: " + answers::format_words())
      ->type_name("NAME");
  declare_steps(app, request->steps);
  app.add_option("--from", request->from, "Only what happens after this time from the trace's start: 1.5s, 200ms")
      ->type_name("TIME");
  app.add_option("--to", request->to, "Only what happens before this time from the trace's start")->type_name("TIME");
  app.add_flag("--force", request->overwrite, "Overwrite the file where there is one");
  app.footer(formats_footer() +
             "  telltale convert train.json.gz -o train.pftrace\n"
             "  telltale convert train.json.gz -o step5.json.zst --steps 5\n"
             "  telltale convert train.json.gz -o - --format collapsed | flamegraph.pl > train.svg");
  return [request, &globals] { return convert(*request, globals); };
}

}  // namespace

const Command commands::convert = {"convert", "Write a trace, or a part of it, in another format", declare};

}  // namespace telltale::cli
