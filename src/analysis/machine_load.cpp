#include "analysis/machine_load.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "analysis/host_activity.h"
#include "trace/recording_facts.h"

namespace telltale {
namespace {

// A machine always does something else: less than this share of its processors is that.
constexpr double kUsualByOthers = 0.15;
// Of its processors: what is busier has none to spare.
constexpr double kFull = 0.9;

std::optional<double> mean_of(const std::vector<CounterSummary>& counters, std::string_view name) {
  const auto found = std::ranges::find(counters, name, &CounterSummary::name);
  return found == counters.end() ? std::nullopt : std::optional(found->mean);
}

}  // namespace

double MachineLoad::by_others() const { return own ? std::max(0.0, busy - *own) : 0; }

bool MachineLoad::is_contended() const {
  return by_others() >= kUsualByOthers * processors && busy >= kFull * processors;
}

std::optional<MachineLoad> machine_load(const Trace& trace, Interval window) {
  const std::optional<double> processors = session_number(trace, "processors");
  if (!processors || *processors < 1) return std::nullopt;
  const std::vector<CounterSummary> counters = counter_summaries(trace, window);
  const std::optional<double> busy = mean_of(counters, "processors busy");
  if (!busy) return std::nullopt;
  return MachineLoad{*processors, *busy, mean_of(counters, "process processors")};
}

}  // namespace telltale
