#include "analysis/batch_size.h"

#include <algorithm>
#include <iterator>
#include <map>

#include "analysis/sample_rows.h"

namespace telltale {
namespace {

struct StepLayers {
  std::optional<std::int64_t> rows;  // of the first layer
  bool has_several = false;          // passes: a layer begins behind the beginning of the backward pass
};

std::map<int, Nanoseconds> backward_by_step(const Trace& trace, const StepTiming& timing,
                                            const std::vector<Phase>& phases) {
  std::map<int, Nanoseconds> first;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (phases[event] != Phase::kBackward || trace.events.kind[event] != Kind::kOperator) continue;
    const Nanoseconds start = trace.events.start[event];
    const auto [at, is_new] = first.try_emplace(step_at(timing, start), start);
    at->second = std::min(at->second, start);
  }
  return first;
}

std::map<int, StepLayers> layers_by_step(const Trace& trace, const StepTiming& timing,
                                         const std::vector<Phase>& phases) {
  const std::map<int, Nanoseconds> backward = backward_by_step(trace, timing, phases);
  std::map<int, StepLayers> layers;
  for (EventId event = 0; event < trace.events.size(); ++event) {
    if (phases[event] != Phase::kForward) continue;
    const Nanoseconds start = trace.events.start[event];
    const int step = step_at(timing, start);
    if (step < 0) continue;
    StepLayers& found = layers[step];
    const auto behind = backward.find(step);
    const bool is_behind = !found.has_several && behind != backward.end() && start > behind->second;
    if (found.rows && !is_behind) continue;
    const std::optional<std::int64_t> rows = sample_rows(trace, event);
    if (!found.rows) found.rows = rows;
    found.has_several |= rows && is_behind;
  }
  return layers;
}

std::optional<std::int64_t> most_common_rows(const std::map<int, StepLayers>& layers_by_step) {
  std::map<std::int64_t, std::size_t> steps_by_batch;
  std::size_t steps = 0;
  for (const auto& [step, layers] : layers_by_step) {
    if (!layers.rows) continue;
    ++steps_by_batch[*layers.rows];
    ++steps;
  }
  for (const auto& [batch, count] : steps_by_batch)
    if (2 * count > steps) return batch;
  return {};
}

}  // namespace

std::optional<std::int64_t> batch_size(const Trace& trace, const StepTiming& timing, const std::vector<Phase>& phases) {
  return most_common_rows(layers_by_step(trace, timing, phases));
}

std::optional<std::int64_t> samples_per_step(const Trace& trace, const StepTiming& timing,
                                             const std::vector<Phase>& phases) {
  const std::map<int, StepLayers> layers = layers_by_step(trace, timing, phases);
  const auto several = std::ranges::count_if(layers, [](const auto& step) { return step.second.has_several; });
  return 2 * several > std::ssize(layers) ? std::nullopt : most_common_rows(layers);
}

}  // namespace telltale
