// The forward pass runs again within the backward pass to save memory that is not short.
#include <fmt/format.h>

#include <algorithm>

#include "advise/patterns/device_memory.h"
#include "advise/rule.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// Without checkpoints activations stay: a peak below this share of the device leaves room for them.
constexpr double kMostMemoryInUse = 0.5;
// A node of the backward pass that calls a hook in Python spends half of its own time getting there and back.
constexpr float kNodeLeft = 0.5F;
constexpr double kUncertainty = 0.15;

bool is_checkpoint_frame(std::string_view name) {
  return name.find("torch/utils/checkpoint.py") != std::string_view::npos;
}

// The outermost frames of torch's checkpointing within the backward pass: they compute the forward pass again.
std::vector<EventId> recomputations(const Facts& facts, const std::vector<bool>& is_frame) {
  const Trace& trace = facts.trace;
  std::vector<bool> is_inside(trace.events.size());
  std::vector<EventId> outermost;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    const EventId parent = trace.events.parent[event];
    is_inside[event] = parent != kNoEvent && is_inside[parent];
    if (is_inside[event] || trace.events.kind[event] != Kind::kPython || !is_frame[trace.events.name[event]]) continue;
    if (facts.phases[event] != Phase::kBackward || !facts.is_in_steps(event)) continue;
    is_inside[event] = true;
    outermost.push_back(event);
  }
  return outermost;
}

// What checkpointing itself costs in the forward pass: everything between its first frame and the module that it calls,
// and the hooks that pack tensors.
void remove_bookkeeping(const Facts& facts, const std::vector<bool>& is_frame, Edit& edit) {
  const Trace& trace = facts.trace;
  enum class Place : std::uint8_t { kOutside, kBookkeeping, kModule };
  std::vector<Place> place(trace.events.size(), Place::kOutside);
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (is_on_device(trace.events.kind[event]) || facts.phases[event] == Phase::kBackward) continue;
    const EventId parent = trace.events.parent[event];
    place[event] = parent == kNoEvent ? Place::kOutside : place[parent];
    if (trace.events.kind[event] == Kind::kModule && place[event] == Place::kBookkeeping) place[event] = Place::kModule;
    if (trace.events.kind[event] == Kind::kPython && is_frame[trace.events.name[event]])
      place[event] = Place::kBookkeeping;
    if (place[event] == Place::kBookkeeping && facts.host_work[event] == HostWork::kPython)
      edit.scale_event(trace, event, 0);
  }
}

bool has_room(const Facts& facts) {
  const std::optional<MemoryInUse> memory = memory_in_use(facts);
  return !memory ||
         static_cast<double>(memory->peak_bytes) <= kMostMemoryInUse * static_cast<double>(memory->whole_bytes);
}

// The peak, where the trace tells it.
std::optional<std::int64_t> peak_of(const Facts& facts) {
  if (facts.diagnosis.memory) return facts.diagnosis.memory->peak_allocated;
  const std::optional<MemoryInUse> memory = memory_in_use(facts);
  return memory ? std::optional(memory->peak_bytes) : std::nullopt;
}

std::vector<Finding> find(const Facts& facts) {
  if (!has_room(facts)) return {};
  const std::vector<bool> is_frame = names_where(facts.trace, is_checkpoint_frame);
  std::vector<EventId> calls = recomputations(facts, is_frame);
  Edit edit = facts.unobserved;
  remove_bookkeeping(facts, is_frame, edit);
  Nanoseconds device = 0;
  std::vector<bool> is_around_hook(facts.trace.events.size());
  for (const EventId call : calls) {
    edit.scale_subtree(facts.trace, facts.launched, call, 0, 0);
    if (const EventId node = facts.trace.events.parent[call]; node != kNoEvent && !is_around_hook[node]) {
      is_around_hook[node] = true;
      edit.scale_event(facts.trace, node, kNodeLeft);
    }
    for (const EventId work : facts.launched.of_range(call, subtree_end(facts.trace, call)))
      device += facts.trace.events.duration[work];
  }
  if (device == 0) return {};  // nothing is computed again
  const Nanoseconds likely = facts.saved_by(edit);
  if (likely <= 0) return {};

  Finding finding;
  finding.saving = saving_around(facts, likely, kUncertainty);
  finding.edit = facts.kept(edit);
  finding.reach = changed_by(facts, edit);
  const std::optional<std::int64_t> peak = peak_of(facts);
  finding.confidence = peak ? Confidence::kHigh : Confidence::kMedium;
  std::stable_sort(calls.begin(), calls.end(), [&](EventId a, EventId b) {
    return facts.trace.events.duration[a] > facts.trace.events.duration[b];
  });
  finding.evidence = calls;
  finding.source = source_line(facts.trace, calls.front());
  finding.title =
      peak ? "The forward pass is computed twice with memory to spare" : "The forward pass is computed twice";
  finding.explanation = fmt::format("Checkpointing repeats {} of GPU work per step in the backward pass{}.",
                                    format_time(static_cast<Nanoseconds>(static_cast<double>(device) / facts.steps())),
                                    peak ? "; the memory peak is only " + format_bytes(*peak) : "");
  finding.fix = {"no_checkpointing", "Turn checkpointing off, or keep it only for the largest layers.",
                 "- model.gradient_checkpointing_enable()\n+ model.gradient_checkpointing_disable()"};
  return {finding};
}

}  // namespace

Rule rules::excess_recompute() {
  return {
      {.title = "Unneeded checkpointing",
       .looks_for = fmt::format("Calls to torch.utils.checkpoint within the backward pass that launch GPU work, while "
                                "the memory peak is at most {:.0f} % of the GPU's memory.",
                                100 * kMostMemoryInUse),
       .needs = "CPU and CUDA activities, and stacks; memory events or gauges to know the peak.",
       .cannot_do_without = {{Need::kDevice}, {Need::kStacks}},
       .saving = "The steps are replayed without those calls and the work they launch.",
       .held = "Predicted and measured savings, in percent of the step: 42 and 48 (gradient_checkpointing_unneeded).",
       .fixes = {"no_checkpointing"}},
      find};
}

}  // namespace telltale
