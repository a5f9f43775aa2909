#include "bindings/core/chosen_kinds.h"

#include <fmt/ranges.h>

#include "words/suggestion.h"

namespace telltale::python {

std::string no_such_word(const std::string& what, const std::string& word, const std::vector<std::string>& known) {
  const std::string near = suggestion(word, known);
  if (!near.empty()) return fmt::format("there is no {} '{}'{}", what, word, near);
  return fmt::format("there is no {} '{}'; there are {}", what, word, fmt::join(known, ", "));
}

Result<KindSet> kinds_named(const std::vector<std::string>& names) {
  KindSet kinds;
  for (const std::string& name : names) {
    const std::optional<Kind> kind = kind_named(name);
    if (!kind) {
      std::vector<std::string> known;
      for (int i = 0; i < kKindCount; ++i) known.emplace_back(name_of(static_cast<Kind>(i)));
      return failure(no_such_word("kind", name, known));
    }
    kinds.add(*kind);
  }
  return kinds;
}

}  // namespace telltale::python
