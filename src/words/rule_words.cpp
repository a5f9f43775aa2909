#include "words/rule_words.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "words/suggestion.h"

namespace telltale {

Result<const RuleInfo*> rule_named(const std::string& id) {
  const auto rules = rule_infos();
  const auto rule = std::ranges::find(rules, id, &RuleInfo::id);
  if (rule != rules.end()) return &*rule;
  std::vector<std::string> known;
  for (const RuleInfo& each : rules) known.emplace_back(each.id);
  const std::string near = suggestion(id, known);
  return failure(fmt::format("there is no rule '{}'{}", id,
                             near.empty() ? fmt::format("; there are {}", fmt::join(known, ", ")) : near));
}

}  // namespace telltale
