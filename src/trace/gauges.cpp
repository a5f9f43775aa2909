#include "trace/gauges.h"

#include <algorithm>
#include <charconv>

namespace telltale {
namespace {

using namespace gauges;

constexpr std::string_view kQuantities[] = {
    kUtilization, kMemoryActivity,  kMemoryUsed, kMemoryTotal,  kSmClock,    kMemoryClock,    kPower, kPowerLimit,
    kTemperature, kThrottleReasons, kPcieSent,   kPcieReceived, kNvlinkSent, kNvlinkReceived, kEnergy};
constexpr std::string_view kBetween = ": ";
constexpr std::string_view kCpu = "CPU", kGpu = "GPU ", kUnnumberedGpu = "NVML GPU ";

std::optional<DeviceId> number_in(std::string_view text) {
  DeviceId number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

}  // namespace

std::optional<Gauge> gauge_of(std::string_view category, std::string_view name) {
  const auto quantity = std::ranges::find(kQuantities, name);
  if (quantity == std::end(kQuantities)) return std::nullopt;
  if (category == kCpu) return Gauge{category, kHost, *quantity};
  if (category.starts_with(kUnnumberedGpu) && number_in(category.substr(kUnnumberedGpu.size())))
    return Gauge{category, kHost, *quantity};
  if (!category.starts_with(kGpu)) return std::nullopt;
  const std::optional<DeviceId> device = number_in(category.substr(kGpu.size()));
  return device ? std::optional(Gauge{category, *device, *quantity}) : std::nullopt;
}

std::string counter_name(const Gauge& gauge) {
  return std::string(gauge.device).append(kBetween).append(gauge.quantity);
}

std::optional<Gauge> gauge_called(std::string_view counter) {
  const std::size_t behind = counter.find(kBetween);
  if (behind == std::string_view::npos) return std::nullopt;
  return gauge_of(counter.substr(0, behind), counter.substr(behind + kBetween.size()));
}

double steady_value_at(const Counters& counters, const CounterSeries& series, Nanoseconds time) {
  const auto first = counters.time.begin() + series.first, last = first + series.count - 1;
  const auto after = std::upper_bound(first, last + 1, time);
  const auto value = [&](auto at) { return counters.value[static_cast<std::size_t>(at - counters.time.begin())]; };
  if (after == first) return value(first);
  if (after > last) return value(last);
  const auto before = after - 1;
  const double share = static_cast<double>(time - *before) / static_cast<double>(*after - *before);
  return value(before) + share * (value(after) - value(before));
}

}  // namespace telltale
