#include "answers/explain.h"

#include <algorithm>
#include <span>
#include <vector>

#include "advise/memory_rule.h"
#include "answers/suggestion.h"
#include "report/analyze_markdown.h"
#include "report/analyze_terminal.h"

namespace telltale::answers {

std::string ExplainAnswer::markdown() const { return rules_markdown(rules); }

std::string ExplainAnswer::terminal(const TextStyle& style) const {
  std::string text;
  for (const RuleInfo& rule : rules) text.append(text.empty() ? "" : "\n").append(rule_text(rule, style));
  return text;
}

Result<ExplainAnswer> explain(const ExplainRequest& request) {
  if (request.rule == "all") {
    ExplainAnswer answer;
    for (const std::span<const RuleInfo> rules : {rule_infos(), memory_rule_infos()})
      answer.rules.insert(answer.rules.end(), rules.begin(), rules.end());
    return answer;
  }
  const auto rule = rule_named(request.rule);
  if (!rule) return std::unexpected(rule.error());
  return ExplainAnswer{{**rule}};
}

Result<const RuleInfo*> rule_named(const std::string& id) {
  std::vector<std::string> known;
  for (const std::span<const RuleInfo> rules : {rule_infos(), memory_rule_infos()}) {
    const auto rule = std::ranges::find(rules, id, &RuleInfo::id);
    if (rule != rules.end()) return &*rule;
    for (const RuleInfo& each : rules) known.emplace_back(each.id);
  }
  return failure(no_such_word("rule", id, known));
}

}  // namespace telltale::answers
