#include "timeline/counter_curves.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <type_traits>

#include "analysis/device_maker.h"
#include "analysis/launch_queue.h"
#include "analysis/memory_levels.h"
#include "timeline/idle_times.h"
#include "trace/gauges.h"

namespace telltale {
namespace {

constexpr std::size_t kFanOut = 16;

void include(Extremes& extremes, const Extremes& other) {
  extremes.minimum = std::fmin(extremes.minimum, other.minimum);  // what is no number counts only among its like
  extremes.maximum = std::fmax(extremes.maximum, other.maximum);
}

template <typename List>
std::size_t bytes_owned(const List& list) {
  using Stored = std::remove_cvref_t<List>;
  if constexpr (requires { list.memory_bytes(); })
    return list.memory_bytes();
  else if constexpr (requires { list.capacity(); })
    return list.capacity() * sizeof(typename Stored::value_type);
  else
    return 0;
}

}  // namespace

CounterCurve::CounterCurve(Times times, Values values) : times_(std::move(times)), values_(std::move(values)) {
  size_ = std::visit([](const auto& list) { return list.size(); }, times_);
  for (std::size_t below = size_; below > kFanOut;) {
    const std::size_t size = (below + kFanOut - 1) / kFanOut;
    std::vector<Extremes> level(size);
    for (std::size_t i = 0; i < size; ++i) {
      level[i] = extremes_at(levels_.size(), i * kFanOut);
      for (std::size_t child = i * kFanOut + 1; child < std::min((i + 1) * kFanOut, below); ++child)
        include(level[i], extremes_at(levels_.size(), child));
    }
    levels_.push_back(std::move(level));
    below = size;
  }
}

Nanoseconds CounterCurve::time(std::size_t i) const {
  return std::visit([i](const auto& list) { return list[i]; }, times_);
}

double CounterCurve::value(std::size_t i) const {
  return std::visit([i](const auto& list) { return static_cast<double>(list[i]); }, values_);
}

// Level 0 are the values themselves.
Extremes CounterCurve::extremes_at(std::size_t level, std::size_t i) const {
  if (level > 0) return levels_[level - 1][i];
  return {value(i), value(i)};
}

// From both ends inwards, one level up where whole groups begin and end.
Extremes CounterCurve::extremes_between(std::size_t begin, std::size_t end) const {
  Extremes extremes = {value(begin), value(begin)};
  for (std::size_t level = 0; begin < end; ++level) {
    const bool is_top = level == levels_.size();
    while (begin < end && (is_top || begin % kFanOut != 0)) include(extremes, extremes_at(level, begin++));
    while (begin < end && end % kFanOut != 0) include(extremes, extremes_at(level, --end));
    begin /= kFanOut;
    end /= kFanOut;
  }
  return extremes;
}

std::size_t CounterCurve::first_from(Nanoseconds time, std::size_t begin) const {
  if (const auto* compact = std::get_if<CompactTimes>(&times_)) return compact->first_from(time, begin);
  const auto& list = std::get<std::span<const Nanoseconds>>(times_);
  const auto from = list.begin() + static_cast<std::ptrdiff_t>(begin);
  return static_cast<std::size_t>(std::lower_bound(from, list.end(), time) - list.begin());
}

std::vector<CurvePoint> CounterCurve::draw(unsigned level, Interval window) const {
  std::vector<CurvePoint> points;
  std::size_t at = first_from(window.begin, 0);
  if (at > 0) points.push_back({time(at - 1), value(at - 1), value(at - 1), value(at - 1)});
  while (at < size_ && time(at) < window.end) {
    const Nanoseconds bucket = time(at) >> level;
    const std::size_t next = first_from((bucket + 1) << level, at);
    const Extremes extremes = extremes_between(at, next);
    points.push_back({time(at), extremes.minimum, extremes.maximum, value(next - 1)});
    at = next;
  }
  return points;
}

std::size_t CounterCurve::memory_bytes() const {
  std::size_t bytes = sizeof(CounterCurve);
  for (const auto& level : levels_) bytes += bytes_owned(level);
  std::visit([&](const auto& list) { bytes += bytes_owned(list); }, times_);
  std::visit([&](const auto& list) { bytes += bytes_owned(list); }, values_);
  return bytes;
}

namespace {

// The process that shows what a device does.
ProcessId process_of(const Trace& trace, DeviceId device) {
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kStream && track.device == device) return track.process;
  return 0;
}

std::string device_label(const Trace& trace, DeviceId device) {
  return device == kHost ? "host" : std::string(device_word(trace)).append(" ").append(std::to_string(device));
}

template <typename Depth>
CounterCurve::Values depths_in(const std::vector<LaunchQueue::Point>& points) {
  std::vector<Depth> depths;
  depths.reserve(points.size());
  for (const LaunchQueue::Point& point : points) depths.push_back(static_cast<Depth>(point.depth));
  return depths;
}

void add_queue(const Trace& trace, DeviceId device, std::vector<CounterCurve>& curves) {
  const std::vector<LaunchQueue::Point> points = queue_depths(trace, {0, trace.duration}, device);
  if (points.size() < 2) return;  // no launch was recorded
  CompactTimes times;
  std::int32_t deepest = 0;
  for (const LaunchQueue::Point& point : points) {
    times.push_back(point.time);
    deepest = std::max(deepest, point.depth);
  }
  times.shrink_to_fit();
  CounterCurve& curve = curves.emplace_back(
      std::move(times), deepest <= UINT16_MAX ? depths_in<std::uint16_t>(points) : depths_in<std::int32_t>(points));
  curve.name = device_label(trace, device) + ": launches waiting";
  curve.process = process_of(trace, device);
  curve.device = device;
}

struct Steps {
  CompactTimes times;
  std::vector<std::int64_t> values;

