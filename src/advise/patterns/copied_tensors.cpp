#include "advise/patterns/copied_tensors.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "advise/patterns/host_calls.h"
#include "analysis/host_timeline.h"

namespace telltale {
namespace {

constexpr auto kFilling = std::to_array<std::string_view>({
    "aten::arange",   "aten::bernoulli",    "aten::bernoulli_", "aten::exponential_", "aten::eye",
    "aten::fill_",    "aten::full",         "aten::full_like",  "aten::linspace",     "aten::normal",
    "aten::normal_",  "aten::ones",         "aten::ones_like",  "aten::rand",         "aten::rand_like",
    "aten::randint",  "aten::randint_like", "aten::randn",      "aten::randn_like",   "aten::random_",
    "aten::randperm", "aten::uniform_",     "aten::zeros",      "aten::zeros_like",   "aten::zero_",
});

using CopyByCall = std::unordered_map<EventId, EventId>;

CopyByCall copies_to_device(const Facts& facts) {
  CopyByCall copies;
  for (const CopyCall& call : facts.diagnosis.copies.calls) {
    const EventId launch = facts.trace.launch_of(call.event);
    if (call.direction == CopyDirection::kHostToDevice && launch != kNoEvent)
      copies[copying_call(facts.trace, launch)] = call.event;
  }
  return copies;
}

std::vector<TensorCall> calls_of(const Facts& facts, const Track& track, const CopyByCall& copies) {
  std::vector<TensorCall> calls;
  EventId behind = 0;  // the operators before it have been seen as a whole
  for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event) {
    // Python's call of the method that copies stands for the operator within.
    const auto copy = copies.find(event);
    const bool is_copy = copy != copies.end();
    if (event < behind || (!is_copy && facts.trace.events.kind[event] != Kind::kOperator)) continue;
    behind = subtree_end(facts.trace, event);
    if (facts.host_work[event] == HostWork::kDataLoading || !facts.is_in_steps(event)) continue;
    calls.push_back({event, behind, is_copy ? copy->second : kNoEvent});
  }
  return calls;
}

}  // namespace

bool fills_tensor(std::string_view op) { return std::ranges::find(kFilling, op) != kFilling.end(); }

std::vector<std::vector<TensorCall>> tensor_calls(const Facts& facts) {
  const std::vector<StepSpan>& steps = facts.diagnosis.timing.steps;
  std::vector<std::vector<TensorCall>> by_thread;
  const CopyByCall copies = copies_to_device(facts);
  if (copies.empty()) return by_thread;
  for (const TrackId thread : launching_threads(facts.trace, {steps.front().host.begin, steps.back().host.end}))
    by_thread.push_back(calls_of(facts, facts.trace.tracks[thread], copies));
  return by_thread;
}

Shape shape_in(const Trace& trace, const TensorCall& call) {
  for (EventId event = call.call; event < call.end; ++event) {
    std::vector<Shape> shapes = tensor_shapes(texts_of(trace, event).shapes);
    if (!shapes.empty() && !shapes.front().empty()) return std::move(shapes.front());
  }
  return {};
}

}  // namespace telltale
