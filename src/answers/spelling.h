// What options are called where a question comes from, so that a sentence about one names it as its reader wrote it.
#pragma once

#include <string>
#include <string_view>

namespace telltale::answers {

enum class Spelling {
  kFlags,     // --min-saving 5, as on a command line
  kKeywords,  // min_saving=5, as in Python or in a URL
};

// Of an option by its keyword: "min_saving" is "--min-saving" or "min_saving".
std::string spelled(Spelling spelling, std::string_view keyword);

// With a value: "--steps 7..9" or "steps=7..9". In quotation marks where the value could be taken for something else:
// "--remove 'kernel:'".
std::string spelled(Spelling spelling, std::string_view keyword, std::string_view value);

// Of an option that is on or off: "--no-sync" or "no_sync=True".
std::string switched_on(Spelling spelling, std::string_view keyword);

}  // namespace telltale::answers
