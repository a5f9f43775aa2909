// JSON text made clean: strings without their escapes, values without white space and without errors.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace telltale {

// What had to be repaired in a string.
struct Repairs {
  bool invalid_escape = false;
  bool invalid_utf8 = false;
  bool control_character = false;
};

// The text that the inside of a JSON string stands for, as valid UTF-8.
std::string unescaped(std::string_view inside, Repairs& repairs);

// A JSON value without white space, its numbers and strings as they were written. Bare words that JSON does not know
// (NaN, inf) become strings, invalid UTF-8 is repaired, raw control characters are escaped. Nothing when the text is
// no JSON value. Deep nesting costs memory, not stack.
std::optional<std::string> compact_json(std::string_view text);

}  // namespace telltale
