// The forward pass runs again within the backward pass to save memory that is not short.
#include <fmt/format.h>

#include <algorithm>

#include "advise/rule.h"

namespace telltale {
namespace {

// Without checkpoints activations stay: a peak below this share of the device leaves room for them.
constexpr double kMostMemoryInUse = 0.5;
constexpr double kUncertainty = 0.15;

bool is_checkpoint_frame(std::string_view name) {
  return name.find("torch/utils/checkpoint.py") != std::string_view::npos;
}
bool is_packing(std::string_view name) { return is_checkpoint_frame(name) && name.ends_with(": pack_hook"); }

// The outermost frames of torch's checkpointing within the backward pass, and its packing in the forward pass.
std::vector<EventId> recomputations(const Facts& facts) {
  const Trace& trace = facts.trace;
  const std::vector<bool> is_frame = names_where(trace, is_checkpoint_frame);
  const std::vector<bool> packs = names_where(trace, is_packing);
  std::vector<bool> is_inside(trace.events.size());
  std::vector<EventId> outermost;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    is_inside[event] = parent != kNoEvent && is_inside[parent];
    if (is_inside[event] || trace.events.kind[event] != Kind::kPython || !facts.is_in_steps(event)) continue;
    const StringId name = trace.events.name[event];
    const bool is_backward = facts.phases[event] == Phase::kBackward;
    if ((is_backward && is_frame[name]) || (!is_backward && packs[name])) {
      is_inside[event] = true;
      outermost.push_back(event);
    }
  }
  return outermost;
}

bool has_room(const Facts& facts) {
  if (!facts.diagnosis.memory) return true;
  for (const Device& device : facts.trace.devices)
    if (device.id == facts.diagnosis.memory->device && device.memory_bytes)
      return static_cast<double>(facts.diagnosis.memory->peak_allocated) <=
             kMostMemoryInUse * static_cast<double>(*device.memory_bytes);
  return true;
}

std::vector<Finding> find(const Facts& facts) {
  if (!has_room(facts)) return {};
  std::vector<EventId> calls = recomputations(facts);
  Edit edit = facts.unobserved;
  Nanoseconds device = 0;
  for (const EventId call : calls) {
    edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
    for (const EventId work : facts.launched.of_range(call, subtree_end(facts.trace, call)))
      device += facts.trace.events.duration[work];
  }
  if (device == 0) return {};  // nothing is computed again
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.confidence = facts.diagnosis.memory ? Confidence::kHigh : Confidence::kMedium;
  std::stable_sort(calls.begin(), calls.end(), [&](EventId a, EventId b) {
    return facts.trace.events.duration[a] > facts.trace.events.duration[b];
  });
  finding.evidence = calls;
  finding.source = source_line(facts.trace, calls.front());
  finding.title = "The forward pass is computed twice, with memory to spare";
  finding.explanation = fmt::format("Checkpointing runs {:.3g} ms of GPU work a step again in the backward pass",
                                    static_cast<double>(device) / facts.steps() / 1e6);
  finding.explanation += facts.diagnosis.memory
                             ? fmt::format("; the peak is only {:.3g} GiB.",
                                           static_cast<double>(facts.diagnosis.memory->peak_allocated) / (1 << 30))
                             : ".";
  finding.fix = {"no_checkpointing", "Turn checkpointing off, or keep it for the largest layers only.",
                 "- model.gradient_checkpointing_enable()\n+ model.gradient_checkpointing_disable()"};
  return {finding};
}

}  // namespace

extern const Rule kExcessRecomputeRule;
const Rule kExcessRecomputeRule = {{"excess_recompute", "Checkpointing without need",
                                    "Calls of torch.utils.checkpoint within the backward pass that launch device work, "
                                    "while the peak is below half of "
                                    "the device's memory.",
                                    "CPU and CUDA activities, and stacks; memory events to know the peak.",
                                    "The steps are replayed without those calls and the work they launch.", ""},
                                   find};

}  // namespace telltale
