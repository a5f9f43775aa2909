#include <utility>

#include "advise/rule.h"

namespace telltale {
namespace {

Rule named(const char* id, Rule rule) {
  rule.info.id = id;
  return rule;
}

}  // namespace

std::span<const Rule> all_rules() {
#define TELLTALE_RULE(name) named(#name, rules::name()),
  static const auto& kRules = *new std::vector<Rule>{
  // for ever: a diagnosis may go on while the process ends
#include "advise/rules/list.inc"
  };
#undef TELLTALE_RULE
  return kRules;
}

std::span<const RuleInfo> rule_infos() {
  static const auto& kInfos = *[] {
    auto* const infos = new std::vector<RuleInfo>;
    for (const Rule& rule : all_rules()) infos->push_back(rule.info);
    return infos;
  }();
  return kInfos;
}

}  // namespace telltale
