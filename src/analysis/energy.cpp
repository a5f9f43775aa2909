#include "analysis/energy.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "trace/gauges.h"

namespace telltale {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;
constexpr double kJoulesPerKilowattHour = 3.6e6;
constexpr double kBusyPercent = 50;             // a reading of utilization from which on a device counts as busy
constexpr double kLeastUsedPercent = 1;         // of utilization: a device below it has nothing to do
constexpr double kLeastThrottledPercent = 0.5;  // of the time: less is not worth telling

// NVML's bits for what slows clocks down against the program's will. Others say that a device is idle, or that someone
// chose its clocks.
struct ReasonBit {
  std::uint64_t bit;
  std::string_view name;
};
constexpr auto kReasons = std::to_array<ReasonBit>({{0x4, "power limit"},
                                                    {0x8, "hardware slowdown"},
                                                    {0x20, "temperature"},
                                                    {0x40, "critical temperature"},
                                                    {0x80, "power brake"}});

std::uint64_t reasons_in(double value) {
  std::uint64_t all = 0;
  for (const ReasonBit& reason : kReasons) all |= reason.bit;
  return value >= 0 && value < 0x1p63 ? static_cast<std::uint64_t>(value) & all : 0;
}

using SeriesByQuantity = std::map<std::string_view, const CounterSeries*>;

// The gauges of one device within a window.
class DeviceReadings {
 public:
  DeviceReadings(const Trace& trace, Interval window, SeriesByQuantity series)
      : counters_(trace.counters), window_(window), series_(std::move(series)) {}

  const CounterSeries* series(std::string_view quantity) const {
    const auto found = series_.find(quantity);
    return found == series_.end() ? nullptr : found->second;
  }

  // Of the rows, those whose time lies in the window.
  std::pair<std::uint32_t, std::uint32_t> rows_within(const CounterSeries& series) const {
    const auto begin = counters_.time.begin() + series.first, end = begin + series.count;
    const auto first = std::lower_bound(begin, end, window_.begin), last = std::upper_bound(first, end, window_.end);
    return {static_cast<std::uint32_t>(first - counters_.time.begin()),
            static_cast<std::uint32_t>(last - counters_.time.begin())};
  }
  std::int64_t count(const CounterSeries& series) const {
    const auto [first, last] = rows_within(series);
    return last - first;
  }
  std::int64_t most_readings() const {
    std::int64_t most = 0;
    for (const auto& [quantity, each] : series_) most = std::max(most, count(*each));
    return most;
  }

  // The part of the window that lies between the first and the last reading; nothing when it has too few.
  std::optional<Interval> covered(const CounterSeries& series) const {
    if (count(series) < kLeastReadings) return std::nullopt;
    const Nanoseconds first = counters_.time[series.first], last = counters_.time[series.first + series.count - 1];
    const Interval covered{std::max(window_.begin, first), std::min(window_.end, last)};
    return covered.length() > 0 ? std::optional(covered) : std::nullopt;
  }

  // Calls visit(value, nanoseconds) for each reading, which holds until the next.
  template <typename Visit>
  void for_each_held(const CounterSeries& series, Interval when, Visit visit) const {
    for (std::uint32_t i = series.first; i + 1 < series.first + series.count; ++i) {
      const Nanoseconds begin = std::max(counters_.time[i], when.begin);
      const Nanoseconds end = std::min(counters_.time[i + 1], when.end);
      if (begin < end) visit(counters_.value[i], end - begin);
    }
  }

  std::optional<double> mean(std::string_view quantity) const {
    const CounterSeries* const found = series(quantity);
    const std::optional<Interval> when = found == nullptr ? std::nullopt : covered(*found);
    if (!when) return std::nullopt;
    double sum = 0;
    for_each_held(*found, *when, [&](double value, Nanoseconds held) { sum += value * static_cast<double>(held); });
    return sum / static_cast<double>(when->length());
  }

  // Whether what counts up falls there: then nobody knows what it had counted until then.
  bool begins_anew(const CounterSeries& series, Interval when) const {
    for (std::uint32_t i = series.first; i + 1 < series.first + series.count; ++i)
      if (counters_.time[i + 1] > when.begin && counters_.time[i] < when.end &&
          counters_.value[i + 1] < counters_.value[i])
        return true;
    return false;
  }

  // The mean of what counts up, by time; nothing where it begins anew.
  std::optional<double> rise_per_second(const CounterSeries& series) const {
    const std::optional<Interval> when = covered(series);
    if (!when || begins_anew(series, *when)) return std::nullopt;
    const double rise = steady_value_at(counters_, series, when->end) - steady_value_at(counters_, series, when->begin);
    return rise * kNanosecondsPerSecond / static_cast<double>(when->length());
  }

