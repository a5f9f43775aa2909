// Autograd looks for NaN in every gradient, and notes a traceback for every operator of the forward pass.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/patterns/anomaly_checks.h"
#include "advise/rule.h"
#include "analysis/names_where.h"
#include "analysis/robust_statistics.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Operators that compute nothing: what one takes is what it takes to note where its node was made, or next to nothing
// where it makes none. On the EPYC of bench/RESULTS.md they took under 6 µs without a traceback and 17 to 160 with one,
// by how many functions of Python and how many files it passes.
constexpr auto kViews = std::to_array<std::string_view>(
    {"aten::t", "aten::transpose", "aten::permute", "aten::view", "aten::_unsafe_view", "aten::_reshape_alias",
     "aten::expand", "aten::unsqueeze", "aten::squeeze", "aten::select", "aten::slice"});
constexpr Nanoseconds kLeastTraceback = 10'000;
constexpr std::size_t kFewestViews = 5;
// Of a program without such operators: four programs took 31, 33, 52 and 64 µs.
constexpr Nanoseconds kUsualTraceback = 45'000;
// Something is left of every operator, without tracebacks as without a recorder.
constexpr double kLeastLeft = 0.1;
constexpr double kLeastUnobserved = 0.2;
constexpr double kUncertainty = 0.35;

// The operators of the forward pass, in all steps.
struct Forward {
  std::vector<EventId> operators;
  double own_ns = 0;                        // as it is without a recorder
  Nanoseconds traceback = kUsualTraceback;  // of a node
};

Forward forward_of(const Facts& facts) {
  const Events& events = facts.trace.events;
  const std::vector<bool> is_view =
      names_where(facts.trace, [](std::string_view name) { return std::ranges::find(kViews, name) != kViews.end(); });
  Forward forward;
  std::vector<Nanoseconds> own(events.size()), tracebacks;
  for (EventId event = 0; event < events.size(); ++event) {
    if (is_on_device(events.kind[event])) continue;
    const EventId parent = events.parent[event];
    if (parent != kNoEvent) own[parent] -= events.duration[event];
    if (events.kind[event] != Kind::kOperator || facts.phases[event] != Phase::kForward || !facts.is_in_steps(event))
      continue;
    forward.operators.push_back(event);
    own[event] += events.duration[event];
    const bool is_part_of_view = parent != kNoEvent && is_view[events.name[parent]];
    if (is_view[events.name[event]] && !is_part_of_view && events.duration[event] >= kLeastTraceback)
      tracebacks.push_back(events.duration[event]);
  }
  if (tracebacks.size() >= kFewestViews) forward.traceback = median(std::move(tracebacks));
  const ObserverCost& observer = facts.unobserved.observer;
  for (const EventId op : forward.operators) {
    const auto recorded = static_cast<double>(own[op]);
    forward.own_ns += std::max(kLeastUnobserved * recorded, recorded * (1 - observer.share) - observer.operator_call);
  }
  return forward;
}

// Without the tracebacks: where no calls of Python show them, the forward pass's operators take that much less.
void remove_tracebacks(const Facts& facts, const AnomalyChecks& checks, Edit& edit) {
  for (const EventId call : checks.tracebacks) edit.scale_subtree(facts.trace, facts.launched, call, 0, 1);
  if (!checks.tracebacks.empty()) return;
  const Forward forward = forward_of(facts);
  const double tracebacks_ns = static_cast<double>(checks.nodes) * static_cast<double>(forward.traceback);
  const double left = std::max(kLeastLeft, 1 - tracebacks_ns / std::max(forward.own_ns, 1.0));
  for (const EventId op : forward.operators) edit.scale_event(facts.trace, op, static_cast<float>(left));
}

void remove_checks(const Facts& facts, const AnomalyChecks& checks, Edit& edit) {
  for (const EventId call : checks.calls) {
    for (EventId event = call; event < subtree_end(facts.trace, call); ++event)
      if (is_api_call(facts.trace.events.kind[event])) edit.drop_wait(facts.trace, event);
    edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  }
}

std::vector<Finding> find(const Facts& facts) {
  AnomalyChecks checks = anomaly_checks(facts);
  if (checks.calls.empty()) return {};
  Edit edit = facts.unobserved;
  remove_checks(facts, checks, edit);
  remove_tracebacks(facts, checks, edit);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  std::ranges::stable_sort(checks.calls, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  Finding finding;
  finding.title = "Autograd looks for NaN in every gradient";
  finding.explanation = fmt::format(
      "Anomaly detection is on: the backward pass checks the gradients of {} per step, and the forward pass notes a "
      "traceback for each.",
      counted(static_cast<double>(checks.nodes) / facts.steps(), "node"));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kHigh;
  finding.source = source_line(facts.trace, checks.calls.front());
  finding.evidence = std::move(checks.calls);
  finding.fix = {"no_anomaly_detection",
                 "Turn anomaly detection off, and on again only to look for the operator that made a NaN.",
                 "- torch.autograd.set_detect_anomaly(True)"};
  return {finding};
}

}  // namespace

Rule rules::anomaly_detection() {
  return {
      {.title = "Anomaly detection left on",
       .looks_for = "aten::isnan and aten::item that autograd's engine calls itself, behind a node of the backward "
                    "pass.",
       .needs = "Operators; calls of Python for the tracebacks, which are estimated otherwise.",
       .saving = fmt::format(
           "The steps are replayed without these operators, what they launch and their waits, and with forward "
           "operators that take less by a traceback for each node of the backward pass. How long one takes is "
           "what operators that compute nothing take, such as aten::t, or {} where there are none.",
           format_time(kUsualTraceback)),
       .held =
           "Predicted and measured savings on a CPU, in percent of the step: 63 and 70 (signals, a GRU), 44 and 50 (a "
           "transformer), 34 and 39 (a convolutional network), 26 and 29 (an LSTM, held back).",
       .fixes = {"no_anomaly_detection"}},
      find};
}

}  // namespace telltale
