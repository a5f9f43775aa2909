// Fields of comma-separated values, as RFC 4180 has them.
#pragma once

#include <string>
#include <string_view>

namespace telltale {

// Lines end with this.
inline constexpr std::string_view kCsvLineEnd = "\r\n";

// Appends the field, in quotation marks where it needs them.
void append_csv_field(std::string& out, std::string_view field);

}  // namespace telltale
