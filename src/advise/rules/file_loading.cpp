// Tensors are read from a file in every step: weights that stay the same, or something that could be read ahead.
#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "advise/patterns/host_calls.h"
#include "advise/rule.h"
#include "analysis/host_timeline.h"
#include "analysis/names_where.h"
#include "analysis/source_line.h"
#include "base/amounts.h"

namespace telltale {
namespace {

constexpr double kUncertainty = 0.25;

std::string function_of(std::string_view frame) {
  const std::optional<SourceLine> parsed = parsed_frame(frame);
  return parsed ? parsed->function : std::string();
}

// torch.load(), and what reads weights in other formats.
bool reads_file(std::string_view frame) {
  const std::string function = function_of(frame);
  if (frame.contains("torch/serialization.py(") || frame.contains("torch/jit/_serialization.py("))
    return function.contains("load");
  if (frame.contains("safetensors/")) return function.starts_with("load");
  return frame.contains("transformers/") && function == "from_pretrained";
}

// Puts what was read into a model or an optimizer.
bool loads_state(std::string_view frame) {
  return frame.contains("torch/") && function_of(frame).starts_with("load_state_dict");
}

struct Loading {
  std::vector<EventId> calls;  // the outermost of either, in the steps, by event
  std::vector<EventId> reads;  // of them, those that read a file
  bool is_of_weights = false;
};

Loading loading_of(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool> is_reading = names_where(trace, reads_file), is_state = names_where(trace, loads_state);
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  Loading found;
  for (const TrackId thread : launching_threads(trace, {steps.front().host.begin, steps.back().host.end})) {
    const Track& track = trace.tracks[thread];
    EventId behind = 0;  // of the last call found
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
      const StringId name = trace.events.name[event];
      if (event < behind || trace.events.kind[event] != Kind::kPython || (!is_reading[name] && !is_state[name]))
        continue;
      if (facts.host_work[event] != HostWork::kPython || !facts.is_in_steps(event)) continue;
      behind = subtree_end(trace, event);
      found.calls.push_back(event);
      if (is_reading[name])
        found.reads.push_back(event);
      else
        found.is_of_weights = true;
    }
  }
  return found;
}

Fix fix_of(const Facts& facts, bool is_of_weights) {
  if (!is_of_weights)
    return {"load_once",
            "Read what stays the same once, before the loop, and what changes ahead of time, in workers of a "
            "DataLoader.",
            "+ tensors = torch.load(path)  # once, before the loop\n- tensors = torch.load(path)"};
  return {"load_once",
          fmt::format("Load the weights once, {}, and keep the model; load them again only when the file has changed.",
                      facts.trains ? "before the loop" : "when the program starts"),
          "+ model.load_state_dict(torch.load(path))  # once\n- model.load_state_dict(torch.load(path))"};
}

std::vector<Finding> find(const Facts& facts) {
  Loading loading = loading_of(facts);
  // A program that goes on from a checkpoint reads it once.
  if (2 * steps_with(facts, loading.reads) <= facts.diagnosis.timing.steps.size()) return {};
  Edit edit = facts.unobserved;
  for (const EventId call : loading.calls) edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  const Nanoseconds takes = time_in(facts, loading.calls);
  std::ranges::stable_sort(loading.reads, std::ranges::greater{},
                           [&](EventId call) { return facts.trace.events.duration[call]; });
  Finding finding;
  finding.title = fmt::format("{} read from a file {}", loading.is_of_weights ? "Weights are" : "Tensors are",
                              facts.trains ? "in every step" : "for every request");
  finding.explanation =
      fmt::format("Reading {}takes {}.", loading.is_of_weights ? "them and putting them into the model " : "them ",
                  time_and_share(facts, takes));
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  finding.confidence = loading.is_of_weights ? Confidence::kHigh : Confidence::kMedium;
  finding.source = source_line(facts.trace, loading.reads.front());
  finding.evidence = std::move(loading.calls);
  finding.fix = fix_of(facts, loading.is_of_weights);
  return {finding};
}

}  // namespace

Rule rules::file_loading() {
  return {
      {.title = "Files read in the step",
       .looks_for = "torch.load() and its like, in more than half of the steps or requests, on the threads that "
                    "compute, outside of data loaders; and load_state_dict() beside them.",
       .needs = "Stacks.",
       .cannot_do_without = {{Need::kStacks}},
       .saving = "The steps are replayed without these calls and all that they call.",
       .held =
           "Predicted and measured savings on a CPU, in percent of a request: 65 and 84, 77 and 88 (weights of 7 and 9 "
           "MB), 59 and 96 (a TorchScript file). That new weights leave the caches cold and are given back again is "
           "not promised.",
       .fixes = {"load_once"}},
      find};
}

}  // namespace telltale