  void add(Nanoseconds time, std::int64_t value) {
    if (!values.empty() && values.back() == value) return;
    times.push_back(time);
    values.push_back(value);
  }
};

void add_memory(const Trace& trace, DeviceId device, const std::vector<std::size_t>& rows,
                std::vector<CounterCurve>& curves) {
  Steps allocated, reserved;
  bool reserves = false;
  for (const MemoryPoint& point : memory_levels(trace, rows).points) {
    allocated.add(point.time, point.allocated);
    reserved.add(point.time, point.reserved);
    reserves |= point.reserved > 0;
  }
  const auto add = [&](Steps steps, std::string_view what) {
    steps.times.shrink_to_fit();
    steps.values.shrink_to_fit();
    auto compact = CompactValues::of(steps.values);
    CounterCurve& curve = curves.emplace_back(
        std::move(steps.times), compact ? CounterCurve::Values(*std::move(compact)) : std::move(steps.values));
    curve.name = device_label(trace, device).append(": memory ").append(what);
    curve.unit = "bytes";
    if (device != kHost) {
      curve.device = device;
      curve.process = process_of(trace, device);
    }
  };
  add(std::move(allocated), "allocated");
  if (reserves) add(std::move(reserved), "reserved");
}

// Of our own recorder, and says no unit.
constexpr std::string_view kInBytes = "resident memory";

// "GPU 0: power (W)" is the power of GPU 0, in W.
void name_counter(CounterCurve& curve, const Trace& trace, const CounterSeries& series) {
  std::string_view name = trace.strings[series.name];
  const std::string_view part = trace.strings[series.series];
  if (const auto gauge = gauge_called(name); gauge && gauge->device_id != kHost) curve.device = gauge->device_id;
  const std::size_t unit = name.rfind(" (");
  if (name.ends_with(')') && unit != std::string_view::npos) {
    curve.unit = name.substr(unit + 2, name.size() - unit - 3);
    name = name.substr(0, unit);
  } else if (name == kInBytes) {
    curve.unit = "bytes";
  }
  curve.name = name;
  const bool says_more = !part.empty() && part != name && part != "value";
  if (says_more) curve.name.append(name.empty() ? "" : ": ").append(part);
  curve.process = trace.tracks[series.track].process;
}

}  // namespace

std::vector<CounterCurve> counter_curves(const Trace& trace) {
  std::vector<CounterCurve> curves;
  for (const DeviceId device : devices_at_work(trace)) add_queue(trace, device, curves);
  for (const auto& [device, rows] : memory_rows(trace)) add_memory(trace, device, rows, curves);
  for (const CounterSeries& series : trace.counters.series) {
    if (series.count == 0) continue;
    CounterCurve& curve = curves.emplace_back(std::span(trace.counters.time).subspan(series.first, series.count),
                                              std::span(trace.counters.value).subspan(series.first, series.count));
    name_counter(curve, trace, series);
  }
  return curves;
}

}  // namespace telltale
