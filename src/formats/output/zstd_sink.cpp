#include <zstd.h>

#include <vector>

#include "formats/output/compressing_sinks.h"

namespace telltale {
namespace {

struct ContextDeleter {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};

class ZstdSink : public ByteSink {
 public:
  explicit ZstdSink(ByteSink& target) : target_(target), context_(ZSTD_createCCtx()), output_(ZSTD_CStreamOutSize()) {
    if (context_) ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_checksumFlag, 1);
  }

  Result<void> write(std::string_view bytes) override { return compress(bytes, ZSTD_e_continue); }

  Result<void> finish() override {
    if (auto done = compress({}, ZSTD_e_end); !done) return done;
    return target_.finish();
  }

 private:
  Result<void> compress(std::string_view bytes, ZSTD_EndDirective directive) {
    if (!context_) return failure("could not be compressed: there is not enough memory");
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    for (;;) {
      ZSTD_outBuffer output{output_.data(), output_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
      if (ZSTD_isError(left)) return failure(std::string("could not be compressed: ") + ZSTD_getErrorName(left));
      if (auto done = target_.write({output_.data(), output.pos}); !done) return done;
      const bool is_done = directive == ZSTD_e_end ? left == 0 : input.pos == input.size;
      if (is_done) return {};
    }
  }

  ByteSink& target_;
  std::unique_ptr<ZSTD_CCtx, ContextDeleter> context_;
  std::vector<char> output_;
};

}  // namespace

std::unique_ptr<ByteSink> make_zstd_sink(ByteSink& target) { return std::make_unique<ZstdSink>(target); }

}  // namespace telltale
