// What devices and processors used, and how they fared, by their gauges (trace/gauges.h): energy, power, throttling,
// memory.
//
// Energy is that of whole boards and packages, whoever else uses them. It is a mean power times the length of a step,
// so that short steps have theirs, too, and so has a step as it is without the recording. Pure and thread-safe; linear
// in the values of gauges.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/intervals.h"
#include "trace/trace.h"

namespace telltale {

// How energy is known.
enum class EnergySource : std::uint8_t {
  kCounter,  // the device counts it
  kPower,    // its power, added up
};
std::string_view name_of(EnergySource source);

struct ThrottleReason {
  std::string name;    // "power limit"
  double percent = 0;  // of the time
};

// What throttling does to a device that is busy.
struct SlowedClock {
  double throttled_mhz = 0, free_mhz = 0;  // of its multiprocessors, on average
  double throttled_percent = 0;            // of the busy time

  double lost_percent() const { return 100 * (1 - throttled_mhz / free_mhz); }  // of the clock, while throttled
};

struct GaugedDevice {
  std::string name;             // "GPU 0", "CPU"
  DeviceId device = kHost;      // kHost: of the processors, or of a device whose number is not known
  bool is_used = true;          // by the program: its work is in the trace or, in a trace without any, it is not idle
  std::int64_t readings = 0;    // within the window, of the gauge that has most
  std::optional<double> watts;  // on average; nothing with too few readings, likewise below
  EnergySource source = EnergySource::kCounter;
  std::optional<double> joules_per_step;           // of the step without the recording
  std::optional<double> recorded_joules_per_step;  // of the step as it was recorded
  std::optional<double> limit_watts;
  std::optional<double> utilization_percent;
  std::optional<std::int64_t> memory_bytes;       // in all
  std::optional<std::int64_t> peak_memory_bytes;  // in use at most, in the whole recording, by all processes
  double throttled_percent = 0;                   // of the time, by any of the reasons
  std::vector<ThrottleReason> throttle_reasons;   // by falling share
  std::optional<SlowedClock> clock;               // nothing where it is always throttled when busy, or hardly ever

  std::optional<double> limit_percent() const;          // mean power, of the limit
  std::optional<std::int64_t> memory_headroom() const;  // what is never in use
};

struct EnergyUse {
  std::vector<GaugedDevice> devices;      // in the order of the trace
  std::optional<double> joules_per_step;  // of all that are used and have a number
  std::optional<double> recorded_joules_per_step;
  std::optional<std::int64_t> samples_per_step;  // as far as shapes tell

  std::optional<double> joules_per_sample() const;
};

// Readings that a mean takes, and so that a clock is known.
inline constexpr std::int64_t kLeastReadings = 5;

// How long a step takes without the recording and in it. The mean power of both is taken to be the same.
struct StepLengths {
  Nanoseconds unobserved = 0, recorded = 0;
};

// In a window of the trace; nothing where there are no gauges. `step` is there where there are steps.
std::optional<EnergyUse> energy_use(const Trace& trace, Interval window, std::optional<StepLengths> step,
                                    std::optional<std::int64_t> samples_per_step);

// What a kilowatt-hour costs.
struct EnergyPrices {
  std::optional<double> money;  // in any currency
  std::optional<double> grams;  // of CO2
};

// What 1,000 steps cost, and what a change saves of it that makes a step shorter, if the mean power stays the same.
struct RunningCost {
  static constexpr double kSteps = 1000;

  double kilowatt_hours = 0;
  EnergyPrices prices;
  std::string saved_by;      // the rule whose finding it is; empty: none
  double saved_percent = 0;  // of the step

  std::optional<double> money() const;
  std::optional<double> grams() const;
  std::optional<double> saved_money() const;
  std::optional<double> saved_grams() const;
};

RunningCost running_cost(double joules_per_step, const EnergyPrices& prices);

}  // namespace telltale
