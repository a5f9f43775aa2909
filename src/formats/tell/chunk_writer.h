// The frame of a .tell file as it is written: header, chunks one behind the other, index, trailer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "formats/output/byte_sink.h"
#include "tell/layout.h"

namespace telltale::tell {

// Used by one thread. After an error nothing more may be written.
class ChunkWriter {
 public:
  explicit ChunkWriter(ByteSink& sink);
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  Result<void> begin();
  // Compressed where that helps.
  Result<void> write(ChunkKind kind, std::string_view payload);
  // Writes the index and the trailer; the sink is left open.
  Result<void> end();

 private:
  struct Entry {
    ChunkKind kind;
    std::uint64_t offset;
  };
  Result<void> append(std::string_view bytes);

  ByteSink& sink_;
  struct Compressor;
  std::unique_ptr<Compressor> compressor_;
  std::uint64_t written_ = 0, sequence_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace telltale::tell
