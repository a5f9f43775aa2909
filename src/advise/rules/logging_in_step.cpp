// The step reports on itself, and the device waits until it has.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "advise/facts.h"
#include "advise/patterns/host_calls.h"
#include "advise/patterns/log_calls.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// From a function inwards: the last one of the user's own in which most of its time is spent.
EventId function_that_takes_the_time(const Trace& trace, EventId function) {
  const EventId end = subtree_end(trace, function);
  EventId taking = function;
  for (EventId event = function + 1; event < end; ++event) {
    if (trace.events.kind[event] != Kind::kPython ||
        2 * trace.events.duration[event] <= trace.events.duration[function])
      continue;
    const std::optional<SourceLine> frame = parsed_frame(trace.name(event));
    if (frame && !is_library_frame(*frame)) taking = event;
  }
  return taking;
}

// Whether most of it is torch.save().
bool saves_tensors(const Facts& facts, const std::vector<EventId>& calls) {
  const Trace& trace = facts.trace;
  const std::vector<bool> is_saving = names_where(trace, is_saving_tensors);
  Nanoseconds all = 0, saving = 0;
  for (const EventId call : calls) {
    all += trace.events.duration[call];
    const EventId end = subtree_end(trace, call);
    for (EventId event = call; event < end;) {
      const bool saves = is_saving[trace.events.name[event]];
      if (saves) saving += trace.events.duration[event];
      event = saves ? subtree_end(trace, event) : event + 1;
    }
  }
  return 2 * saving > all;
}

// Of what logging in each step costs, logging in every twentieth one saves all but a twentieth.
constexpr int kStepsBetweenLogs = 20;
constexpr double kSavedByLoggingLess = 1 - 1.0 / kStepsBetweenLogs;
constexpr double kUncertainty = 0.3;

Fix fix_of_logs(const Facts& facts) {
  return {"log_less",
          fmt::format("Log only every {}th step or so, or {}.", kStepsBetweenLogs,
                      facts.diagnosis.breakdown.has_device ? "collect the values on the GPU and write them later"
                                                           : "write on another thread while the next step runs"),
          fmt::format("- log({0}.item())\n+ if step % {1} == 0:\n+     log({0}.item())",
                      facts.trains ? "loss" : "score", kStepsBetweenLogs)};
}

Fix fix_of_saves() {
  return {
      "log_less",
      fmt::format("Save only every {}th step, or far less often; or copy the state, and save it on another thread.",
                  kStepsBetweenLogs),
      fmt::format("- torch.save(state, path)\n+ if step % {} == 0:\n+     torch.save(state, path)", kStepsBetweenLogs)};
}

std::vector<Finding> find(const Facts& facts) {
  std::vector<EventId> calls = facts.log_calls();
  if (calls.empty()) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  const auto likely = static_cast<Nanoseconds>(kSavedByLoggingLess * static_cast<double>(facts.saved_by(edit)));
  if (likely <= 0) return {};

  std::ranges::stable_sort(calls, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  const bool has_device = facts.diagnosis.breakdown.has_device;
  Finding finding;
  const bool saves = saves_tensors(facts, calls);
  finding.title = fmt::format("The {} waits while the step {}", has_device ? "GPU" : "computation",
                              saves ? "saves its state" : "writes its logs");
  finding.explanation = fmt::format("{}{} {} per recorded step.", saves ? "Saving" : "Printing, writing and saving",
                                    has_device ? ", along with reading the values from the GPU, takes"
                                    : saves    ? " takes"
                                               : " take",
                                    format_time(time_in(facts, calls)));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.confidence = Confidence::kMedium;
  finding.evidence = calls;
  finding.source = source_line(facts.trace, function_that_takes_the_time(facts.trace, calls.front()));
  finding.fix = saves ? fix_of_saves() : fix_of_logs(facts);
  return {finding};
}

}  // namespace

Rule rules::logging_in_step() {
  return {{.title = "Logging in the step",
           .looks_for = fmt::format(
               "Python functions that print, write to files, log or save, that spend {:.0f} % of their time "
               "or more on it and on reading values from the GPU, and that neither call modules nor train nor compute.",
               100 * kLeastShareOfWriting),
           .needs = "Stacks.",
           .cannot_do_without = {{Need::kStacks}},
           .saving = fmt::format("The steps are replayed without these functions and their waits for the GPU; every "
                                 "{}th step would still log.",
                                 kStepsBetweenLogs),
           .held = "Predicted and measured savings, in percent of the step: 20 and 20 (log_every_step).",
           .fixes = {"log_less"}},
          find};
}

}  // namespace telltale
