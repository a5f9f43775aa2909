#include "trace/device_clock.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace telltale {

std::optional<DeviceClock> device_clock(const Trace& trace) {
  const std::string* const text = trace.metadata_named("device_clock");
  if (text == nullptr) return std::nullopt;
  const auto value = nlohmann::json::parse(*text, nullptr, false);
  const auto number = [&](const char* key) {
    const auto at = value.is_object() ? value.find(key) : value.end();
    return at != value.end() && at->is_number() ? at->get<double>() : std::nan("");
  };
  constexpr double kMostNanoseconds = 1e18;
  const double samples = number("samples"), drift = number("drift_ppm"), residual = number("residual_ns");
  if (!(samples >= 0 && samples < kMostNanoseconds) || !std::isfinite(drift)) return std::nullopt;
  if (!(residual >= 0 && residual < kMostNanoseconds)) return std::nullopt;
  return DeviceClock{static_cast<std::uint64_t>(samples), drift, static_cast<Nanoseconds>(residual)};
}

}  // namespace telltale
