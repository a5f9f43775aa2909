#include "compression.h"

#include <zlib.h>
#include <zstd.h>

#include <memory>
#include <stdexcept>

namespace telltale::oracle {
namespace {

constexpr int kGzipWindowBits = 15 + 16;
constexpr std::size_t kChunkBytes = 1 << 16;

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

std::string text_before_gzip_cut(std::string_view bytes) {
  z_stream stream{};
  if (inflateInit2(&stream, kGzipWindowBits) != Z_OK) throw std::runtime_error("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  std::string text, chunk(kChunkBytes, '\0');
  int status = Z_OK;
  do {
    stream.next_out = reinterpret_cast<Bytef*>(chunk.data());
    stream.avail_out = static_cast<uInt>(chunk.size());
    status = inflate(&stream, Z_SYNC_FLUSH);
    text.append(chunk, 0, chunk.size() - stream.avail_out);
  } while (status == Z_OK && (stream.avail_in > 0 || stream.avail_out == 0));
  inflateEnd(&stream);
  return text;
}

std::string text_before_zstd_cut(std::string_view bytes) {
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream(ZSTD_createDStream(), ZSTD_freeDStream);
  ZSTD_inBuffer in{bytes.data(), bytes.size(), 0};
  std::string text, chunk(kChunkBytes, '\0');
  for (;;) {
    ZSTD_outBuffer out{chunk.data(), chunk.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream.get(), &out, &in);
    text.append(chunk, 0, out.pos);
    if (ZSTD_isError(status) || (out.pos == 0 && in.pos == in.size)) return text;
  }
}

}  // namespace telltale::oracle
