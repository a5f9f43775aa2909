// Activations of modules that could be computed again when the backward pass needs them.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>
#include <utility>

#include "advise/memory_rule.h"
#include "analysis/memory_summary.h"
#include "base/amounts.h"

namespace telltale {
namespace {

// "nn.Module: Block_3" → "Block"
std::string_view class_of(std::string_view module) {
  constexpr std::string_view kPrefix = "nn.Module: ";
  if (module.starts_with(kPrefix)) module.remove_prefix(kPrefix.size());
  const std::size_t end = module.find_last_not_of("0123456789");
  return end != std::string_view::npos && end + 1 < module.size() && module[end] == '_' ? module.substr(0, end)
                                                                                        : module;
}

// One call of a module in the forward pass, with what it left for the backward pass at the peak.
struct Call {
  std::int64_t bytes = 0;  // with all modules inside
  // What its last operator made: its output, which the next one keeps as its input, and what came with it.
  std::int64_t last = 0;
  EventId last_operator = kNoEvent;

  // They come by when they were made.
  void add(const UsedBlock& block, EventId made_by) {
    bytes += block.bytes;
    if (std::exchange(last_operator, made_by) != made_by) last = 0;
    last += block.bytes;
  }
};

struct Candidate {
  std::string_view module;
  std::map<EventId, Call> calls;

  // All that the calls keep, but for their inputs, and for what one of them needs while it is computed again.
  std::int64_t freed() const {
    std::int64_t all = 0, kept = 0, largest = 0;
    for (const auto& [event, call] : calls) {
      all += call.bytes;
      kept += call.last;
      largest = std::max(largest, call.bytes - call.last);
    }
    return all - kept - largest;
  }
};

std::vector<Candidate> candidates_of(const Facts& facts, const DeviceCauses& device) {
  constexpr int kMostLooks = 1000;
  const Events& events = facts.trace.events;
  std::map<std::string_view, Candidate> by_class;
  std::vector<const UsedBlock*> activations;  // by when they were made
  for (const UsedBlock& block : device.at_peak)
    if (block.use == MemoryUse::kActivations) activations.push_back(&block);
  std::ranges::stable_sort(activations, {}, &UsedBlock::allocated);
  for (const UsedBlock* const block : activations) {
    const EventId made_by = maker_of(facts.trace, block->event);
    EventId at = block->event;
    for (int looks = 0; at != kNoEvent && looks < kMostLooks; ++looks, at = events.parent[at]) {
      if (events.kind[at] != Kind::kModule) continue;
      Candidate& candidate = by_class[class_of(facts.trace.name(at))];
      candidate.module = class_of(facts.trace.name(at));
      candidate.calls[at].add(*block, made_by);
    }
  }
  std::vector<Candidate> candidates;
  for (auto& [module, candidate] : by_class) candidates.push_back(std::move(candidate));
  return candidates;
}

// The forward pass of these modules is computed twice in every step.
Nanoseconds cost_of(const Facts& facts, const Candidate& candidate) {
  Edit edit = facts.unobserved;
  const Events& events = facts.trace.events;
  for (EventId event = 0; event < events.size(); ++event) {
    const bool is_such = events.kind[event] == Kind::kModule && class_of(facts.trace.name(event)) == candidate.module;
    if (is_such && facts.is_in_steps(event) && facts.phases[event] != Phase::kBackward)
      edit.scale_subtree(facts.trace, facts.launched, event, 2, 2);
  }
  return std::max<Nanoseconds>(0, -facts.saved_by(edit));
}

Finding found(const Facts& facts, const Candidate& candidate, std::int64_t freed) {
  Finding finding;
  finding.saving_bytes = freed;
  finding.cost = cost_of(facts, candidate);
  finding.title = fmt::format("{} keeps activations that could be recomputed", candidate.module);
  finding.explanation = fmt::format(
      "{} of {} {} for the backward pass what the forward pass made. Computed again when it is needed, block by "
      "block, {} of that need not stay; the forward pass of these modules then runs twice, which adds {} per step.",
      counted(static_cast<double>(candidate.calls.size()), "call"), candidate.module,
      candidate.calls.size() == 1 ? "keeps" : "keep", format_bytes(finding.saving_bytes), format_time(*finding.cost));
  for (const auto& [event, call] : candidate.calls) finding.evidence.push_back(event);
  finding.source = source_line(facts.trace, finding.evidence.front());
  finding.fix = {"checkpoint",
                 fmt::format("Wrap each {} in torch.utils.checkpoint, or turn on gradient checkpointing where the "
                             "library has it (model.gradient_checkpointing_enable()).",
                             candidate.module),
                 "+ from torch.utils.checkpoint import checkpoint\n- x = block(x)\n+ x = checkpoint(block, x, "
                 "use_reentrant=False)"};
  return finding;
}

// One call of the module, with all that it ever kept for the backward pass.
struct CallBlocks {
  std::vector<const UsedBlock*> inner;    // all but what the last operator made
  std::vector<const UsedBlock*> outputs;  // that
  EventId last_operator = kNoEvent;

