// UTF-8: is it valid, and if not, what is the nearest text that is.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

bool is_utf8(std::string_view text);

// The text with each maximal invalid sequence replaced by U+FFFD, as web browsers do; valid text is unchanged.
std::string repaired_utf8(std::string_view text);

}  // namespace telltale
