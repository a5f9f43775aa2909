#include "advise/models/graph_model.h"

#include <algorithm>

#include "replay/edit.h"

namespace telltale {
namespace {

// The kernels of each step, by name, in the order of their launches.
std::vector<std::vector<StringId>> kernels_by_step(const Facts& facts) {
  const Trace& trace = facts.trace;
  struct Launched {
    Nanoseconds at;
    StringId name;
  };
  std::vector<std::vector<Launched>> launches(facts.diagnosis.timing.steps.size());
  for (const DeviceCall& call : facts.diagnosis.kernels.calls) {
    const EventId launch = trace.launch_of(call.event);
    const int step = launch == kNoEvent ? -1 : step_at(facts.diagnosis.timing, trace.events.start[launch]);
    if (step >= 0)
      launches[static_cast<std::size_t>(step)].push_back({trace.events.start[launch], trace.events.name[call.event]});
  }
  std::vector<std::vector<StringId>> names;
  for (std::vector<Launched>& step : launches) {
    std::stable_sort(step.begin(), step.end(), [](const Launched& a, const Launched& b) { return a.at < b.at; });
    names.emplace_back();
    for (const Launched& launched : step) names.back().push_back(launched.name);
  }
  return names;
}

bool repeats_itself(const Facts& facts) {
  const std::vector<std::vector<StringId>> steps = kernels_by_step(facts);
  if (steps.size() < kLeastStepsOfGraph || steps.front().empty()) return false;
  return std::all_of(steps.begin(), steps.end(), [&](const auto& step) { return step == steps.front(); });
}

bool may_be_captured(const Facts& facts) {
  const bool waits = std::any_of(facts.diagnosis.syncs.begin(), facts.diagnosis.syncs.end(),
                                 [&](const SyncPoint& sync) { return facts.phases[sync.call] != Phase::kData; });
  const bool allocates = facts.diagnosis.memory && facts.diagnosis.memory->device_allocations >= 1;
  const bool is_graph_already = !facts.trace.graph_nodes.empty();
  return !waits && !allocates && !is_graph_already;
}

}  // namespace

std::optional<Edit> captured_in_graph(const Facts& facts) {
  if (!may_be_captured(facts) || !repeats_itself(facts)) return {};
  Edit edit = facts.unobserved;
  capture_in_graph(facts.trace, facts.host_work, edit);
  return edit;
}

Fix graph_fix() {
  return {"cuda_graph", "Capture the step in a CUDA graph and replay it.",
          "+ graph = torch.cuda.CUDAGraph()\n+ with torch.cuda.graph(graph):\n+     output = model(static_input)\n"
          "- output = model(x)\n+ static_input.copy_(x); graph.replay()"};
}

}  // namespace telltale
