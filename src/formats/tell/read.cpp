#include "formats/tell/read.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <thread>

#include "formats/tell/frames.h"
#include "formats/tell/read_tables.h"
#include "formats/tell/recording.h"
#include "formats/tell/whole_text.h"

namespace telltale::tell {
namespace {

Result<void> check_header(Bytes file, const std::string& path) {
  FileHeader header;
  if (file.size() < sizeof header) return failure("ends before its first chunk; it was cut off", path, file.size());
  std::memcpy(&header, file.data(), sizeof header);
  if (header.major_version != kMajorVersion)
    return failure(fmt::format("is in version {} of the .tell format, and this Telltale reads version {}",
                               header.major_version, kMajorVersion),
                   path);
  return {};
}

// What the chunks hold when decompressed is bounded like the text of any compressed file.
Result<void> check_size(const FrameScan& scan, const std::string& path, std::uint64_t max_text_bytes) {
  std::uint64_t bytes = 0;
  for (const Frame& frame : scan.frames) bytes += frame.header.raw_bytes;
  if (bytes <= max_text_bytes) return {};
  return failure(fmt::format("decompresses to {} bytes, which is refused as a mistake or an attack; raise the limit "
                             "with --max-text",
                             bytes),
                 path);
}

}  // namespace

bool is_tell(std::string_view first_bytes) {
  const std::string_view magic(reinterpret_cast<const char*>(kMagic), sizeof kMagic);
  return first_bytes.starts_with(magic);
}

Result<Trace> read(TextInput& input, const std::string& path, const ReadOptions& options) {
  const auto text = WholeText::read(input, path);
  if (!text) return std::unexpected(text.error());
  const Bytes file = text->bytes();
  if (const auto header = check_header(file, path); !header) return std::unexpected(header.error());
  const FrameScan scan = scan_frames(file);
  if (const auto size = check_size(scan, path, options.max_text_bytes); !size) return std::unexpected(size.error());
  if (options.progress) options.progress(0);
  const unsigned threads = options.threads > 0 ? options.threads : std::max(1u, std::thread::hardware_concurrency());
  auto trace = has_tables(scan) ? read_tables(scan, path, threads) : read_recording(scan, file.size(), threads);
  if (options.progress) options.progress(1);
  if (!trace && trace.error().file.empty()) trace.error().file = path;
  return trace;
}

}  // namespace telltale::tell
