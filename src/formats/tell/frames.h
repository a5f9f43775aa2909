// The frame of a .tell file: which chunks it holds, whatever is damaged or missing between them.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "formats/tell/whole_text.h"
#include "tell/layout.h"
#include "tell/varint.h"
#include "trace/anomalies.h"

namespace telltale::tell {

// A chunk whose header is sound.
struct Frame {
  std::uint64_t offset = 0;  // of its header in the file
  ChunkHeader header{};
  const unsigned char* stored = nullptr;

  ChunkKind kind() const { return static_cast<ChunkKind>(header.kind); }
};

struct FrameScan {
  std::vector<Frame> frames;  // in the order of the file
  bool was_cut = false;       // the file ends inside a chunk or without its last bytes, which start here:
  std::uint64_t cut_offset = 0;
  bool has_trailer = false;
  std::uint64_t lost_chunks = 0;  // as the gaps in the sequence tell
  std::uint64_t first_damage = 0;
};

// `file` starts with a FileHeader. Goes from header to header; behind a bad one, looks for the next good one. Linear.
FrameScan scan_frames(Bytes file);

// A chunk's payload, decompressed where need be. Owns that memory; move-only.
class Payload {
 public:
  // Nothing when the checksum or the compressed frame is wrong.
  static std::optional<Payload> open(const Frame& frame);

  ByteReader reader() const { return {bytes_.data(), bytes_.data() + bytes_.size()}; }
  Bytes bytes() const { return bytes_; }

 private:
  std::unique_ptr<unsigned char[]> decompressed_;
  Bytes bytes_;
};

}  // namespace telltale::tell
