#include "compression.h"

#include <zlib.h>
#include <zstd.h>

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <utility>

namespace telltale::oracle {
namespace {

constexpr int kGzipWindowBits = 15 + 16;
constexpr std::size_t kChunkBytes = 1 << 16;

struct Unpacked {
  std::string text;
  bool is_whole = false;  // the input ended where a member or frame did, within the limit
};

Unpacked inflate_members(std::string_view bytes, std::size_t most) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) throw std::runtime_error("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  Unpacked unpacked;
  std::string chunk(kChunkBytes, '\0');
  for (;;) {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    const int status = inflate(&stream, Z_SYNC_FLUSH);
    unpacked.text.append(chunk, 0, chunk.size() - stream.avail_out);
    if (unpacked.text.size() > most) break;
    if (status == Z_STREAM_END) {
      unpacked.is_whole = stream.avail_in == 0;
      if (unpacked.is_whole || inflateReset(&stream) != Z_OK) break;
    } else if (status != Z_OK || (stream.avail_in == 0 && stream.avail_out > 0)) {
      break;
    }
  }
  inflateEnd(&stream);
  return unpacked;
}

Unpacked decompress_frames(std::string_view bytes, std::size_t most) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  Unpacked unpacked;
  std::string chunk(kChunkBytes, '\0');
  for (;;) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream.get(), &out, &in);
    if (ZSTD_isError(status)) break;
    unpacked.text.append(chunk, 0, out.pos);
    if (unpacked.text.size() > most) break;
    unpacked.is_whole = status == 0 && in.pos == in.size;
    if (unpacked.is_whole || (in.pos == in.size && out.pos < out.size)) break;
  }
  return unpacked;
}

}  // namespace

std::string gzipped(std::string_view text) {
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, kGzipWindowBits, 8, Z_DEFAULT_STRATEGY) != Z_OK)
    throw std::runtime_error("zlib does not start");
  std::string bytes(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(bytes.data());
  stream.avail_out = static_cast<uInt>(bytes.size());
  const int status = deflate(&stream, Z_FINISH);
  bytes.resize(stream.total_out);
  deflateEnd(&stream);
  if (status != Z_STREAM_END) throw std::runtime_error("zlib does not finish");
  return bytes;
}

std::string zstd_compressed(std::string_view text) {
  std::string bytes(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(bytes.data(), bytes.size(), text.data(), text.size(), 3);
  if (ZSTD_isError(size)) throw std::runtime_error(ZSTD_getErrorName(size));
  bytes.resize(size);
  return bytes;
}

std::string text_before_gzip_cut(std::string_view bytes) { return inflate_members(bytes, SIZE_MAX).text; }

std::string text_before_zstd_cut(std::string_view bytes) { return decompress_frames(bytes, SIZE_MAX).text; }

std::optional<std::string> whole_gzip_text(std::string_view bytes, std::size_t most) {
  Unpacked unpacked = inflate_members(bytes, most);
  return unpacked.is_whole ? std::optional(std::move(unpacked.text)) : std::nullopt;
}

std::optional<std::string> whole_zstd_text(std::string_view bytes, std::size_t most) {
  Unpacked unpacked = decompress_frames(bytes, most);
  return unpacked.is_whole ? std::optional(std::move(unpacked.text)) : std::nullopt;
}

}  // namespace telltale::oracle
