#include "formats/output/byte_sink.h"

#include "formats/output/compressing_sinks.h"

namespace telltale {
namespace {

class PassingSink : public ByteSink {
 public:
  explicit PassingSink(ByteSink& target) : target_(target) {}
  Result<void> write(std::string_view bytes) override { return target_.write(bytes); }
  Result<void> finish() override { return target_.finish(); }

 private:
  ByteSink& target_;
};

}  // namespace

UncompressedName without_compression(std::string_view path) {
  constexpr std::pair<std::string_view, Compression> kEndings[] = {{".gz", Compression::kGzip},
                                                                   {".zst", Compression::kZstd}};
  for (const auto& [ending, compression] : kEndings)
    if (path.ends_with(ending)) return {path.substr(0, path.size() - ending.size()), compression};
  return {path};
}

std::unique_ptr<ByteSink> compressing_sink(Compression compression, ByteSink& target) {
  switch (compression) {
    case Compression::kGzip:
      return make_gzip_sink(target);
    case Compression::kZstd:
      return make_zstd_sink(target);
    case Compression::kNone:
      break;
  }
  return std::make_unique<PassingSink>(target);
}

}  // namespace telltale
