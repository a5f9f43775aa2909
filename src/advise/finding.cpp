#include "advise/finding.h"

#include <algorithm>

namespace telltale {
namespace {

bool contains(const std::vector<EventId>& events, EventId event) {
  return std::ranges::find(events, event) != events.end();
}

void note_also_explained(Finding& finding, const std::string& rule) {
  std::vector<std::string>& names = finding.also_explains;
  if (rule != finding.rule && std::ranges::find(names, rule) == names.end()) names.push_back(rule);
}

bool shares_evidence(const Finding& a, const Finding& b) {
  return std::ranges::any_of(a.evidence, [&](EventId event) { return contains(b.evidence, event); });
}

void join(Finding& card, Finding part) {
  for (const EventId event : part.evidence)
    if (card.evidence.size() < Finding::kMaxEvidence && !contains(card.evidence, event)) card.evidence.push_back(event);
  if (!card.source) card.source = std::move(part.source);
  for (const std::string& rule : part.also_explains) note_also_explained(card, rule);
  card.parts.push_back(
      {std::move(part.rule), std::move(part.title), std::move(part.explanation), part.saving, std::move(part.fix.id)});
}

}  // namespace

std::string_view name_of(Confidence confidence) {
  constexpr std::array<std::string_view, 3> kNames = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

bool is_one_change(std::string_view fix, std::string_view other) {
  const auto compiles = [](std::string_view id) { return id == "compile" || id == "compile_graphs"; };
  return fix == other || (compiles(fix) && compiles(other));
}

double bytes_for_time(const Finding& finding, Nanoseconds least) {
  return static_cast<double>(finding.saving_bytes) /
         static_cast<double>(std::max({finding.cost.value_or(0), least, Nanoseconds{1}}));
}

std::vector<Finding> ranked(std::vector<Finding> findings, Nanoseconds least) {
  std::erase_if(findings,
                [&](const Finding& finding) { return is_about_time(finding) && finding.saving.likely < least; });
  std::stable_sort(findings.begin(), findings.end(), [least](const Finding& a, const Finding& b) {
    if (is_about_time(a) || is_about_time(b))
      return std::max<Nanoseconds>(a.saving.likely, 0) > std::max<Nanoseconds>(b.saving.likely, 0);
    return bytes_for_time(a, least) > bytes_for_time(b, least);
  });
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const auto card = std::ranges::find_if(kept, [&](const Finding& other) {
      return is_about_time(finding) && is_about_time(other) && is_one_change(other.fix.id, finding.fix.id);
    });
    if (card != kept.end()) {
      join(*card, std::move(finding));
      continue;
    }
    for (Finding& greater : kept)
      if (is_about_time(finding) && shares_evidence(greater, finding)) note_also_explained(greater, finding.rule);
    kept.push_back(std::move(finding));
  }
  return kept;
}

}  // namespace telltale
