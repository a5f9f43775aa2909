#include "report/rules_markdown.h"

#include <fmt/format.h>

#include "report/analyze_markdown.h"

namespace telltale {
namespace {

std::string section_of(const RuleInfo& rule) {
  const std::pair<std::string_view, std::string_view> parts[] = {
      {"Looks for", rule.looks_for}, {"Needs", rule.needs}, {"Saving", rule.saving}, {"How well it held", rule.held}};
  std::string text = fmt::format("\n### {}\n\n{}.\n\n", rule.id, markdown_escaped(rule.title));
  for (const auto& [label, words] : parts)
    if (!words.empty()) text += fmt::format("- **{}:** {}\n", label, markdown_escaped(words));
  return text;
}

}  // namespace

std::string rules_markdown(std::span<const RuleInfo> rules) {
  std::string text = "| rule | what it finds |\n|---|---|\n";
  for (const RuleInfo& rule : rules)
    text += fmt::format("| [{}](#{}) | {} |\n", rule.id, rule.id, markdown_escaped(rule.title));
  for (const RuleInfo& rule : rules) text += section_of(rule);
  return text;
}

}  // namespace telltale
