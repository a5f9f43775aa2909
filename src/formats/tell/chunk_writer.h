// The frame of a .tell file as it is written: header, chunks one behind the other, index, trailer.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "formats/output/text_writer.h"
#include "tell/layout.h"

namespace telltale::tell {

// Used by one thread. Errors wait in the TextWriter.
class ChunkWriter {
 public:
  // Writes the file's header.
  explicit ChunkWriter(TextWriter& out);
  ~ChunkWriter();
  ChunkWriter(const ChunkWriter&) = delete;
  ChunkWriter& operator=(const ChunkWriter&) = delete;

  // Compressed where that helps. At most kMaxPayloadBytes.
  void write(ChunkKind kind, std::string_view payload);
  // Writes the index and the trailer.
  void end();

 private:
  struct Entry {
    ChunkKind kind;
    std::uint64_t offset;
  };
  void append(std::string_view bytes);

  TextWriter& out_;
  struct Compressor;
  std::unique_ptr<Compressor> compressor_;
  std::uint64_t written_ = 0, sequence_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace telltale::tell
