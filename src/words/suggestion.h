// Guesses what a mistyped word was meant to be.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telltale {

// "; did you mean 'top'?", or nothing when no known word is near.
std::string suggestion(std::string_view word, const std::vector<std::string>& known);

}  // namespace telltale
