// The compressors; see compressing_sink().
#pragma once

#include <memory>

#include "formats/output/byte_sink.h"

namespace telltale {

std::unique_ptr<ByteSink> make_gzip_sink(ByteSink& target);
std::unique_ptr<ByteSink> make_zstd_sink(ByteSink& target);

}  // namespace telltale
