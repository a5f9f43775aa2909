#include "formats/read_trace.h"

#include <algorithm>
#include <array>
#include <utility>

#include "formats/input/text_input.h"
#include "formats/kineto/read.h"
#include "formats/memory_snapshot/read.h"
#include "formats/tell/read.h"
#include "formats/unread_formats.h"

namespace telltale {
namespace {

// In the order in which they are asked.
constexpr std::array kReaders = {
    Reader{"tell", Reader::Mark::kOwn, tell::is_tell, tell::read},
    Reader{"memory_snapshot", Reader::Mark::kOwn, memory_snapshot::is_snapshot, memory_snapshot::read},
    Reader{"kineto", Reader::Mark::kShared, kineto::is_json, kineto::read},
};

constexpr std::size_t kFirstBytes = 64 << 10;

}  // namespace

std::span<const Reader> readers() { return kReaders; }

Result<Trace> read_trace(const std::string& path, const ReadOptions& options) {
  auto input = open_text(path, options.max_text_bytes);
  if (!input) return std::unexpected(input.error());
  if (options.stop != nullptr) *input = stoppable(std::move(*input), *options.stop);
  std::string first_bytes(kFirstBytes, '\0');
  const auto got = (*input)->read(first_bytes);
  if (!got) return std::unexpected(got.error());
  first_bytes.resize(*got);
  const std::string name = path == "-" ? "standard input" : path;
  const auto reader = std::ranges::find_if(kReaders, [&](const Reader& each) { return each.recognizes(first_bytes); });
  if (reader == kReaders.end() || reader->mark == Reader::Mark::kShared)
    if (const auto reason = why_not_read(first_bytes, path)) return failure(*reason, name);
  if (reader != kReaders.end()) {
    const auto whole = put_back(std::move(first_bytes), std::move(*input));
    return reader->read(*whole, name, options);
  }
  return failure(
      "is in no format that Telltale knows; it reads JSON of torch.profiler, Chrome traces, memory snapshots of torch "
      "and .tell files",
      name);
}

}  // namespace telltale
