// The parts of pickles that are written as lines of text, as protocol 0 does.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "formats/memory_snapshot/values.h"

namespace telltale::memory_snapshot {

// "12", "01" for True, "12L", "1.5": the number of an operation I, L or F.
std::optional<ValueId> number_in_line(char operation, std::string_view line, Values& values);

// Text in Python's raw-unicode-escape, as UTF-8.
std::string raw_unicode(std::string_view line);

// A string of Python 2 in its quotation marks.
std::optional<std::string> quoted_text(std::string_view line);

// The bytes that a text of characters up to 255 stands for; nothing where it has others.
std::optional<std::string> latin1_bytes(std::string_view utf8);

// The start of a text, fit to be printed.
std::string printable(std::string_view text);

}  // namespace telltale::memory_snapshot
