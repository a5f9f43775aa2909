// What makes all other findings doubtful.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "advise/rule.h"
#include "analysis/api_calls.h"
#include "analysis/device_maker.h"
#include "analysis/robust_statistics.h"
#include "base/amounts.h"
#include "trace/own_recordings.h"

namespace telltale {
namespace {

// By how much of itself a usual step may be off: the spread of the steps over the root of their number. Healthy
// programs had 0.1 at most, over three steps. Steps of a loader with workers are short and long by nature; over many of
// them the usual one is known all the same.
constexpr double kLargestError = 0.15;
constexpr double kDeviationsOfMedian = 1.4826;  // a standard deviation, by the median deviation of normal values
constexpr std::size_t kEnoughSteps = 20;
constexpr double kLargestShareWithoutWork = 0.05;
// A device that is behind has work of the steps before the recording: up to a third in healthy traces.
constexpr double kLargestShareWithoutLaunch = 0.5;
// Ways in which a reader lost events.
constexpr auto kLosses =
    std::to_array<Anomaly>({Anomaly::kMalformedEvent, Anomaly::kNotAnEvent, Anomaly::kMissingPhase,
                            Anomaly::kMissingTime, Anomaly::kMissingDuration, Anomaly::kNegativeDuration});

struct Launches {
  std::size_t calls = 0, without_work = 0;
  std::size_t works = 0, without_launch = 0;
};

Launches count_launches(const Facts& facts) {
  const Events& events = facts.trace.events;
  const std::vector<bool> launches_kernel =
      names_where(facts.trace, [](std::string_view name) { return api_call_named(name) == ApiCall::kLaunch; });
  Launches count;
  for (EventId event = 0; event < events.size(); ++event) {
    if (is_device_work(events.kind[event])) {
      ++count.works;
      if (facts.trace.launch_of(event) == kNoEvent) ++count.without_launch;
    }
    if (!is_api_call(events.kind[event]) || !launches_kernel[events.name[event]]) continue;
    const EventId parent = events.parent[event];
    if (parent != kNoEvent && is_api_call(events.kind[parent])) continue;
    ++count.calls;
    if (facts.launched.of_range(event, subtree_end(facts.trace, event)).empty()) ++count.without_work;
  }
  return count;
}

double share_of(std::size_t part, std::size_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void add_missing_records(const Facts& facts, std::vector<std::string>& reasons) {
  const Launches launches = count_launches(facts);
  const double without_work = share_of(launches.without_work, launches.calls);
  if (launches.works == 0 && launches.calls > 0)
    reasons.push_back(fmt::format("it has {} but no GPU work",
                                  counted(static_cast<double>(launches.calls), "kernel launch", "kernel launches")));
  else if (without_work > kLargestShareWithoutWork)
    reasons.push_back(
        fmt::format("{} of the launches have no kernel, so records were dropped", format_percent(100 * without_work)));
  if (share_of(launches.without_launch, launches.works) > kLargestShareWithoutLaunch)
    reasons.push_back(fmt::format("most of the GPU's work has no recorded launch ({} of {})",
                                  format_number(static_cast<double>(launches.without_launch)),
                                  format_number(static_cast<double>(launches.works))));
  std::uint64_t lost = 0;
  for (const Anomaly anomaly : kLosses) lost += facts.trace.anomalies.count(anomaly);
  // Our own recordings are whole up to where they break off.
  if (facts.trace.anomalies.count(Anomaly::kTruncated) > 0 && facts.trace.format != "tell")
    reasons.emplace_back("the file is cut off");
  else if (lost > 0)
    reasons.push_back(fmt::format("{} in the file could not be read", counted(static_cast<double>(lost), "event")));
  if (const std::uint64_t dropped = facts.trace.anomalies.count(Anomaly::kDroppedEvents); dropped > 0)
    reasons.push_back(fmt::format("the recorder dropped {}", counted(static_cast<double>(dropped), "event")));
  if (const std::uint64_t dropped = facts.trace.anomalies.count(Anomaly::kDroppedDeviceRecords); dropped > 0)
    reasons.push_back(fmt::format("CUPTI dropped {} of the GPU", counted(static_cast<double>(dropped), "record")));
  if (const std::uint64_t untimed = facts.trace.anomalies.count(Anomaly::kUnfinishedDeviceWork) +
                                    facts.trace.anomalies.count(Anomaly::kUnplacedDeviceWork);
      untimed > 0)
    reasons.push_back(
        fmt::format("{} of the GPU had no usable times", counted(static_cast<double>(untimed), "record")));
  if (facts.trace.anomalies.count(Anomaly::kDamagedChunk) > 0) reasons.emplace_back("parts of the file are damaged");
}

// How far steps are from the usual one, as a share of it; single ones that are far out do not count.
double spread_of(const std::vector<StepSpan>& steps) {
  std::vector<Nanoseconds> taken, deviations;
  for (const StepSpan& step : steps) taken.push_back(std::max(step.host.length(), step.device_busy));
  const Nanoseconds usual = median(taken);
  for (const Nanoseconds each : taken) deviations.push_back(std::abs(each - usual));
  return usual <= 0 ? 0 : kDeviationsOfMedian * static_cast<double>(median(deviations)) / static_cast<double>(usual);
}

void add_doubts_about_steps(const Facts& facts, std::vector<std::string>& reasons) {
  if (!facts.diagnosis.is_about_steps) return;
  const StepTiming& timing = facts.diagnosis.timing;
  const double spread = spread_of(timing.steps);
  if (timing.source == StepSource::kWhole)
    reasons.emplace_back("it marks no steps, and nothing in it repeats");
  else if (timing.source == StepSource::kParts)
    reasons.emplace_back("it has a single pass, which warms up");
  else if (timing.steps.size() < 2)
    reasons.emplace_back("it has only one step");
  else if (spread / std::sqrt(facts.steps()) > kLargestError)
    reasons.push_back(fmt::format("its {} steps vary by {}", timing.steps.size(), format_percent(100 * spread)));
}

// What torch's profiler calls the device.
std::string_view device_activity(const Trace& trace) {
  if (maker_of_devices(trace) != DeviceMaker::kOther) return "CUDA";
  constexpr std::pair<std::string_view, std::string_view> kActivities[] = {
      {"Intel", "XPU"}, {"XPU", "XPU"}, {"MTIA", "MTIA"}, {"NPU", "NPU"}, {"HPU", "HPU"}};
  for (const auto& [part, activity] : kActivities)
    if (std::ranges::any_of(trace.devices, [&](const Device& one) { return one.name.contains(part); })) return activity;
  return "PrivateUse1";
}

// Never what was done already: a recording from the start has all steps that the program took.
Fix fix_for_our_recording(const Facts& facts) {
  if (facts.trace.anomalies.count(Anomaly::kDroppedEvents) > 0)
    return {"other", "Record again with more memory, so that nothing is dropped.",
            "+ telltale record --memory-limit 256M -- python program.py"};
  if (facts.diagnosis.timing.source == StepSource::kWhole)
    return {"other", "Mark the steps, so that the recorder finds them.",
            "+ with torch.profiler.record_function(\"step\"):\n      step(batch)"};
  if (facts.trace.metadata_named(kFromStart) != nullptr)
    return {"other", "Let the program take more steps, all of one kind, on an otherwise idle machine.", ""};
  return {"other", "Record more steps, on an otherwise idle machine.",
          fmt::format("+ telltale record --steps {} -- python program.py",
                      std::max(kEnoughSteps, 2 * facts.diagnosis.timing.steps.size()))};
}

Fix fix_for(const Facts& facts) {
  if (!facts.diagnosis.is_about_steps && facts.trace.format != "tell")
    return {"other", "Record again, and let the recorder finish, so that the file is whole.", ""};
  if (!facts.diagnosis.is_about_steps) {
    return {"other", "Record again with more memory, or with a policy that waits, so that nothing is dropped.",
            "+ options.memory_limit = 256 << 20;\n+ options.policy = TELLTALE_POLICY_BLOCK;"};
  }
  if (facts.trace.format == "tell") return fix_for_our_recording(facts);
  return {"other", "Record again, to the end: a few steps of warm-up, then at least three that are alike.",
          fmt::format(
              "+ activities = [ProfilerActivity.CPU{}]\n"
              "+ with profile(activities=activities, schedule=schedule(wait=1, warmup=3, active=3)) as prof:\n"
              "+     for batch in batches:\n+         step(batch)\n+         prof.step()",
              facts.trace.devices.empty() ? "" : fmt::format(", ProfilerActivity.{}", device_activity(facts.trace)))};
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<std::string> reasons;
  add_missing_records(facts, reasons);
  add_doubts_about_steps(facts, reasons);
  if (reasons.empty()) return {};
  Finding finding;
  finding.title = "The trace does not allow a reliable diagnosis";
  finding.explanation = fmt::format("Take all numbers with care: {}.", fmt::join(reasons, "; "));
  finding.confidence = Confidence::kHigh;
  finding.fix = fix_for(facts);
  return {finding};
}

}  // namespace

Rule rules::trace_unfit() {
  return {{.title = "A trace that cannot be trusted",
           .looks_for = fmt::format("Kernel launches without GPU work, dropped records, events that could not be read, "
                                    "no steps or only one, or steps that vary so much that the usual one is not known "
                                    "within {:.0f} %.",
                                    100 * kLargestError),
           .needs = "Nothing.",
           .saving = "None: it tells how far the others can be trusted.",
           .held = "Predicts no time.",
           .fixes = {"other"}},
          find};
}

}  // namespace telltale
