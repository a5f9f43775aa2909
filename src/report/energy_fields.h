// What the members of a diagnosis are that gauges tell: see diagnosis_fields.h.
#pragma once

#include <optional>

#include "analysis/energy.h"
#include "report/description.h"

namespace telltale {

inline std::optional<Exact> exact_or_null(std::optional<double> value) {
  return value ? std::optional(Exact{*value}) : std::nullopt;
}

template <typename Fields>
void describe(Fields& fields, const ThrottleReason& reason) {
  fields.object("ThrottleReason", "Why a device lowers its clock");
  fields.member("name", reason.name, "`power limit`, `temperature`, …");
  fields.member("percent", reason.percent, "of the time; several may hold at once");
}

template <typename Fields>
void describe(Fields& fields, const SlowedClock& clock) {
  fields.object("SlowedClock", "What throttling does to a busy device");
  fields.member("throttled_mhz", clock.throttled_mhz, "the clock of its multiprocessors while throttled");
  fields.member("free_mhz", clock.free_mhz, "while it is not");
  fields.member("throttled_percent", clock.throttled_percent, "how much of its busy time it is throttled");
}

template <typename Fields>
void describe(Fields& fields, const GaugedDevice& device) {
  fields.object("GaugedDevice", "What the gauges of a device or of the processors say");
  fields.member("name", device.name, "`GPU 0`, `CPU`");
  fields.member("is_used", device.is_used, "whether the program uses it");
  fields.member("readings", device.readings, "how many there are within the steps");
  fields.member("mean_watts", device.watts, "null with too few readings");
  fields.member("source", device.source,
                "how its energy is known: by a `counter` of the device, or by its `power`, added up");
  fields.member(
      "joules_per_step", device.joules_per_step,
      "mean power times `step.unobserved_ns`, or from one request to the next; of the whole device, whoever uses it");
  fields.member("recorded_joules_per_step", device.recorded_joules_per_step, "mean power times `step.mean_ns`");
  fields.member("limit_watts", device.limit_watts, "its power limit");
  fields.member("limit_percent", device.limit_percent(), "mean power, of the limit");
  fields.member("utilization_percent", device.utilization_percent, "as the device tells it");
  fields.member("memory_bytes", device.memory_bytes, "in all");
  fields.member("peak_memory_bytes", device.peak_memory_bytes, "in use at most, by all processes");
  fields.member("memory_headroom_bytes", device.memory_headroom(), "never in use");
  fields.member("throttled_percent", device.throttled_percent, "how much of the time it is throttled");
  fields.member("throttle_reasons", device.throttle_reasons, "by falling share");
  fields.member("clock", device.clock, "null where too few readings of a busy device are throttled, or are not");
}

template <typename Fields>
void describe(Fields& fields, const EnergyUse& energy) {
  fields.object("EnergyUse", "Energy, power, throttling and memory, by gauges");
  fields.member("joules_per_step", energy.joules_per_step, "of all devices that the program uses");
  fields.member("recorded_joules_per_step", energy.recorded_joules_per_step, "likewise");
  fields.member("samples_per_step", energy.samples_per_step, "null where shapes do not tell it");
  fields.member("joules_per_sample", energy.joules_per_sample(), "likewise");
  fields.member("devices", energy.devices, "those that were read");
}

template <typename Fields>
void describe(Fields& fields, const RunningCost& cost) {
  fields.object("RunningCost", "What 1,000 steps cost");
  fields.member("kilowatt_hours", Exact{cost.kilowatt_hours}, "that they use");
  fields.member("money", exact_or_null(cost.money()), "by `--price`");
  fields.member("carbon_grams", exact_or_null(cost.grams()), "of CO₂, by `--carbon`");
  fields.member("saved_by", or_null(cost.saved_by), "the rule of the first finding; null where there is none");
  fields.member("saved_percent", cost.saved_percent, "of the energy, if the mean power stays the same");
  fields.member("saved_money", exact_or_null(cost.saved_money()), "by that finding");
  fields.member("saved_carbon_grams", exact_or_null(cost.saved_grams()), "likewise");
}

}  // namespace telltale
