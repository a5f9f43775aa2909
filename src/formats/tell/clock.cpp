#include "formats/tell/clock.h"

#include <algorithm>
#include <cmath>

namespace telltale::tell {
namespace {

constexpr Nanoseconds kSecond = 1'000'000'000;
__extension__ using Wide = unsigned __int128;

std::vector<ClockReading> usable(std::span<const ClockReading> readings) {
  std::vector<ClockReading> chosen;
  for (const ClockReading& reading : readings) {
    const bool is_possible = reading.to > -ClockMap::kFurthestTime && reading.to < ClockMap::kFurthestTime;
    const bool goes_on = chosen.empty() || (reading.from > chosen.back().from && reading.to > chosen.back().to);
    if (!is_possible || !goes_on) continue;
    // Too near to the one before: only good as the last one, in whose place the next one comes.
    if (chosen.size() > 1 && chosen.back().to - chosen[chosen.size() - 2].to < kSecond) chosen.pop_back();
    chosen.push_back(reading);
  }
  const std::size_t count = chosen.size();
  if (count > 2 && chosen[count - 1].to - chosen[count - 2].to < kSecond) chosen.erase(chosen.end() - 2);
  return chosen;
}

// part / whole, below 1, in units of 2⁻⁶⁴. Rounded up, so that times which come out whole do not fall short of it.
std::uint64_t rounded_up_share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<std::uint64_t>(((static_cast<Wide>(part) << 64) + whole - 1) / whole);
}

}  // namespace

ClockMap::ClockMap(std::span<const ClockReading> readings, double ticks_per_second) {
  const std::vector<ClockReading> points = usable(readings);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    const std::uint64_t ticks = points[i + 1].from - points[i].from;
    const auto nanoseconds = static_cast<std::uint64_t>(points[i + 1].to - points[i].to);
    const std::uint64_t rest = nanoseconds % ticks;
    segments_.push_back({points[i].from, points[i].to, nanoseconds / ticks, rounded_up_share(rest, ticks)});
  }
  if (!segments_.empty()) return;
  Segment only;
  if (!points.empty()) {
    only.from = points.front().from;
    only.to = points.front().to;
  }
  const double slope = static_cast<double>(kSecond) / ticks_per_second;
  if (std::isfinite(slope) && slope > 0 && slope < static_cast<double>(kSecond)) {
    only.whole = static_cast<std::uint64_t>(slope);
    only.fraction = static_cast<std::uint64_t>(std::ldexp(slope - std::floor(slope), 64));
  }
  segments_.push_back(only);
}

std::optional<Nanoseconds> ClockMap::operator()(std::uint64_t time) const {
  std::size_t at = 0;
  if (segments_.size() > 1) {
    const auto behind = std::upper_bound(segments_.begin(), segments_.end(), time,
                                         [](std::uint64_t value, const Segment& each) { return value < each.from; });
    if (behind != segments_.begin()) at = static_cast<std::size_t>(behind - segments_.begin()) - 1;
  }
  const Segment& segment = segments_[at];
  const bool is_before = time < segment.from;
  const std::uint64_t distance = is_before ? segment.from - time : time - segment.from;
  const Wide product =
      static_cast<Wide>(distance) * segment.whole + (static_cast<Wide>(distance) * segment.fraction >> 64);
  const Nanoseconds room = is_before ? segment.to + kFurthestTime : kFurthestTime - segment.to;
  if (product > static_cast<Wide>(room)) return std::nullopt;
  const auto length = static_cast<Nanoseconds>(product);
  return is_before ? segment.to - length : segment.to + length;
}

}  // namespace telltale::tell
