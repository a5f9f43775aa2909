#include "answers/page_file.h"

#include <filesystem>
#include <fstream>
#include <system_error>

#include "formats/output/file_sink.h"
#include "formats/output/pending_file.h"

namespace telltale::answers {
namespace {

namespace fs = std::filesystem;

// Stands in the head of every page of ours, within its first bytes.
constexpr std::string_view kMark = R"(<meta name="generator" content="telltale">)";
constexpr std::size_t kHeadBytes = 4096;

bool is_page_of_ours(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string head(kHeadBytes, '\0');
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head.empty() || head.find(kMark) != std::string::npos;
}

}  // namespace

Result<void> check_page(const std::string& path, const std::string& trace_path, Spelling spelling) {
  std::error_code unknown;
  const std::string option = spelled(spelling, "page");
  if (fs::equivalent(trace_path, path, unknown))
    return failure("the page would overwrite the trace; choose another name for " + option, path);
  // What is no regular file, such as a pipe, holds nothing that could be lost.
  if (fs::is_regular_file(path, unknown) && !is_page_of_ours(path))
    return failure(
        "already exists and is not a report of telltale; choose another name for " + option + ", or remove it", path);
  return {};
}

Result<void> write_page(const std::string& path, std::string_view page) {
  auto file = PendingFile::reserve(path, PendingFile::Existing::kReplace, PendingFile::Readers::kAll);
  if (!file) return std::unexpected(file.error());
  auto sink = FileSink::onto(file->descriptor(), path);
  if (!sink) return std::unexpected(sink.error());
  if (auto written = (*sink)->write(page); !written) return written;
  if (auto finished = (*sink)->finish(); !finished) return finished;
  return file->commit();
}

}  // namespace telltale::answers
