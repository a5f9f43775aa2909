#include "analysis/measured_step.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <vector>

#include "analysis/robust_statistics.h"

namespace telltale {
namespace {

constexpr std::size_t kWarmupSteps = 2;  // of a program
constexpr std::size_t kEnough = 5;
constexpr std::size_t kFewest = 3;
constexpr double kFence = 1.5;  // of the distance of the quartiles, beyond them
// A host that takes longer than this share of the step is not seen to be ahead: steps vary.
constexpr double kMostAhead = 0.8;

using Times = std::vector<Nanoseconds>;

// The later half, where that leaves enough.
Times settled(Times took) {
  const std::size_t kept = std::max(std::min(took.size(), kEnough), took.size() / 2);
  took.erase(took.begin(), took.end() - static_cast<std::ptrdiff_t>(kept));
  return took;
}

std::size_t unsettled_steps(const UnrecordedStretch& stretch) {
  if (stretch.when != Unrecorded::kBefore) return 1;
  const auto first = static_cast<std::size_t>(stretch.first);
  return first < kWarmupSteps ? kWarmupSteps - first : 0;
}

std::array<Times, kUnrecordedCount> steps_by_when(const Trace& trace) {
  std::array<Times, kUnrecordedCount> times;
  for (const UnrecordedStretch& stretch : unrecorded_steps(trace)) {
    if (stretch.is_of_host_alone) continue;
    Times took = stretch.took;
    const std::size_t unsettled = std::min(unsettled_steps(stretch), took.size());
    took.erase(took.begin(), took.begin() + static_cast<std::ptrdiff_t>(unsettled));
    if (stretch.when != Unrecorded::kPaused) took = settled(std::move(took));
    Times& all = times[static_cast<std::size_t>(stretch.when)];
    all.insert(all.end(), took.begin(), took.end());
  }
  return times;
}

// By half a step when the pause ended: what its host took is not what its steps took.
bool is_far_ahead(const UnrecordedStretch& stretch, const MeasuredStep& step) {
  const auto sum = [](const Times& times) { return std::accumulate(times.begin(), times.end(), Nanoseconds{0}); };
  return !stretch.by_host.empty() && sum(stretch.took) - sum(stretch.by_host) > step.typical / 2;
}

MeasuredStep measured_over(Times took, Unrecorded when) {
  std::ranges::sort(took);
  const double low = static_cast<double>(took[took.size() / 4]);
  const double high = static_cast<double>(took[took.size() - 1 - took.size() / 4]);
  const double reach = kFence * (high - low);
  std::erase_if(took, [&](Nanoseconds each) {
    return static_cast<double>(each) < low - reach || static_cast<double>(each) > high + reach;
  });
  const auto count = static_cast<Nanoseconds>(took.size());
  return {std::accumulate(took.begin(), took.end(), Nanoseconds{0}) / count, took.front(), took.back(), count, when};
}

}  // namespace

std::optional<MeasuredStep> measured_step(const Trace& trace) {
  std::array<Times, kUnrecordedCount> times = steps_by_when(trace);
  auto chosen = std::ranges::find_if(times, [](const Times& each) { return each.size() >= kEnough; });
  if (chosen == times.end()) chosen = std::ranges::max_element(times, {}, &Times::size);
  if (chosen->size() < kFewest) return std::nullopt;
  return measured_over(std::move(*chosen), static_cast<Unrecorded>(chosen - times.begin()));
}

std::optional<Nanoseconds> host_step_ahead(const Trace& trace, const MeasuredStep& step) {
  const double most = kMostAhead * static_cast<double>(step.typical);
  Times ahead;
  for (const UnrecordedStretch& stretch : unrecorded_steps(trace)) {
    if (!is_far_ahead(stretch, step)) continue;
    const Times& took = stretch.by_host;
    const auto end =
        std::find_if(took.begin() + 1, took.end(), [&](Nanoseconds each) { return static_cast<double>(each) >= most; });
    if (end - took.begin() > 2) ahead.insert(ahead.end(), took.begin() + 1, end - 1);
  }
  if (ahead.size() < kFewest) return std::nullopt;
  return quantile(std::move(ahead), 1, 2);
}

}  // namespace telltale
