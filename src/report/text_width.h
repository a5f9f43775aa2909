// Text as it stands on a terminal: how many columns it takes, and how it is cut to fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// Columns that UTF-8 text takes; wide East Asian characters take two.
std::size_t display_width(std::string_view text);

// What a file says must not move the cursor: control characters become "·" and line breaks spaces.
std::string printable(std::string_view text);

// At most `width` columns, with "…" where something was cut off at the end.
std::string cut_to_width(std::string_view text, std::size_t width);

// Lines of at most `width` columns, broken between words; a word that is longer is cut.
std::vector<std::string> wrapped_words(std::string_view text, std::size_t width);
// These lines as one text, each behind the indent and with a line break, at most `width` columns with it.
std::string paragraph_of(std::string_view text, std::size_t width, std::string_view indent = {});

std::string padded_left(std::string_view text, std::size_t width);   // right-aligned
std::string padded_right(std::string_view text, std::size_t width);  // left-aligned

}  // namespace telltale
