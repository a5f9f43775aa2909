// Answers remembered for the strings of a LocalNames.
#pragma once

#include <optional>
#include <vector>

#include "base/interned_strings.h"

namespace telltale {

// The answer for a string id, in a table that grows with the ids.
template <typename Answer>
std::optional<Answer>& remembered(std::vector<std::optional<Answer>>& answers, StringId id) {
  if (id >= answers.size()) answers.resize(id + id / 2 + 16);
  return answers[id];
}

}  // namespace telltale
