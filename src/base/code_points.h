// Characters as numbers: Unicode's code points.
//
// Pure and thread-safe.
#pragma once

#include <cstdint>
#include <string>

namespace telltale {

// What stands for text that was not valid.
inline constexpr std::uint32_t kReplacementCharacter = 0xFFFD;

// Appends the code point, below 0x110000, in UTF-8. Half of a surrogate pair becomes three bytes that are not valid
// UTF-8.
void append_utf8(std::string& out, std::uint32_t code);

}  // namespace telltale
