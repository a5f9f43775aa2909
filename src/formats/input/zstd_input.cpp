#include <zstd.h>

#include <memory>

#include "formats/input/compressed_input.h"

namespace telltale {
namespace {

class ZstdInput : public CompressedInput {
 public:
  ZstdInput(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes)
      : CompressedInput(std::move(file), std::move(first_bytes), max_text_bytes), stream_(ZSTD_createDStream()) {
    // `zstd --long` uses windows of up to 2 GiB; the limit on the text guards against abuse.
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, 31);
  }

 protected:
  std::size_t decompress(std::span<char> into) override {
    ZSTD_inBuffer in{compressed().data(), compressed().size(), 0};
    ZSTD_outBuffer out{into.data(), into.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
    consume(in.pos);
    if (ZSTD_isError(status) != 0) mark_cut();
    if (in.pos > 0 || out.pos > 0) is_between_frames_ = status == 0;
    return out.pos;
  }

  bool is_at_boundary() const override { return is_between_frames_; }

 private:
  struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  bool is_between_frames_ = false;
};

}  // namespace

std::unique_ptr<TextInput> make_zstd_input(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes) {
  return std::make_unique<ZstdInput>(std::move(file), std::move(first_bytes), max_text_bytes);
}

}  // namespace telltale
