// Text and numbers inside of HTML.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

// Text that a browser shows as it is, in elements and in quoted attributes: names come from files and mean no markup.
// Bytes that are not UTF-8 and control characters are replaced.
std::string html_escaped(std::string_view text);

// The same, with "…" where more than `columns` would have been needed.
std::string html_cut(std::string_view text, std::size_t columns);

// A coordinate or a share: two decimals at most, none where they are zero.
std::string html_number(double value);

}  // namespace telltale
