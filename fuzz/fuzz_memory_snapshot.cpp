// Any bytes as a memory snapshot: a pickle or JSON. What is read holds together, and can be written and read again.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "formats/input/text_in_memory.h"
#include "formats/memory_snapshot/read.h"
#include "formats/memory_snapshot/write.h"
#include "formats/output/text_writer.h"
#include "require.h"
#include "string_sink.h"
#include "trace_checks.h"

namespace {

using namespace telltale;
using fuzzing::require;
using fuzzing::StringSink;

Result<Trace> read(std::string_view bytes, std::size_t block_bytes) {
  TextInMemory input(bytes);
  ReadOptions options;
  options.threads = 1;
  options.block_bytes = block_bytes;
  return memory_snapshot::read(input, "input", options);
}

// The blocks of a segment touch and fill it.
void require_filled_segments(const Trace& trace) {
  std::size_t block = 0;
  for (std::size_t i = 0; i < trace.memory_segments.size(); ++i) {
    const MemorySegment& segment = trace.memory_segments[i];
    std::uint64_t next = segment.address;
    for (; block < trace.memory_blocks.size() && trace.memory_blocks[block].segment == i; ++block) {
      require(trace.memory_blocks[block].address == next, "blocks touch");
      require(trace.memory_blocks[block].bytes > 0, "blocks have bytes");
      next += static_cast<std::uint64_t>(trace.memory_blocks[block].bytes);
    }
    require(next == segment.address + static_cast<std::uint64_t>(segment.bytes), "blocks fill their segment");
  }
  require(block == trace.memory_blocks.size(), "every block has a segment");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto trace = read(bytes, 1 << 16), again = read(bytes, 3);
  require(trace.has_value() == again.has_value(), "whether a file is refused does not depend on blocks");
  if (!trace) return 0;
  fuzzing::require_same(*trace, *again, "large blocks", "small blocks");
  fuzzing::require_sound(*trace);
  require_filled_segments(*trace);
  StringSink sink;
  TextWriter out(sink);
  memory_snapshot::write(*trace, out, {});
  require(out.finish().has_value(), "memory can be written");
  const auto back = read(sink.bytes(), 1 << 16);
  require(back.has_value(), "what was written can be read: " + (back ? std::string() : to_string(back.error())));
  require(back->allocator_events.size() == trace->allocator_events.size(), "every entry is written");
  require_filled_segments(*back);
  return 0;
}
