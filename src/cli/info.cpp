// telltale info TRACE: what the trace holds.
#include <filesystem>
#include <memory>
#include <system_error>

#include "analysis/trace_info.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "report/info_card.h"
#include "report/json.h"

namespace telltale::cli {
namespace {

struct InfoOptions {
  std::string path;
  bool wants_json = false;
};

std::optional<std::uint64_t> stored_size(const std::string& path) {
  std::error_code error;
  const std::uintmax_t size = std::filesystem::file_size(path, error);
  return error ? std::nullopt : std::optional<std::uint64_t>(size);
}

Result<ExitCode> show_info(const InfoOptions& options, const GlobalOptions& globals) {
  const Result<Trace> trace = load(options.path, globals);
  if (!trace) return std::unexpected(trace.error());
  TraceInfo info = trace_info(*trace);
  info.path = options.path;
  if (options.path != "-") info.bytes = stored_size(options.path);
  return print(options.wants_json ? to_json(info) : info_card(info, output_style()));
}

Work declare(CLI::App& app, const GlobalOptions& globals) {
  auto options = std::make_shared<InfoOptions>();
  app.add_option("TRACE", options->path, "A trace file, or - for standard input")->required();
  app.add_flag("--json", options->wants_json, "Print telltale.info/1 instead of a card");
  return [options, &globals] { return show_info(*options, globals); };
}

}  // namespace

const Command kInfoCommand = {
    "info", "Say what a trace holds: devices, steps, threads, kinds of events, and what is wrong with it", declare};

}  // namespace telltale::cli
