// What changes over time and is drawn as curves: the counters that a trace has, what allocators hold, and how many
// launches wait for each device.
//
// Made in linear time, but for merging the streams of a device by time; then immutable and thread-safe. A curve is
// drawn in time for each bucket, however many values it has. The trace must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/intervals.h"
#include "timeline/compact_times.h"
#include "timeline/compact_values.h"
#include "trace/trace.h"

namespace telltale {

// What is known of a curve within one bucket. The last value holds until the next point.
struct CurvePoint {
  Nanoseconds time = 0;  // of the first value in the bucket
  double minimum = 0, maximum = 0, last = 0;
  bool operator==(const CurvePoint&) const = default;
};

struct Extremes {
  double minimum = 0, maximum = 0;
};

class CounterCurve {
 public:
  using Values = std::variant<std::span<const double>, CompactValues, std::vector<std::int64_t>,
                              std::vector<std::int32_t>, std::vector<std::uint16_t>>;
  using Times = std::variant<std::span<const Nanoseconds>, CompactTimes>;

  // Times ascend; there is at least one.
  CounterCurve(Times times, Values values);

  std::string name;  // "GPU 0: power"
  std::string unit;  // "W"; empty where it is not known
  ProcessId process = 0;
  std::optional<DeviceId> device;

  std::size_t size() const { return size_; }
  Nanoseconds time(std::size_t i) const;
  double value(std::size_t i) const;
  Extremes extremes() const { return extremes_between(0, size_); }

  // At most a point for each bucket of 2^level ns that has values and, first, what holds when the window begins.
  std::vector<CurvePoint> draw(unsigned level, Interval window) const;

  std::size_t memory_bytes() const;

 private:
  Extremes extremes_between(std::size_t begin, std::size_t end) const;  // of at least one value
  Extremes extremes_at(std::size_t level, std::size_t i) const;
  std::size_t first_from(Nanoseconds time, std::size_t begin) const;

  Times times_;
  Values values_;
  std::size_t size_ = 0;
  std::vector<std::vector<Extremes>> levels_;  // of every sixteen values, of every sixteen of these, …
};

// Queue depths and memory first, by device; then the trace's own counters in its order.
std::vector<CounterCurve> counter_curves(const Trace& trace);

}  // namespace telltale