  // The mean of what changes steadily between two readings: the area under the line through them.
  std::optional<double> steady_mean(const CounterSeries& series) const {
    const std::optional<Interval> when = covered(series);
    if (!when) return std::nullopt;
    double area = 0;
    for (std::uint32_t i = series.first; i + 1 < series.first + series.count; ++i) {
      const Nanoseconds begin = std::max(counters_.time[i], when->begin);
      const Nanoseconds end = std::min(counters_.time[i + 1], when->end);
      if (begin >= end) continue;
      const double both = steady_value_at(counters_, series, begin) + steady_value_at(counters_, series, end);
      area += both / 2 * static_cast<double>(end - begin);
    }
    return area / static_cast<double>(when->length());
  }

  std::optional<double> largest(std::string_view quantity) const {
    const CounterSeries* const found = series(quantity);
    if (found == nullptr || found->count == 0) return std::nullopt;
    const auto first = counters_.value.begin() + found->first;
    return *std::max_element(first, first + found->count);
  }

  // What a gauge showed last at a time; nothing before its first reading.
  std::optional<double> last_at(std::string_view quantity, Nanoseconds time) const {
    const CounterSeries* const found = series(quantity);
    if (found == nullptr) return std::nullopt;
    const auto begin = counters_.time.begin() + found->first;
    const auto after = std::upper_bound(begin, begin + found->count, time);
    if (after == begin) return std::nullopt;
    return counters_.value[static_cast<std::size_t>(after - 1 - counters_.time.begin())];
  }

  const Counters& counters() const { return counters_; }

 private:
  const Counters& counters_;
  Interval window_;
  SeriesByQuantity series_;
};

void find_power(const DeviceReadings& readings, GaugedDevice& device) {
  if (const CounterSeries* const energy = readings.series(gauges::kEnergy))
    device.watts = readings.rise_per_second(*energy);
  if (device.watts) return;
  if (const CounterSeries* const power = readings.series(gauges::kPower)) {
    device.watts = readings.steady_mean(*power);
    device.source = EnergySource::kPower;
  }
}

void find_throttling(const DeviceReadings& readings, GaugedDevice& device) {
  const CounterSeries* const reasons = readings.series(gauges::kThrottleReasons);
  const std::optional<Interval> when = reasons == nullptr ? std::nullopt : readings.covered(*reasons);
  if (!when) return;
  Nanoseconds throttled = 0;
  std::array<Nanoseconds, kReasons.size()> by_reason = {};
  readings.for_each_held(*reasons, *when, [&](double value, Nanoseconds held) {
    const std::uint64_t bits = reasons_in(value);
    if (bits != 0) throttled += held;
    for (std::size_t i = 0; i < kReasons.size(); ++i)
      if ((bits & kReasons[i].bit) != 0) by_reason[i] += held;
  });
  const auto percent = [&](Nanoseconds time) {
    return 100.0 * static_cast<double>(time) / static_cast<double>(when->length());
  };
  if (percent(throttled) < kLeastThrottledPercent) return;
  device.throttled_percent = percent(throttled);
  for (std::size_t i = 0; i < kReasons.size(); ++i)
    if (percent(by_reason[i]) >= kLeastThrottledPercent)
      device.throttle_reasons.push_back({std::string(kReasons[i].name), percent(by_reason[i])});
  std::ranges::stable_sort(device.throttle_reasons, std::ranges::greater(), &ThrottleReason::percent);
}

// Gauges are read one after the other, reasons behind utilization and clock.
std::optional<SlowedClock> slowed_clock(const DeviceReadings& readings) {
  const CounterSeries* const reasons = readings.series(gauges::kThrottleReasons);
  if (reasons == nullptr) return std::nullopt;
  struct Sum {
    double clock = 0;
    std::int64_t readings = 0;
    double mean() const { return clock / static_cast<double>(readings); }
  } throttled, free;
  const auto [first, last] = readings.rows_within(*reasons);
  for (std::uint32_t i = first; i < last; ++i) {
    const Nanoseconds time = readings.counters().time[i];
    const std::optional<double> clock = readings.last_at(gauges::kSmClock, time);
    if (!clock || readings.last_at(gauges::kUtilization, time).value_or(0) < kBusyPercent) continue;
    Sum& sum = reasons_in(readings.counters().value[i]) != 0 ? throttled : free;
    sum.clock += *clock;
    ++sum.readings;
  }
  if (throttled.readings < kLeastReadings || free.readings < kLeastReadings) return std::nullopt;
  if (throttled.mean() >= free.mean()) return std::nullopt;
  return SlowedClock{
      throttled.mean(), free.mean(),
      100.0 * static_cast<double>(throttled.readings) / static_cast<double>(throttled.readings + free.readings)};
}

std::optional<std::int64_t> whole(std::optional<double> value) {
  return value && *value >= 0 && *value < 0x1p62 ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
}

std::set<DeviceId> devices_with_work(const Trace& trace) {
  std::set<DeviceId> devices;
  for (const Track& track : trace.tracks)
    if (track.kind == TrackKind::kStream && track.event_count > 0) devices.insert(track.device);
  return devices;
}

}  // namespace

