#include "traces_on_disk.h"

#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <atomic>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace telltale::oracle {
namespace {

std::vector<std::filesystem::path> files_in(const std::filesystem::path& folder, std::string_view suffix) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    if (entry.path().string().ends_with(suffix)) files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

const std::filesystem::path kProject = TELLTALE_SOURCE_DIR;

}  // namespace

std::vector<std::filesystem::path> bundled_traces() { return files_in(kProject / "examples/traces", ".json.gz"); }

std::vector<std::filesystem::path> diagnosed_traces() { return files_in(kProject / "tests/diagnosis", ".json.gz"); }

std::vector<std::filesystem::path> trap_files() { return files_in(kProject / "tests/traps", ".json"); }

std::string bytes_of(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string text_of_file(const std::filesystem::path& path) {
  const gzFile file = gzopen(path.c_str(), "rb");  // reads plain text as it is
  if (file == nullptr) throw std::runtime_error("cannot read " + path.string());
  std::string text;
  std::string chunk(1 << 16, '\0');
  int got = 0;
  while ((got = gzread(file, chunk.data(), static_cast<unsigned>(chunk.size()))) > 0)
    text.append(chunk, 0, static_cast<std::size_t>(got));
  gzclose(file);
  if (got < 0) throw std::runtime_error("cannot decompress " + path.string());
  return text;
}

ReadOptions with_threads(unsigned threads, std::size_t block_bytes) {
  ReadOptions options;
  options.threads = threads;
  options.block_bytes = block_bytes;
  return options;
}

TemporaryFile::TemporaryFile(std::string_view content, std::string_view suffix) {
  static std::atomic<unsigned> count = 0;
  path_ = std::filesystem::temp_directory_path() /
          ("telltale_test_" + std::to_string(getpid()) + "_" + std::to_string(count++) + std::string(suffix));
  std::ofstream file(path_, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  if (!file.flush()) throw std::runtime_error("cannot write " + path_.string());
}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace telltale::oracle
