// Compressed forms of a text, made and undone with the reference libraries.
#pragma once

#include <string>
#include <string_view>

namespace telltale::oracle {

std::string gzipped(std::string_view text);
std::string zstd_compressed(std::string_view text);

// As much text as the beginning of a compressed file yields.
std::string text_before_gzip_cut(std::string_view bytes);
std::string text_before_zstd_cut(std::string_view bytes);

}  // namespace telltale::oracle
