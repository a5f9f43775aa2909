// Compressed forms of a text, made and undone with the reference libraries.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace telltale::oracle {

std::string gzipped(std::string_view text);
std::string zstd_compressed(std::string_view text);

// The text of a file that is whole and holds no more than `most` bytes of text, in any number of members or frames.
std::optional<std::string> whole_gzip_text(std::string_view bytes, std::size_t most);
std::optional<std::string> whole_zstd_text(std::string_view bytes, std::size_t most);

// As much text as the beginning of a compressed file yields.
std::string text_before_gzip_cut(std::string_view bytes);
std::string text_before_zstd_cut(std::string_view bytes);

}  // namespace telltale::oracle
