#include "advise/patterns/growing_memory.h"

#include <algorithm>
#include <array>
#include <ranges>
#include <span>

#include "memory/memory_causes.h"
#include "memory/memory_peak.h"

namespace telltale {
namespace {

constexpr double kBytesPerMebibyte = 1024 * 1024;

// What one step leaves behind may be a buffer that is made once; what several leave behind is not.
constexpr std::int64_t kLeastSteps = 2;
// Of what is left, the first half of the steps has at least this share, and at most the rest. Half of it is what a leak
// comes to; inputs of varied sizes move that, most of all where the steps are few.
constexpr double kLeastEarlyShare = 0.125;
// Survivors have to explain at least this share of the growth.
constexpr double kShareExplained = 0.5;

bool is_left_by_all_steps(const Survivor& survivor) {
  return survivor.steps >= kLeastSteps && survivor.early_share >= kLeastEarlyShare &&
         survivor.early_share <= 1 - kLeastEarlyShare;
}

std::optional<double> steps_until_full(const Facts& facts, DeviceId device, double used, double growth) {
  const std::optional<std::int64_t> whole = capacity_of(facts.trace, device);
  if (!whole) return {};
  return std::max(0.0, (static_cast<double>(*whole) - used) / growth);
}

bool fills_memory_soon(const Facts& facts, DeviceId device, double growth) {
  const std::optional<double> steps = steps_until_full(facts, device, 0, growth);
  return steps && *steps * static_cast<double>(facts.step) <= kMostHoursToEnd * 3600e9;
}

// By the lines that leave something in steps which only the log of allocations tells, as in a snapshot.
std::optional<GrowingMemory> growth_in_inferred_steps(const Facts& facts) {
  if (facts.diagnosis.timing.source != StepSource::kWhole || !facts.diagnosis.memory_causes) return {};
  const MemoryCauses& causes = *facts.diagnosis.memory_causes;
  const DeviceCauses* const device = fullest(causes);
  if (causes.inferred_steps == 0 || device == nullptr) return {};
  GrowingMemory growing{device->peak.device, 0, {}, {}, {}};
  for (const MemoryLeak& leak : causes.leaks) {
    if (leak.device != growing.device || leak.is_per_call) continue;
    growing.bytes_per_step += leak.bytes_per_step;
    growing.survivors.push_back({.op = leak.example, .bytes = static_cast<std::int64_t>(leak.bytes_per_step)});
    if (!growing.source) growing.source = leak.source;
  }
  if (growing.bytes_per_step < kLeastMebibytesPerStep * kBytesPerMebibyte) return {};
  growing.steps_to_end =
      steps_until_full(facts, growing.device, static_cast<double>(device->peak.allocated), growing.bytes_per_step);
  return growing;
}

// With those between them that the recorder left out.
double count_of_steps(const Facts& facts) {
  const std::vector<StepSpan> steps = all_steps(facts.diagnosis.timing);
  const auto recorded = static_cast<double>(steps.size());
  return std::max(recorded, static_cast<double>(steps.back().index - steps.front().index + 1));
}

bool matters(const Facts& facts, DeviceId device, double growth) {
  if (growth >= kLeastMebibytesPerStep * kBytesPerMebibyte) return true;
  return growth >= kLeastKibibytesPerManySteps * 1024 && count_of_steps(facts) >= kStepsThatTell &&
         fills_memory_soon(facts, device, growth);
}

// The values of the counter within the steps.
std::span<const double> resident_memory(const Facts& facts) {
  const Counters& counters = facts.trace.counters;
  const auto series = std::ranges::find_if(
      counters.series, [&](const CounterSeries& each) { return facts.trace.strings[each.name] == "resident memory"; });
  if (series == counters.series.end()) return {};
  const std::span times(counters.time.data() + series->first, series->count);
  const std::vector<StepSpan> steps = all_steps(facts.diagnosis.timing);
  const auto first = std::ranges::lower_bound(times, steps.front().host.begin) - times.begin();
  const auto last = std::ranges::upper_bound(times, steps.back().host.end) - times.begin();
  return std::span(counters.value.data() + series->first, series->count)
      .subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first));
}

}  // namespace

std::optional<GrowingMemory> growing_memory(const Facts& facts) {
  if (auto inferred = growth_in_inferred_steps(facts)) return inferred;
  if (!facts.diagnosis.memory) return {};
  const MemorySummary& memory = *facts.diagnosis.memory;
  GrowingMemory growing{memory.device, memory.growth_per_step.value_or(0), {}, {}, {}};
  if (!matters(facts, memory.device, growing.bytes_per_step)) return {};
  double explained = 0;
  for (const Survivor& survivor : memory.survivors | std::views::filter(is_left_by_all_steps)) {
    explained += static_cast<double>(survivor.bytes);
    growing.survivors.push_back(survivor);
  }
  if (growing.survivors.empty() || explained < kShareExplained * growing.bytes_per_step) return {};
  growing.steps_to_end =
      steps_until_full(facts, memory.device, static_cast<double>(memory.peak_allocated), growing.bytes_per_step);
  return growing;
}

std::optional<GrowingProcess> growing_process(const Facts& facts) {
  // The least of each quarter: what is freed and taken again within one does not show.
  constexpr std::size_t kQuarters = 4, kLeastInQuarter = 2;
  // Of the usual rise from one quarter to the next.
  constexpr double kLeastRise = 0.5;
  const std::span<const double> values = resident_memory(facts);
  const std::size_t length = values.size() / kQuarters;
  const double steps = count_of_steps(facts);
  if (length < kLeastInQuarter || steps < kStepsThatTell) return {};
  std::array<double, kQuarters> least{};
  for (std::size_t i = 0; i < kQuarters; ++i)
    least[i] = std::ranges::min(values.last(length * (kQuarters - i)).first(length));
  const double rise = (least.back() - least.front()) / (kQuarters - 1);
  if (rise * kQuarters < kLeastMebibytesOfProcess * kBytesPerMebibyte) return {};
  for (std::size_t i = 1; i < kQuarters; ++i)
    if (least[i] - least[i - 1] < kLeastRise * rise) return {};

  GrowingProcess growing;
  growing.bytes_per_step = rise * static_cast<double>(values.size()) / static_cast<double>(length) / steps;
  growing.bytes = values.back();
  if (!matters(facts, kHost, growing.bytes_per_step)) return {};
  growing.steps_to_end = steps_until_full(facts, kHost, growing.bytes, growing.bytes_per_step);
  return growing;
}

}  // namespace telltale
