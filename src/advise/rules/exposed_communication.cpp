// The device communicates with others and computes nothing meanwhile.
#include <fmt/format.h>

#include <algorithm>

#include "advise/rule.h"
#include "analysis/work_class.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Less is what remains after overlapping: the last bucket of gradients has nothing to hide behind.
constexpr double kLeastExposedPercent = 5;
// Of the communication that could be hidden, how much is. Never measured: one half, and the range says so.
constexpr double kHiddenShare = 0.5;
constexpr double kUncertainty = 0.9;

std::vector<EventId> collectives_of(const Facts& facts) {
  WorkClassifier class_of(facts.trace);
  const Events& events = facts.trace.events;
  std::vector<EventId> collectives;
  for (EventId event = 0; event < events.size(); ++event)
    if (is_device_work(events.kind[event]) && facts.is_in_steps(event) && class_of(event) == WorkClass::kCommunication)
      collectives.push_back(event);
  std::ranges::stable_sort(collectives, std::ranges::greater{}, [&](EventId event) { return events.duration[event]; });
  return collectives;
}

// Only computation can hide communication, and what it hides already counts for that.
double hideable(const Facts& facts) {
  const Communication& communication = facts.diagnosis.communication;
  const Nanoseconds computing = facts.diagnosis.timing.device_period - communication.total_ns;
  return static_cast<double>(std::clamp<Nanoseconds>(computing, 0, communication.exposed_ns));
}

std::vector<Finding> find(const Facts& facts) {
  const Communication& communication = facts.diagnosis.communication;
  if (facts.percent_of_step(communication.exposed_ns) < kLeastExposedPercent) return {};
  const std::vector<EventId> collectives = collectives_of(facts);
  if (collectives.empty()) return {};
  const double hidden =
      kHiddenShare * hideable(facts) / static_cast<double>(std::max<Nanoseconds>(communication.total_ns, 1));
  Edit edit = facts.unobserved;
  for (const EventId event : collectives) edit.scale_event(facts.trace, event, static_cast<float>(1 - hidden));
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.title = "The GPU communicates instead of computing";
  finding.explanation = fmt::format(
      "Collectives take {} per step, and for {} of that the GPU computes nothing ({} of it overlaps). Most of it is in "
      "{}.",
      format_time(communication.total_ns), format_time(communication.exposed_ns),
      format_percent(communication.overlap_percent()),
      communication.rows.empty() ? "one kernel" : communication.rows.front().name);
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = Confidence::kLow;
  finding.evidence = collectives;
  finding.source = source_line(facts.trace, collectives.front());
  finding.fix = {"overlap_communication",
                 "Reduce gradients in buckets while the backward pass goes on, as DistributedDataParallel does, and "
                 "fetch sharded weights before they are needed.",
                 "+ model = DistributedDataParallel(model, gradient_as_bucket_view=True, bucket_cap_mb=50)\n"
                 "- for p in model.parameters(): dist.all_reduce(p.grad)"};
  return {finding};
}

}  // namespace

Rule rules::exposed_communication() {
  return {
      {.title = "Communication that nothing hides",
       .looks_for = fmt::format("Collectives during which the GPU does nothing else, for {} % of the step or more.",
                                kLeastExposedPercent),
       .needs = "CUDA activities of one rank. Whether a rank waits for a slower one cannot be seen in its trace alone.",
       .saving =
           fmt::format("The steps are replayed with collectives shorter by {:.0f} % of what computation could hide.",
                       100 * kHiddenShare),
       .held = "Never measured: none of our programs runs on several GPUs.",
       .fixes = {"overlap_communication"}},
      find};
}

}  // namespace telltale
