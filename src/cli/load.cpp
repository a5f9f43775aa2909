#include "cli/load.h"

#include <fmt/format.h>

#include "formats/read_trace.h"

namespace telltale::cli {

Result<Trace> load(const std::string& path, const GlobalOptions& globals, ProgressLine& progress) {
  ReadOptions options = globals.reading;
  options.progress = [&progress](double share) { progress.show(fmt::format("Reading: {:.0f} %", share * 100)); };
  return read_trace(path, options);
}

Result<Trace> load(const std::string& path, const GlobalOptions& globals) {
  ProgressLine progress;
  return load(path, globals, progress);
}

}  // namespace telltale::cli
