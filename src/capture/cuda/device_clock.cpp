#include "capture/cuda/device_clock.h"

#include <algorithm>
#include <cmath>

namespace telltale::capture {
namespace {

constexpr double kMostShiftNs = 100'000;

double slope(const ClockReading& from, const ClockReading& to) {
  return static_cast<double>(to.ticks - from.ticks) / static_cast<double>(to.device_ns - from.device_ns);
}

std::uint64_t on_line(const ClockReading& from, double ticks_per_ns, std::uint64_t device_ns) {
  const double ahead_ns = device_ns >= from.device_ns ? static_cast<double>(device_ns - from.device_ns)
                                                      : -static_cast<double>(from.device_ns - device_ns);
  return from.ticks + static_cast<std::uint64_t>(std::llround(ahead_ns * ticks_per_ns));
}

}  // namespace

void DeviceClock::begin_anew() {
  readings_.clear();
  first_ = {};
  shift_ticks_ = 0;
}

void DeviceClock::add(const ClockReading& reading) {
  // A clock that was set back tells nothing about what lies between.
  if (!readings_.empty() &&
      (reading.device_ns <= readings_.back().device_ns || reading.ticks <= readings_.back().ticks))
    readings_.clear();
  residual_ticks_ = std::max(residual_ticks_, static_cast<double>(reading.window_ticks) / 2);
  if (readings_.size() >= 2) {
    const auto predicted = static_cast<double>(on_line(readings_.back(), ticks_per_ns(), reading.device_ns));
    residual_ticks_ = std::max(residual_ticks_, std::abs(predicted - static_cast<double>(reading.ticks)));
  }
  ++count_;
  if (first_.ticks == 0) first_ = reading;
  last_ = reading;
  readings_.push_back(reading);
  if (readings_.size() > kKept) readings_.pop_front();
  // The longest distance at hand has the smallest error.
  if (readings_.size() >= 2) known_ticks_per_ns_ = slope(readings_.front(), readings_.back());
}

double DeviceClock::ticks_per_ns() const { return known_ticks_per_ns_ > 0 ? known_ticks_per_ns_ : 1; }

std::uint64_t DeviceClock::ticks_at(std::uint64_t device_ns) const {
  const auto after =
      std::upper_bound(readings_.begin(), readings_.end(), device_ns,
                       [](std::uint64_t time, const ClockReading& reading) { return time < reading.device_ns; });
  if (after == readings_.begin() || after == readings_.end()) {
    const ClockReading& nearest = after == readings_.begin() ? readings_.front() : readings_.back();
    return on_line(nearest, ticks_per_ns(), device_ns) + shift_ticks_;
  }
  return on_line(*(after - 1), slope(*(after - 1), *after), device_ns) + shift_ticks_;
}

std::uint64_t DeviceClock::not_before(std::uint64_t start_ticks, std::uint64_t launch_ticks) {
  if (launch_ticks == 0 || start_ticks >= launch_ticks) return start_ticks;
  const std::uint64_t short_of = launch_ticks - start_ticks;
  if (static_cast<double>(short_of) > kMostShiftNs * ticks_per_ns()) return start_ticks;
  shift_ticks_ += short_of;
  most_shifted_ticks_ = std::max(most_shifted_ticks_, shift_ticks_);
  return launch_ticks;
}

void DeviceClock::forget_quality() {
  count_ = 0;
  residual_ticks_ = 0;
  most_shifted_ticks_ = 0;
}

DeviceClock::Quality DeviceClock::quality() const {
  Quality quality;
  quality.readings = count_;
  const double rate = ticks_per_ns();
  if (last_.host_ns > first_.host_ns)
    quality.drift_ppm =
        (static_cast<double>(last_.device_ns - first_.device_ns) / static_cast<double>(last_.host_ns - first_.host_ns) -
         1) *
        1e6;
  quality.residual_ns = std::llround(residual_ticks_ / rate);
  quality.shifted_ns = std::llround(static_cast<double>(most_shifted_ticks_) / rate);
  return quality;
}

}  // namespace telltale::capture