  // They come by when they were made.
  void add(const UsedBlock& block, EventId made_by) {
    if (made_by != last_operator) {
      inner.insert(inner.end(), outputs.begin(), outputs.end());
      outputs.clear();
      last_operator = made_by;
    }
    outputs.push_back(&block);
  }
  Nanoseconds first_freed() const { return std::ranges::min(inner, {}, &UsedBlock::freed)->freed; }
  Nanoseconds last_freed() const { return std::ranges::max(inner, {}, &UsedBlock::freed)->freed; }
  Nanoseconds output_freed() const { return std::ranges::min(outputs, {}, &UsedBlock::freed)->freed; }
};

// When the backward pass begins, ascending.
std::vector<Nanoseconds> starts_of_backward(const Facts& facts) {
  const Events& events = facts.trace.events;
  std::vector<Nanoseconds> starts;
  for (EventId event = 0; event < events.size(); ++event)
    if (facts.phases[event] == Phase::kBackward && !is_on_device(events.kind[event]))
      starts.push_back(events.start[event]);
  std::ranges::sort(starts);
  return starts;
}

std::map<EventId, CallBlocks> calls_of(const Trace& trace, std::string_view module, std::span<const UsedBlock> blocks) {
  constexpr int kMostLooks = 1000;
  std::map<EventId, CallBlocks> calls;
  for (const UsedBlock& block : blocks) {
    if (block.use != MemoryUse::kActivations || block.is_left_behind) continue;
    EventId outermost = kNoEvent;
    EventId at = block.event;
    for (int looks = 0; at != kNoEvent && looks < kMostLooks; ++looks, at = trace.events.parent[at])
      if (trace.events.kind[at] == Kind::kModule && class_of(trace.name(at)) == module) outermost = at;
    if (outermost != kNoEvent) calls[outermost].add(block, maker_of(trace, block.event));
  }
  std::erase_if(calls, [](const auto& each) { return each.second.inner.empty(); });
  return calls;
}

// What a call keeps goes when it ends, but for its output. It comes back when the backward pass is done with what came
// behind the call: with the calls that it comes to before, and with the output, which the next call kept as its input.
MemoryEdit recomputed(const Facts& facts, std::string_view module, std::span<const UsedBlock> blocks) {
  const std::map<EventId, CallBlocks> calls = calls_of(facts.trace, module, blocks);
  std::vector<Nanoseconds> done;
  for (const auto& [event, call] : calls) done.push_back(call.last_freed());
  std::ranges::sort(done);
  const std::vector<Nanoseconds> starts = starts_of_backward(facts);
  MemoryEdit edit;
  for (const auto& [event, call] : calls) {
    const Nanoseconds from = facts.trace.events.end(event), needed = call.first_freed();
    const auto start = std::ranges::upper_bound(starts, from);
    Nanoseconds until = start == starts.end() ? UsedBlock::kNever : *start;
    const auto behind = std::ranges::lower_bound(done, needed);
    if (behind != done.begin() && *std::prev(behind) > from) until = std::max(until, *std::prev(behind));
    if (call.output_freed() < needed) until = std::max(until, call.output_freed());
    for (const UsedBlock* const block : call.inner) edit.send_away(*block, {from, until});
  }
  return edit;
}

std::vector<Finding> find(const Facts& facts, const DeviceCauses& device, std::span<const UsedBlock> blocks) {
  const Nanoseconds least = facts.step / 100;  // as `telltale analyze` takes it
  std::optional<Finding> best;
  for (const Candidate& candidate : candidates_of(facts, device)) {
    if (!is_worth_freeing(device, candidate.freed())) continue;
    const std::int64_t freed = peak_lowered_by(recomputed(facts, candidate.module, blocks), blocks);
    if (!is_worth_freeing(device, freed)) continue;
    Finding finding = found(facts, candidate, freed);
    if (!best || bytes_for_time(finding, least) > bytes_for_time(*best, least)) best = std::move(finding);
  }
  if (!best) return {};
  return {*best};
}

MemoryEdit edit(const Facts& facts, const DeviceCauses&, const Finding& finding, std::span<const UsedBlock> blocks) {
  return recomputed(facts, class_of(facts.trace.name(finding.evidence.front())), blocks);
}

}  // namespace

MemoryRule memory_rules::recompute_activations() {
  return {{.title = "Activations that could be recomputed",
           .looks_for = "Modules, by class, whose calls keep at the peak what the forward pass made for the backward "
                        "pass; the class of which a byte is cheapest to compute again.",
           .needs = "Memory events and modules of a training step; stacks for the source line.",
           .saving = "Bytes: how much lower the peak is when what the calls keep goes with them and comes back where "
                     "the backward pass needs it, but for what the last operator of each makes, which is the input of "
                     "the next one. Time: a replay in which the forward pass of these modules takes twice as long.",
           .held = "Predicted and measured, in MiB: 1,344 and 1,391, in a program made for it on an H200; 48 and 44, "
                   "31 and 32, in a transformer and a U-Net on a CPU.",
           .fixes = {"checkpoint"}},
          find,
          edit};
}

}  // namespace telltale
