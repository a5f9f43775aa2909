#include "traces.h"

#include <algorithm>
#include <stdexcept>

#include "formats/read_trace.h"
#include "traces_on_disk.h"

namespace telltale {

std::vector<std::filesystem::path> real_traces() {
  std::vector<std::filesystem::path> paths = oracle::bundled_traces();
  const std::filesystem::path cases = std::filesystem::path(TELLTALE_SOURCE_DIR) / "tests/diagnosis";
  for (const auto& entry : std::filesystem::directory_iterator(cases))
    if (entry.path().string().ends_with(".json.gz")) paths.push_back(entry.path());
  std::ranges::sort(paths);
  return paths;
}

Trace trace_of(const std::filesystem::path& path) {
  Result<Trace> trace = read_trace(path.string(), oracle::with_threads(1));
  if (!trace) throw std::runtime_error(to_string(trace.error()));
  return std::move(*trace);
}

}  // namespace telltale
