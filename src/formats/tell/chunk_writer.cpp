#include "formats/tell/chunk_writer.h"

#include <zstd.h>

#include <cassert>
#include <cstring>

#include "tell/crc32c.h"
#include "tell/varint.h"

namespace telltale::tell {
namespace {

constexpr int kCompressionLevel = 3;

template <typename Struct>
std::string_view bytes_of(const Struct& value) {
  return {reinterpret_cast<const char*>(&value), sizeof value};
}

void append_varint(std::string& bytes, std::uint64_t value) {
  unsigned char buffer[kMaxVarintBytes];
  const unsigned char* end = put_varint(buffer, value);
  bytes.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
}

}  // namespace

struct ChunkWriter::Compressor {
  ZSTD_CCtx* context = ZSTD_createCCtx();
  std::string room;

  Compressor() = default;
  ~Compressor() { ZSTD_freeCCtx(context); }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Empty when it would not be smaller.
  std::string_view compressed(std::string_view payload) {
    if (context == nullptr) return {};
    room.resize(ZSTD_compressBound(payload.size()));
    const std::size_t size =
        ZSTD_compressCCtx(context, room.data(), room.size(), payload.data(), payload.size(), kCompressionLevel);
    if (ZSTD_isError(size) != 0 || size >= payload.size()) return {};
    return std::string_view(room).substr(0, size);
  }
};

ChunkWriter::ChunkWriter(TextWriter& out) : out_(out), compressor_(std::make_unique<Compressor>()) {
  FileHeader header{{}, kMajorVersion, kMinorVersion, 0};
  std::memcpy(header.magic, kMagic, sizeof kMagic);
  append(bytes_of(header));
}
ChunkWriter::~ChunkWriter() = default;

void ChunkWriter::append(std::string_view bytes) {
  written_ += bytes.size();
  out_ << bytes;
}

void ChunkWriter::write(ChunkKind kind, std::string_view payload) {
  assert(payload.size() <= kMaxPayloadBytes);
  const std::string_view smaller = compressor_->compressed(payload);
  const std::string_view stored = smaller.empty() ? payload : smaller;
  ChunkHeader header{};
  header.mark = kChunkMark;
  header.kind = static_cast<std::uint16_t>(kind);
  header.codec = static_cast<std::uint8_t>(smaller.empty() ? Codec::kStored : Codec::kZstd);
  header.stored_bytes = static_cast<std::uint32_t>(stored.size());
  header.raw_bytes = static_cast<std::uint32_t>(payload.size());
  header.sequence = sequence_++;
  header.payload_crc = crc32c(stored.data(), stored.size());
  header.header_crc = crc32c(&header, offsetof(ChunkHeader, header_crc));
  entries_.push_back({kind, written_});
  append(bytes_of(header));
  append(stored);
}

void ChunkWriter::end() {
  std::string index;
  append_varint(index, 0);  // there is none before it
  append_varint(index, entries_.size());
  std::uint64_t last = 0;
  for (const Entry& entry : entries_) {
    append_varint(index, static_cast<std::uint64_t>(entry.kind));
    append_varint(index, entry.offset - last);
    last = entry.offset;
  }
  Trailer trailer{written_, {}};
  std::memcpy(trailer.magic, kTrailerMagic, sizeof kTrailerMagic);
  write(ChunkKind::kIndex, index);
  append(bytes_of(trailer));
}

}  // namespace telltale::tell
