#include "cli/trace_source.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "cli/progress_line.h"

namespace telltale::cli {

CLI::Option* declare_trace(CLI::App& app, std::string& path) {
  return app.add_option(
      "TRACE", path,
      "What torch.profiler wrote (.json, .json.gz, .json.zst), what telltale recorded (.tell), a memory "
      "snapshot (.pickle), or - for standard input");
}

void declare_steps(CLI::App& app, std::optional<std::string>& steps) {
  app.add_option(
         "--steps", steps,
         "Only these steps: 5, 3..7, 3.. or ..7, by number as in ProfilerStep#5, else by place from 0; device work "
         "counts where it was launched")
      ->type_name("RANGE");
}

answers::Source shown_while_read(answers::Source source, const GlobalOptions& globals) {
  const auto line = std::make_shared<ProgressLine>();
  source.reading = globals.reading;
  source.progress = [line](std::string_view doing, std::optional<double> share) {
    if (share)
      line->show(fmt::format("{}: {:.0f} %", doing, *share * 100));
    else
      line->show_now(doing);
  };
  return source;
}

}  // namespace telltale::cli
