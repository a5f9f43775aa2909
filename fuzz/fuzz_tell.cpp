// Any bytes as a .tell file, as they are and with their checksums put right: what checksums keep out can come from a
// writer that went mad.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#include "formats/input/text_in_memory.h"
#include "formats/output/text_writer.h"
#include "formats/tell/read.h"
#include "formats/tell/write.h"
#include "require.h"
#include "string_sink.h"
#include "tell/crc32c.h"
#include "tell/layout.h"
#include "trace_checks.h"

namespace {

using namespace telltale;
using fuzzing::require;
using fuzzing::StringSink;

Result<Trace> read(std::string_view bytes, unsigned threads) {
  TextInMemory input(bytes);
  ReadOptions options;
  options.threads = threads;
  options.max_text_bytes = std::uint64_t{1} << 28;
  return tell::read(input, "input", options);
}

std::string with_checksums(std::string bytes) {
  std::uint64_t sequence = 0;
  for (std::size_t at = sizeof(tell::FileHeader); at + sizeof(tell::ChunkHeader) <= bytes.size();) {
    tell::ChunkHeader header;
    std::memcpy(&header, bytes.data() + at, sizeof header);
    const std::size_t payload = at + sizeof header;
    header.mark = tell::kChunkMark;
    header.stored_bytes =
        static_cast<std::uint32_t>(std::min<std::size_t>(header.stored_bytes, bytes.size() - payload));
    header.sequence = sequence++;
    header.payload_crc = tell::crc32c(bytes.data() + payload, header.stored_bytes);
    if (header.codec == 0) header.raw_bytes = header.stored_bytes;
    header.header_crc = tell::crc32c(&header, offsetof(tell::ChunkHeader, header_crc));
    std::memcpy(bytes.data() + at, &header, sizeof header);
    at = payload + header.stored_bytes;
  }
  return bytes;
}

void check(std::string_view bytes) {
  const auto trace = read(bytes, 1), again = read(bytes, 3);
  require(trace.has_value() == again.has_value(), "whether a file is refused does not depend on threads");
  if (!trace) return;
  fuzzing::require_same(*trace, *again, "one thread", "three threads");
  fuzzing::require_same_examples(*trace, *again);
  fuzzing::require_sound(*trace);
  StringSink sink;
  TextWriter out(sink);
  tell::write(*trace, out);
  require(out.finish().has_value(), "memory can be written");
  const auto back = read(sink.bytes(), 1);
  require(back.has_value(), "what was written can be read: " + (back ? std::string() : to_string(back.error())));
  fuzzing::require_same(*trace, *back, "read", "written and read");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (!tell::is_tell(bytes)) return 0;
  check(bytes);
  if (size >= sizeof(tell::FileHeader)) check(with_checksums(bytes));
  return 0;
}
