#include "advise/fix_replay.h"

#include <algorithm>
#include <utility>

#include "analysis/host_work.h"

namespace telltale {

std::string why_not_tried(const Finding& finding) {
  if (finding.edit != nullptr) return {};
  return is_about_time(finding) ? "Its saving does not come from a replay, so that it cannot be tried with others."
                                : "It saves no time that a replay could show.";
}

FixReplay::FixReplay(const Trace& trace, const StepGraph& graph, const Diagnosis& diagnosis)
    : trace_(&trace),
      timing_(diagnosis.timing),
      observer_(diagnosis.observer.cost),
      rest_(diagnosis.observer.rest),
      step_(diagnosis.unobserved_ns) {
  for (const Finding& finding : diagnosis.findings) {
    Fix fix{finding.edit, finding.saving.likely};
    if (fix.edit != nullptr) {
      const KeptEdit* const alone[] = {fix.edit.get()};
      fix.differs = fix.saves - (step_ - unobserved(graph.replay(combined(trace, observer_, alone)), fix.edit->batch));
    }
    fixes_.push_back(std::move(fix));
  }
}

Nanoseconds FixReplay::unobserved(const ReplayedStep& step, int batch) const {
  return static_cast<Nanoseconds>(static_cast<double>(step.period) * rest_ / batch);
}

FixedStep FixReplay::with(std::span<const std::size_t> findings) const {
  std::vector<std::size_t> tried(findings.begin(), findings.end());
  std::ranges::sort(tried);
  tried.erase(std::ranges::unique(tried).begin(), tried.end());
  std::erase_if(tried, [&](std::size_t i) { return i >= fixes_.size() || fixes_[i].edit == nullptr; });

  std::vector<const KeptEdit*> edits;
  Nanoseconds differs = 0, largest = 0;
  for (const std::size_t i : tried) {
    edits.push_back(fixes_[i].edit.get());
    differs += fixes_[i].differs;
    largest = std::max(largest, fixes_[i].saves);
  }
  const StepGraph& graph = graph_.get([&] { return StepGraph(*trace_, timing_, host_work_by_event(*trace_)); });
  const ReplayedStep replayed = graph.replay(combined(*trace_, observer_, edits));
  const Nanoseconds saved = edits.empty() ? 0
                                          : std::clamp(step_ - unobserved(replayed, batch_with(edits)) + differs,
                                                       std::min(largest, step_), step_);
  return {step_, step_ - saved, batch_with(edits), WhatIf::bottleneck_of(replayed)};
}

}  // namespace telltale
