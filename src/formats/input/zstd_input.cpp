#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "formats/input/compressed_input.h"

namespace telltale {
namespace {

class ZstdInput : public CompressedInput {
 public:
  ZstdInput(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes)
      : CompressedInput(std::move(file), std::move(first_bytes), max_text_bytes),
        stream_(ZSTD_createDStream()),
        text_(ZSTD_DStreamOutSize()) {
    // `zstd --long` uses windows of up to 2 GiB; the limit on the text guards against abuse.
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, 31);
  }

 protected:
  std::size_t decompress(std::span<char> into) override {
    std::size_t filled = 0;
    for (;;) {
      if (taken_ == written_) refill_text();
      const std::size_t size = std::min(into.size() - filled, written_ - taken_);
      std::memcpy(into.data() + filled, text_.data() + taken_, size);
      taken_ += size;
      filled += size;
      if (is_damaged_ && taken_ == written_) mark_cut();
      // When the last piece was full, zstd may hold more.
      if (filled == into.size() || written_ < text_.size()) return filled;
    }
  }

  bool is_at_boundary() const override { return is_between_frames_; }

 private:
  // What comes out in front of damage depends on the room that zstd is given: it gets the same room however the text is
  // read, so that the text is the same too.
  void refill_text() {
    ZSTD_inBuffer in{compressed().data(), compressed().size(), 0};
    ZSTD_outBuffer out{text_.data(), text_.size(), 0};
    const std::size_t status = ZSTD_decompressStream(stream_.get(), &out, &in);
    consume(in.pos);
    is_damaged_ = ZSTD_isError(status) != 0;
    if (in.pos > 0 || out.pos > 0) is_between_frames_ = status == 0;
    taken_ = 0;
    written_ = out.pos;
  }

  struct FreeStream {
    void operator()(ZSTD_DStream* stream) const { ZSTD_freeDStream(stream); }
  };
  std::unique_ptr<ZSTD_DStream, FreeStream> stream_;
  std::vector<char> text_;
  std::size_t taken_ = 0, written_ = 0;  // of text_
  bool is_between_frames_ = false;
  bool is_damaged_ = false;
};

}  // namespace

std::unique_ptr<TextInput> make_zstd_input(FileBytes file, std::string first_bytes, std::uint64_t max_text_bytes) {
  return std::make_unique<ZstdInput>(std::move(file), std::move(first_bytes), max_text_bytes);
}

}  // namespace telltale
