#include "analysis/outlying_steps.h"

#include <algorithm>
#include <cstdlib>

#include "analysis/robust_statistics.h"

namespace telltale {
namespace {

constexpr std::size_t kLeastSteps = 3;
constexpr double kFarRatio = 2;
// Steps of one program spread by a few percent, and one in a million normal values is this far out; steps that warm up
// or were disturbed are further out by an order of magnitude.
constexpr double kFarDeviations = 5;
constexpr double kDeviationsOfMedian = 1.4826;  // a standard deviation, by the median deviation of normal values
constexpr std::size_t kMostAtBeginning = 3, kMostElsewhere = 5;  // one step in so many

std::vector<std::size_t> far_steps(std::span<const Nanoseconds> durations) {
  const auto usual = static_cast<double>(median({durations.begin(), durations.end()}));
  std::vector<Nanoseconds> deviations;
  for (const Nanoseconds duration : durations)
    deviations.push_back(std::abs(duration - static_cast<Nanoseconds>(usual)));
  const double spread = kDeviationsOfMedian * static_cast<double>(median(deviations));
  std::vector<std::size_t> far;
  for (std::size_t i = 0; i < durations.size(); ++i) {
    const auto duration = static_cast<double>(durations[i]);
    const bool is_of_another_size = duration > kFarRatio * usual || duration * kFarRatio < usual;
    if (is_of_another_size && static_cast<double>(deviations[i]) > kFarDeviations * spread) far.push_back(i);
  }
  return far;
}

// Whether so many steps lie between any two of them, and not more before the first and behind the last.
bool come_at_equal_distances(std::span<const std::size_t> places, std::size_t begin, std::size_t end) {
  if (places.size() < 2) return false;
  const std::size_t distance = places[1] - places[0];
  for (std::size_t i = 2; i < places.size(); ++i)
    if (places[i] - places[i - 1] != distance) return false;
  return places.front() - begin <= distance && end - places.back() <= distance;
}

}  // namespace

std::vector<bool> outliers_among(std::span<const Nanoseconds> durations) {
  std::vector<bool> is_outlier(durations.size());
  if (durations.size() < kLeastSteps) return is_outlier;
  const std::vector<std::size_t> far = far_steps(durations);
  if (come_at_equal_distances(far, 0, durations.size())) return is_outlier;
  std::size_t first = 0;
  while (first < far.size() && far[first] == first) ++first;
  for (std::size_t i = 0; i < std::min(first, durations.size() / kMostAtBeginning); ++i) is_outlier[i] = true;
  const std::span later = std::span(far).subspan(first);
  const bool is_rare = later.size() <= std::max<std::size_t>(1, durations.size() / kMostElsewhere);
  if (is_rare && !come_at_equal_distances(later, first, durations.size()))
    for (const std::size_t place : later) is_outlier[place] = true;
  return is_outlier;
}

}  // namespace telltale
