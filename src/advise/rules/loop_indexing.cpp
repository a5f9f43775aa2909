// A loop over the rows of a tensor calls the same operators for each.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "advise/patterns/row_loops.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.1;

// The backward pass has as many nodes as the forward pass has calls: it shrinks as that does.
void scale_backward(const Facts& facts, std::vector<float>& kept) {
  const Trace& trace = facts.trace;
  double before = 0, after = 0;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kOperator || facts.phases[event] != Phase::kForward) continue;
    ++before;
    after += static_cast<double>(kept[event]);
  }
  if (before == 0) return;
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (!is_on_device(trace.events.kind[event]) && facts.phases[event] == Phase::kBackward)
      kept[event] = static_cast<float>(after / before);
}

// Once for all rows instead of once per row: everything that the loop calls, and what the backward pass does for it.
Edit without_loops(const Facts& facts, const std::vector<RowLoop>& loops) {
  const Trace& trace = facts.trace;
  Edit edit = facts.unobserved;
  std::vector<float> kept(trace.events.size(), 1);  // by host event: the share that remains
  for (const RowLoop& loop : loops)
    for (const EventId call : loop.calls) {
      const EventId end = subtree_end(trace, call);
      for (EventId event = call; event < end; ++event) kept[event] = 1.0F / static_cast<float>(loop.turns.size());
    }
  scale_backward(facts, kept);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_on_device(trace.events.kind[event]) || kept[event] == 1) continue;
    edit.scale_event(trace, event, kept[event]);
    for (const EventId work : facts.launched.of(event)) edit.scale_event(trace, work, kept[event]);
  }
  return edit;
}

std::vector<Finding> find(const Facts& facts) {
  const std::vector<RowLoop>& loops = facts.row_loops();
  if (loops.empty()) return {};
  const Nanoseconds likely = facts.saved_by(without_loops(facts, loops));
  if (likely <= 0) return {};
  const RowLoop& longest = *std::max_element(
      loops.begin(), loops.end(), [](const RowLoop& a, const RowLoop& b) { return a.duration < b.duration; });
  const double calls_per_turn = static_cast<double>(longest.calls.size()) / static_cast<double>(longest.turns.size());

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = facts.trace.recorded.shapes ? Confidence::kHigh : Confidence::kMedium;
  finding.title = fmt::format("A loop calls the same operators for each of {} rows", longest.turns.size());
  finding.explanation = fmt::format("Its turns, of about {} each, take {} of the recorded forward pass.",
                                    counted(std::round(calls_per_turn), "call"), format_time(longest.duration));
  finding.evidence.assign(longest.turns.begin(), longest.turns.begin() + Finding::kMaxEvidence);
  finding.source = source_line(facts.trace, longest.turns.front());
  finding.fix = {"batch_calls", "Call the operators once, on all rows together.",
                 "- y = torch.stack([f(x[i]) for i in range(len(x))])\n+ y = f(x)  # or torch.vmap(f)(x)"};
  return {finding};
}

}  // namespace

Rule rules::loop_indexing() {
  return {
      {.title = "Loops over the rows of a tensor",
       .looks_for = fmt::format("At least {} calls to select, slice, narrow or index from one place, one after "
                                "another, each for a different row of the same tensor and followed by the same calls.",
                                kLeastTurns),
       .needs = "CPU and CUDA activities; shapes and their values tell rows apart, and stacks give the source line.",
       .saving = "The steps are replayed with the loop's calls, the GPU work they launch and their backward pass "
                 "divided by the number of turns.",
       .held = "Predicted and measured savings, in percent of the step: 88 and 98 (row_loop).",
       .fixes = {"batch_calls"}},
      find};
}

}  // namespace telltale
