// Says that there is no such word, and what was probably meant.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telltale::answers {

// "; did you mean 'top'?", or nothing when no known word is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

// The same, or where none is near all that there are: "; choose info or top".
std::string suggestion_or_choice(std::string_view word, const std::vector<std::string>& known);

// "there is no kind 'kernal'; did you mean 'kernel'?"
std::string no_such_word(std::string_view what, std::string_view word, const std::vector<std::string>& known);

}  // namespace telltale::answers
