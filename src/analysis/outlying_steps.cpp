#include "analysis/outlying_steps.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

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

// Whether so many steps lie between any two of them, and not more before the first and behind the last. Of those from
// `begin` on; there may be none at places whose steps are not known.
bool come_at_equal_distances(std::span<const std::size_t> places, std::span<const std::int64_t> numbers,
                             std::size_t begin) {
  if (places.size() < 2) return false;
  std::int64_t distance = numbers[places[1]] - numbers[places[0]];
  for (std::size_t i = 2; i < places.size(); ++i)
    distance = std::min(distance, numbers[places[i]] - numbers[places[i - 1]]);
  const std::int64_t first = numbers[places.front()];
  auto next = places.begin();
  for (std::size_t i = begin; i < numbers.size(); ++i) {
    const bool is_one = next != places.end() && *next == i;
    if (is_one) ++next;
    const bool may_be_none = i == begin && first - numbers[i] == distance;
    if (is_one != ((numbers[i] - first) % distance == 0) && !may_be_none) return false;
  }
  return true;
}

}  // namespace

std::vector<bool> outliers_among(std::span<const Nanoseconds> durations, std::span<const std::int64_t> numbers) {
  std::vector<bool> is_outlier(durations.size());
  if (durations.size() < kLeastSteps) return is_outlier;
  std::vector<std::int64_t> places(durations.size());
  std::iota(places.begin(), places.end(), 0);
  if (numbers.empty()) numbers = places;
  const std::vector<std::size_t> far = far_steps(durations);
  if (come_at_equal_distances(far, numbers, 0)) return is_outlier;
  std::size_t first = 0;
  while (first < far.size() && far[first] == first) ++first;
  for (std::size_t i = 0; i < std::min(first, durations.size() / kMostAtBeginning); ++i) is_outlier[i] = true;
  const std::span later = std::span(far).subspan(first);
  const bool is_rare = later.size() <= std::max<std::size_t>(1, durations.size() / kMostElsewhere);
  if (is_rare && !come_at_equal_distances(later, numbers, first))
    for (const std::size_t place : later) is_outlier[place] = true;
  return is_outlier;
}

}  // namespace telltale
