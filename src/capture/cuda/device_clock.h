// From the times that CUPTI gives to the recorder's ticks.
//
// Both clocks are read together again and again; times between two readings are interpolated, those behind the last
// continue its slope. What readings differ from the straight line through them is the residual, which recordings carry.
#pragma once

#include <cstdint>
#include <deque>

namespace telltale::capture {

struct ClockReading {
  std::uint64_t device_ns = 0;
  std::uint64_t host_ns = 0;       // of the monotonic clock
  std::uint64_t ticks = 0;         // in the middle of the reading
  std::uint64_t window_ticks = 0;  // how long it took
};

class DeviceClock {
 public:
  // CUPTI has been attached: what it says of times before does not count.
  void begin_anew();

  // In the order in which they were taken.
  void add(const ClockReading& reading);

  // Whether there have been readings enough to place anything.
  bool can_place() const { return readings_.size() >= 2 || (!readings_.empty() && known_ticks_per_ns_ > 0); }
  // Only where it can.
  std::uint64_t ticks_at(std::uint64_t device_ns) const;

  // Work that seems to start before its launch shows by how much the clocks differ: all later work starts so much
  // later. What is too much to be the clock's is left alone.
  std::uint64_t not_before(std::uint64_t start_ticks, std::uint64_t launch_ticks);

  double ticks_per_ns() const;

  struct Quality {
    std::uint64_t readings = 0;
    double drift_ppm =
        0;  // how much faster CUPTI's clock runs than the monotonic one, from the first reading to the last
    std::int64_t residual_ns = 0;  // the farthest reading from its prediction by the one before, or half its window
    std::int64_t shifted_ns = 0;   // see not_before()
  };
  Quality quality() const;
  void forget_quality();

 private:
  static constexpr std::size_t kKept = 64;

  std::deque<ClockReading> readings_;  // the newest
  ClockReading first_, last_;          // since CUPTI was attached
  std::uint64_t count_ = 0;
  double known_ticks_per_ns_ = 0;  // of earlier readings
  double residual_ticks_ = 0;
  std::uint64_t shift_ticks_ = 0;
  std::uint64_t most_shifted_ticks_ = 0;
};

}  // namespace telltale::capture
