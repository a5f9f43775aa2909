#include "report/whatif_json.h"

#include <cmath>

#include "report/json_lines.h"

namespace telltale {
namespace {

// Three decimals are more than it is known to.
double rounded(double value) { return std::round(value * 1000) / 1000; }

Json replayed(const WhatIf& answer, const ReplayedStep& step) {
  return {{"step_ns", step.period},
          {"device_busy_ns", answer.has_device ? Json(step.device_busy) : Json(nullptr)},
          {"host_busy_ns", step.host_busy},
          {"bottleneck", name_of(WhatIf::bottleneck_of(step))}};
}

Json change_of(std::string_view change, const Json& pattern, const Json& factor, const Reach& reach) {
  return {{"change", change},
          {"pattern", pattern},
          {"factor", factor},
          {"calls", reach.calls},
          {"device_work", reach.device_work}};
}

Json changes_of(const WhatIf& answer) {
  const Changes& changes = answer.changes;
  Json list = Json::array();
  for (std::size_t i = 0; i < changes.patterns.size(); ++i) {
    const auto& [pattern, factor] = changes.patterns[i];
    list.push_back(change_of(factor == 0 ? "remove" : "scale", text_of(pattern), factor, answer.reach[i]));
  }
  if (changes.drops_waits) list.push_back(change_of("no_sync", nullptr, nullptr, answer.waits));
  if (changes.has_instant_data) list.push_back(change_of("instant_data", nullptr, nullptr, answer.data));
  if (changes.runs_as_graph) list.push_back(change_of("graph", nullptr, nullptr, answer.graph));
  if (changes.leaves_out_observer) list.push_back(change_of("no_observer", nullptr, nullptr, {}));
  return list;
}

}  // namespace

std::string to_json(const WhatIf& answer) {
  return in_lines({
      {"schema", "telltale.whatif/1"},
      {"path", answer.path},
      {"step",
       {{"count", answer.timing.steps.size()},
        {"recorded_ns", answer.recorded},
        {"source", name_of(answer.timing.source)}}},
      {"changes", changes_of(answer)},
      {"before", replayed(answer, answer.before)},
      {"after", replayed(answer, answer.after)},
      {"saving", {{"ns", answer.saved()}, {"percent", rounded(answer.saved_percent())}}},
  });
}

}  // namespace telltale
