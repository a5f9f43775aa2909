// Text as files hold it: valid UTF-8, strings of JSON, fields of comma-separated values.
//
// Pure and thread-safe.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

// Whether the text is valid UTF-8.
bool is_utf8(std::string_view text);

// The text with each maximal invalid sequence replaced by U+FFFD, as web browsers do; valid text is unchanged.
std::string repaired_utf8(std::string_view text);

// Appends the text in quotation marks, with its escapes. What is not UTF-8 is repaired, so that the result always is
// valid JSON.
void append_json_string(std::string& out, std::string_view text);

std::string json_string(std::string_view text);

// Comma-separated values, as RFC 4180 has them: lines end with this.
inline constexpr std::string_view kCsvLineEnd = "\r\n";

// Appends the field, in quotation marks where it needs them.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace telltale
