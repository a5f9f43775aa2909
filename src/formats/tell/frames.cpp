#include "formats/tell/frames.h"

#include <zstd.h>

#include <algorithm>
#include <cstring>

#include "tell/crc32c.h"

namespace telltale::tell {
namespace {

// The header at `offset` when it is sound.
std::optional<ChunkHeader> header_at(Bytes file, std::uint64_t offset) {
  ChunkHeader header;
  if (offset + sizeof header > file.size()) return std::nullopt;
  std::memcpy(&header, file.data() + offset, sizeof header);
  const bool is_sound = header.mark == kChunkMark && header.stored_bytes <= kMaxPayloadBytes &&
                        header.raw_bytes <= kMaxPayloadBytes &&
                        header.header_crc == crc32c(&header, offsetof(ChunkHeader, header_crc));
  return is_sound ? std::optional(header) : std::nullopt;
}

// Where a sound header stands at or behind `offset`; the file's size when there is none.
std::uint64_t next_header(Bytes file, std::uint64_t offset) {
  for (;; ++offset) {
    if (offset + sizeof(ChunkHeader) > file.size()) return file.size();
    const std::size_t starts = file.size() - sizeof(ChunkHeader) + 1 - offset;  // where a header may begin
    const void* found = std::memchr(file.data() + offset, kChunkMark & 0xFF, starts);
    if (found == nullptr) return file.size();
    offset = static_cast<std::uint64_t>(static_cast<const unsigned char*>(found) - file.data());
    if (header_at(file, offset)) return offset;
  }
}

bool is_trailer(Bytes bytes) {
  return bytes.size() == sizeof(Trailer) &&
         std::memcmp(bytes.data() + offsetof(Trailer, magic), kTrailerMagic, sizeof kTrailerMagic) == 0;
}

class Scan {
 public:
  explicit Scan(Bytes file) : file_(file) {}

  FrameScan run() {
    std::uint64_t at = sizeof(FileHeader);
    FileHeader header;
    std::memcpy(&header, file_.data(), sizeof header);
    if (header.reserved != 0) note_damage(offsetof(FileHeader, reserved), 1);
    while (at < file_.size()) {
      if (is_trailer(file_.subspan(at))) {
        take_trailer(at);
        return std::move(scan_);
      }
      const auto found = header_at(file_, at);
      if (!found) {
        const std::uint64_t next = next_header(file_, at);
        const bool ends_here = next == file_.size();
        if (ends_here && file_.size() - at < sizeof(ChunkHeader)) return cut_at(at);
        if (ends_here) return note_damage(at, 1), std::move(scan_);
        // The gap in the sequence says how many chunks these bytes were.
        damaged_at_ = at;
        at = next;
        continue;
      }
      const std::uint64_t end = at + sizeof(ChunkHeader) + found->stored_bytes;
      if (end > file_.size()) return cut_at(at);
      take_chunk(at, *found);
      at = end;
    }
    return std::move(scan_);
  }

 private:
  void take_chunk(std::uint64_t offset, const ChunkHeader& header) {
    const bool is_late = header.sequence >= next_sequence_;
    const std::uint64_t skipped = is_late ? header.sequence - next_sequence_ : 0;
    if (damaged_at_ != 0 || skipped > 0 || !is_late)
      note_damage(damaged_at_ != 0 ? damaged_at_ : offset, std::max<std::uint64_t>(skipped, 1));
    damaged_at_ = 0;
    if (!is_late) return;  // a number that was given already: not part of this recording
    next_sequence_ = header.sequence + 1;
    scan_.frames.push_back({offset, header, file_.data() + offset + sizeof header});
  }

  void take_trailer(std::uint64_t offset) {
    Trailer trailer;
    std::memcpy(&trailer, file_.data() + offset, sizeof trailer);
    const bool points_at_index = std::ranges::any_of(scan_.frames, [&](const Frame& frame) {
      return frame.offset == trailer.last_index && frame.kind() == ChunkKind::kIndex;
    });
    scan_.has_trailer = true;
    if (!points_at_index) note_damage(offset, 1);
  }

  FrameScan cut_at(std::uint64_t offset) {
    scan_.was_cut = true;
    scan_.cut_offset = offset;
    return std::move(scan_);
  }

  void note_damage(std::uint64_t offset, std::uint64_t chunks) {
    if (scan_.lost_chunks == 0) scan_.first_damage = offset;
    scan_.lost_chunks += chunks;
  }

  Bytes file_;
  FrameScan scan_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t damaged_at_ = 0;  // where bytes began that are no chunk; 0: nowhere
};

}  // namespace

FrameScan scan_frames(Bytes file) { return Scan(file).run(); }

std::optional<Payload> Payload::open(const Frame& frame) {
  const ChunkHeader& header = frame.header;
  if (crc32c(frame.stored, header.stored_bytes) != header.payload_crc) return std::nullopt;
  Payload payload;
  if (static_cast<Codec>(header.codec) == Codec::kStored) {
    if (header.raw_bytes != header.stored_bytes) return std::nullopt;
    payload.bytes_ = {frame.stored, header.stored_bytes};
    return payload;
  }
  if (static_cast<Codec>(header.codec) != Codec::kZstd) return std::nullopt;
  payload.decompressed_ = std::make_unique_for_overwrite<unsigned char[]>(header.raw_bytes);
  const std::size_t size =
      ZSTD_decompress(payload.decompressed_.get(), header.raw_bytes, frame.stored, header.stored_bytes);
  if (size != header.raw_bytes) return std::nullopt;
  payload.bytes_ = {payload.decompressed_.get(), header.raw_bytes};
  return payload;
}

}  // namespace telltale::tell
