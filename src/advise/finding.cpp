#include "advise/finding.h"

#include <algorithm>

namespace telltale {
namespace {

void note_also_explained(Finding& finding, const Finding& other) {
  std::vector<std::string>& names = finding.also_explains;
  const auto add = [&](const std::string& rule) {
    if (rule != finding.rule && std::find(names.begin(), names.end(), rule) == names.end()) names.push_back(rule);
  };
  add(other.rule);
  for (const std::string& rule : other.also_explains) add(rule);
}

bool shares_evidence(const Finding& a, const Finding& b) {
  return std::any_of(a.evidence.begin(), a.evidence.end(), [&](EventId event) {
    return std::find(b.evidence.begin(), b.evidence.end(), event) != b.evidence.end();
  });
}

}  // namespace

std::string_view name_of(Confidence confidence) {
  constexpr std::array<std::string_view, 3> kNames = {"low", "medium", "high"};
  return kNames[static_cast<std::size_t>(confidence)];
}

std::vector<Finding> ranked(std::vector<Finding> findings, Nanoseconds least) {
  std::erase_if(findings,
                [&](const Finding& finding) { return is_about_time(finding) && finding.saving.likely < least; });
  std::stable_sort(findings.begin(), findings.end(), [](const Finding& a, const Finding& b) {
    return std::max<Nanoseconds>(a.saving.likely, 0) > std::max<Nanoseconds>(b.saving.likely, 0);
  });
  std::vector<Finding> kept;
  for (Finding& finding : findings) {
    const auto same_fix = std::find_if(kept.begin(), kept.end(), [&](const Finding& other) {
      return is_about_time(finding) && is_about_time(other) && other.fix.id == finding.fix.id;
    });
    if (same_fix != kept.end()) {
      note_also_explained(*same_fix, finding);
      continue;
    }
    for (Finding& greater : kept)
      if (is_about_time(finding) && shares_evidence(greater, finding)) note_also_explained(greater, finding);
    kept.push_back(std::move(finding));
  }
  return kept;
}

}  // namespace telltale
