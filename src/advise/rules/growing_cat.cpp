// A tensor to which every step joins something: each time all that was there before is copied.
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "advise/rule.h"
#include "analysis/names_where.h"
#include "analysis/robust_statistics.h"
#include "analysis/step_timing.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Of fewer steps, noise may look like growth: among 12 random times, ranks as alike as this come once in 100.
constexpr std::size_t kFewestSteps = 12;
constexpr double kLeastLikeness = 0.7;
// From the first third of the steps to the last one, beyond what other operators grow: longer texts make everything
// longer.
constexpr double kLeastGrowth = 1.5;
constexpr double kUncertainty = 0.3;

bool joins(std::string_view op) {
  return op == "aten::cat" || op == "aten::concat" || op == "aten::hstack" || op == "aten::vstack";
}

// The calls of one line, and how long those of each step take, by its place among the steps.
struct Joining {
  std::vector<EventId> calls;
  std::map<int, Nanoseconds> in_step;
};

std::vector<Nanoseconds> times_of(const Joining& joining) {
  std::vector<Nanoseconds> times;
  for (const auto& [step, time] : joining.in_step) times.push_back(time);
  return times;
}

Nanoseconds time_of(const Facts& facts, EventId call) {
  Nanoseconds on_device = 0;
  for (const EventId work : facts.launched.of_range(call, subtree_end(facts.trace, call)))
    on_device += facts.trace.events.duration[work];
  return on_device > 0 ? on_device : facts.trace.events.duration[call];
}

// Spearman's: how nearly the times come in the order of the steps, from -1 to 1.
double likeness_to_order(const std::vector<Nanoseconds>& times) {
  std::vector<std::size_t> order(times.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, std::ranges::less{}, [&](std::size_t i) { return times[i]; });
  double squares = 0;
  for (std::size_t rank = 0; rank < order.size(); ++rank) {
    const double apart = static_cast<double>(rank) - static_cast<double>(order[rank]);
    squares += apart * apart;
  }
  const auto count = static_cast<double>(times.size());
  return 1 - 6 * squares / (count * (count * count - 1));
}

struct Growth {
  Nanoseconds first = 0, last = 0;  // medians of the first and of the last third
  bool is_by(double factor) const { return static_cast<double>(last) >= factor * static_cast<double>(first); }
};

Growth growth_of(const std::vector<Nanoseconds>& times) {
  const auto third = static_cast<std::ptrdiff_t>(times.size() / 3);
  return {median({times.begin(), times.begin() + third}), median({times.end() - third, times.end()})};
}

// `operators`: how long all of them take, by step. What Python does in between may be giving back the tensor that was
// there before.
bool grows(const Joining& joining, const std::vector<Nanoseconds>& operators) {
  const std::vector<Nanoseconds> times = times_of(joining);
  if (times.size() < kFewestSteps || likeness_to_order(times) < kLeastLikeness) return false;
  std::vector<Nanoseconds> others;
  for (const auto& [step, time] : joining.in_step)
    others.push_back(std::max<Nanoseconds>(operators[static_cast<std::size_t>(step)] - time, 0));
  const Growth rest = growth_of(others);
  const double of_rest =
      rest.first > 0 ? std::max(static_cast<double>(rest.last) / static_cast<double>(rest.first), 1.0) : 1.0;
  return growth_of(times).is_by(kLeastGrowth * of_rest);
}

// By line; where none is known, all together.
std::vector<Joining> joinings_of(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool> may_join = names_where(trace, joins);
  std::vector<Nanoseconds> operators(facts.diagnosis.timing.steps.size());
  std::map<std::pair<std::string, int>, Joining> by_line;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (trace.events.kind[event] != Kind::kOperator) continue;
    const EventId around = trace.ancestor(event, Kind::kOperator);
    const bool may_be_joining = may_join[trace.events.name[event]] && facts.phases[event] != Phase::kBackward &&
                                (around == kNoEvent || !may_join[trace.events.name[around]]);
    if (around != kNoEvent && !may_be_joining) continue;
    const int step = step_at(facts.diagnosis.timing, trace.events.start[event]);
    if (step < 0) continue;
    const Nanoseconds time = time_of(facts, event);
    if (around == kNoEvent) operators[static_cast<std::size_t>(step)] += time;
    if (!may_be_joining) continue;
    const auto line = source_line(trace, event);
    Joining& joining = by_line[line ? std::pair(line->file, line->line) : std::pair(std::string(), 0)];
    joining.calls.push_back(event);
    joining.in_step[step] += time;
  }
  std::vector<Joining> growing;
  for (auto& [line, joining] : by_line)
    if (grows(joining, operators)) growing.push_back(std::move(joining));
  return growing;
}

Finding finding_of(const Facts& facts, Joining joining) {
  Edit edit = facts.unobserved;
  for (const EventId call : joining.calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  const std::vector<Nanoseconds> times = times_of(joining);
  const Growth growth = growth_of(times);
  Finding finding;
  finding.saving = saving_around(facts, facts.saved_by(edit), kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = Confidence::kMedium;
  std::ranges::stable_sort(joining.calls, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  finding.source = source_line(facts.trace, joining.calls.front());
  finding.title = "A tensor is copied whenever something is joined to it";
  finding.explanation = fmt::format(
      "What {} takes grows from step to step, from {} to {} (medians of the first and the last third of {} steps): it "
      "copies all that was joined before.",
      facts.trace.name(joining.calls.front()), format_time(static_cast<Nanoseconds>(growth.first)),
      format_time(static_cast<Nanoseconds>(growth.last)), times.size());
  finding.evidence = std::move(joining.calls);
  finding.fix = {
      "join_once",
      "Append to a list, and join it once at the end. Where every step needs the whole, make a tensor of the "
      "final size once, and write each part into its place.",
      "- seen = torch.cat([seen, x])\n+ seen.append(x)  # torch.cat(seen) once, at the end"};
  return finding;
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<Finding> findings;
  for (Joining& joining : joinings_of(facts)) {
    Finding finding = finding_of(facts, std::move(joining));
    if (finding.saving.likely > 0) findings.push_back(std::move(finding));
  }
  return findings;
}

}  // namespace

Rule rules::growing_cat() {
  return {
      {.title = "Tensors that grow by being joined",
       .looks_for = fmt::format("torch.cat() and its like at one line, outside of the backward pass, that take {} "
                                "times as long in the last third of the steps as in the first one or more, "
                                "beyond what other operators grow, and whose times come in the order of the "
                                "steps ({} steps or more; Spearman's "
                                "coefficient is at least {}).",
                                kLeastGrowth, kFewestSteps, kLeastLikeness),
       .needs = fmt::format("{} steps or more; stacks for the source line.", kFewestSteps),
       .cannot_do_without = {{Need::kSteps}},
       .saving = "The steps are replayed without these calls.",
       .held = "Predicted and measured savings on a CPU, in percent of the step: 68 and 90, 67 and 95, and of a decode "
               "whose "
               "cache grows 47 and 76 (giving back the memory of the tensor that was there before is not promised).",
       .fixes = {"join_once"}},
      find};
}

}  // namespace telltale
