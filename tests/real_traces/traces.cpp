#include "traces.h"

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <stdexcept>
#include <string>

#include "formats/read_trace.h"
#include "traces_on_disk.h"

namespace telltale {
namespace {

bool is_trace(const std::filesystem::path& path) {
  const std::string name = path.string();
  return (name.ends_with(".json.gz") || name.ends_with(".json")) && path.filename() != "truth.json";
}

void add_traces_in(const std::filesystem::path& folder, std::vector<std::filesystem::path>& paths) {
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (is_trace(entry.path())) paths.push_back(entry.path());
}

void add_named_folders(std::vector<std::filesystem::path>& paths) {
  const char* folders = std::getenv("TELLTALE_TRACES");
  if (folders == nullptr) return;
  std::vector<std::filesystem::path> found;
  std::istringstream words(folders);
  for (std::string folder; std::getline(words, folder, ':');) add_traces_in(folder, found);
  std::erase_if(found, [](const auto& path) { return !read_trace(path.string(), oracle::with_threads(1)); });
  paths.insert(paths.end(), found.begin(), found.end());
}

}  // namespace

std::vector<std::filesystem::path> real_traces() {
  std::vector<std::filesystem::path> paths = oracle::bundled_traces();
  add_traces_in(std::filesystem::path(TELLTALE_SOURCE_DIR) / "tests/diagnosis", paths);
  add_named_folders(paths);
  std::ranges::sort(paths);
  return paths;
}

Trace trace_of(const std::filesystem::path& path) {
  Result<Trace> trace = read_trace(path.string(), oracle::with_threads(1));
  if (!trace) throw std::runtime_error(to_string(trace.error()));
  return std::move(*trace);
}

}  // namespace telltale
