// Strings as JSON writes them.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

// Appends the text in quotation marks, with its escapes. What is not UTF-8 is repaired, so that the result always is
// valid JSON.
void append_json_string(std::string& out, std::string_view text);

std::string json_string(std::string_view text);

}  // namespace telltale