std::string_view name_of(EnergySource source) { return source == EnergySource::kCounter ? "counter" : "power"; }

std::optional<double> GaugedDevice::limit_percent() const {
  if (!watts || !limit_watts || *limit_watts <= 0) return std::nullopt;
  return 100 * *watts / *limit_watts;
}

std::optional<std::int64_t> GaugedDevice::memory_headroom() const {
  if (!memory_bytes || !peak_memory_bytes) return std::nullopt;
  return std::max<std::int64_t>(0, *memory_bytes - *peak_memory_bytes);
}

std::optional<double> EnergyUse::joules_per_sample() const {
  if (!joules_per_step || !samples_per_step || *samples_per_step < 1) return std::nullopt;
  return *joules_per_step / static_cast<double>(*samples_per_step);
}

std::optional<EnergyUse> energy_use(const Trace& trace, Interval window, std::optional<StepLengths> step,
                                    std::optional<std::int64_t> samples_per_step) {
  std::vector<Gauge> devices;  // each once
  std::map<std::string_view, SeriesByQuantity> series_of;
  for (const CounterSeries& series : trace.counters.series) {
    const std::optional<Gauge> gauge = gauge_called(trace.strings[series.name]);
    if (!gauge || series.count == 0) continue;
    if (!series_of.contains(gauge->device)) devices.push_back(*gauge);
    series_of[gauge->device].try_emplace(gauge->quantity, &series);
  }
  if (devices.empty()) return std::nullopt;

  const std::set<DeviceId> working = devices_with_work(trace);
  EnergyUse use;
  use.samples_per_step = samples_per_step;
  for (const Gauge& gauge : devices) {
    const DeviceReadings readings(trace, window, std::move(series_of[gauge.device]));
    GaugedDevice device;
    device.name = gauge.device;
    device.device = gauge.device_id;
    device.readings = readings.most_readings();
    find_power(readings, device);
    device.limit_watts = readings.mean(gauges::kPowerLimit);
    device.utilization_percent = readings.mean(gauges::kUtilization);
    device.memory_bytes = whole(readings.largest(gauges::kMemoryTotal));
    device.peak_memory_bytes = whole(readings.largest(gauges::kMemoryUsed));
    find_throttling(readings, device);
    device.clock = slowed_clock(readings);
    const bool has_number = device.device != kHost;
    if (has_number && !working.empty())
      device.is_used = working.contains(device.device);
    else if (device.utilization_percent)
      device.is_used = *device.utilization_percent >= kLeastUsedPercent;
    if (device.watts && step) {
      const auto joules_in = [&](Nanoseconds time) {
        return *device.watts * static_cast<double>(time) / kNanosecondsPerSecond;
      };
      device.joules_per_step = joules_in(step->unobserved);
      device.recorded_joules_per_step = joules_in(step->recorded);
      if (device.is_used) {
        use.joules_per_step = use.joules_per_step.value_or(0) + *device.joules_per_step;
        use.recorded_joules_per_step = use.recorded_joules_per_step.value_or(0) + *device.recorded_joules_per_step;
      }
    }
    use.devices.push_back(std::move(device));
  }
  return use;
}

std::optional<double> RunningCost::money() const {
  return prices.money ? std::optional(*prices.money * kilowatt_hours) : std::nullopt;
}
std::optional<double> RunningCost::grams() const {
  return prices.grams ? std::optional(*prices.grams * kilowatt_hours) : std::nullopt;
}
std::optional<double> RunningCost::saved_money() const {
  return money() && !saved_by.empty() ? std::optional(*money() * saved_percent / 100) : std::nullopt;
}
std::optional<double> RunningCost::saved_grams() const {
  return grams() && !saved_by.empty() ? std::optional(*grams() * saved_percent / 100) : std::nullopt;
}

RunningCost running_cost(double joules_per_step, const EnergyPrices& prices) {
  RunningCost cost;
  cost.kilowatt_hours = RunningCost::kSteps * joules_per_step / kJoulesPerKilowattHour;
  cost.prices = prices;
  return cost;
}

}  // namespace telltale
