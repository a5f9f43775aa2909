#include "answers/suggestion.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/amounts.h"

namespace telltale::answers {
namespace {

// How many letters must be added, removed, replaced or swapped with their neighbor to get from one to the other.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> before, last(to.size() + 1), now(to.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= from.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t cost = from[i - 1] == to[j - 1] ? 0 : 1;
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + cost});
      const bool is_swap = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (is_swap) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = last;
    last = now;
  }
  return last.back();
}

}  // namespace

std::string suggestion(std::string_view word, const std::vector<std::string>& known) {
  std::string nearest;
  std::size_t least = word.size();
  for (const std::string& candidate : known) {
    const std::size_t distance = edit_distance(word, candidate);
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  const bool is_near = !nearest.empty() && least <= std::max<std::size_t>(1, nearest.size() / 3);
  return is_near ? "; did you mean '" + nearest + "'?" : std::string();
}

std::string suggestion_or_choice(std::string_view word, const std::vector<std::string>& known) {
  const std::string near = suggestion(word, known);
  return near.empty() ? "; choose " + listed(known, "or") : near;
}

std::string no_such_word(std::string_view what, std::string_view word, const std::vector<std::string>& known) {
  return fmt::format("there is no {} '{}'{}", what, word, suggestion_or_choice(word, known));
}

}  // namespace telltale::answers
