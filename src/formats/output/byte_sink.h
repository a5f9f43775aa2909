// Where bytes go: a file, standard output, or a compressor in front of one of them.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/error.h"

namespace telltale {

// Used by one thread at a time. After an error nothing more may be written.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  virtual Result<void> write(std::string_view bytes) = 0;
  // Writes what was held back. Must be called once, at the end.
  virtual Result<void> finish() = 0;
};

enum class Compression : std::uint8_t { kNone, kGzip, kZstd };

// The path without the ending that names a compression (".gz", ".zst"), and which one that is.
struct UncompressedName {
  std::string_view path;
  Compression compression = Compression::kNone;
};
UncompressedName without_compression(std::string_view path);

// Compresses what is written to it into `target`, which must live as long. None: what is written to it as it is.
std::unique_ptr<ByteSink> compressing_sink(Compression compression, ByteSink& target);

}  // namespace telltale
