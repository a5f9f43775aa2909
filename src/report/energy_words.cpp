#include "report/energy_words.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "advise/device_word.h"
#include "base/amounts.h"
#include "report/analyze_words.h"

namespace telltale {
namespace {

std::string format_joules(double joules) {
  if (std::abs(joules) >= 1000) return format_number(joules / 1000) + " kJ";
  return std::abs(joules) >= 1 || joules == 0 ? format_number(joules) + " J" : format_number(joules * 1000) + " mJ";
}

std::string format_grams(double grams) {
  return grams >= 1000 ? format_number(grams / 1000) + " kg" : format_number(grams) + " g";
}

// "GPU 0 380 J at 512 W (73 % of its limit)"
std::string power_of(const GaugedDevice& device) {
  std::string text = device.name;
  if (device.joules_per_step) text += ' ' + format_joules(*device.joules_per_step) + " at";
  text += ' ' + format_number(*device.watts) + " W";
  std::vector<std::string> more;
  if (const auto share = device.limit_percent()) more.push_back(format_percent(*share) + " of its limit");
  if (device.source == EnergySource::kPower) more.emplace_back("by its power, not a counter");
  return more.empty() ? text : fmt::format("{} ({})", text, fmt::join(more, "; "));
}

// "12.5 J", or of a step that recording made longer "about 12.5 J (20 J as recorded)"
std::string joules_of_step(const EnergyUse& energy, bool is_estimated) {
  const double joules = *energy.joules_per_step, recorded = energy.recorded_joules_per_step.value_or(joules);
  if (recorded < joules * (1 + kSlowdownWorthSaying / 100)) return format_joules(joules);
  return fmt::format("{}{} ({} as recorded)", is_estimated ? "about " : "", format_joules(joules),
                     format_joules(recorded));
}

std::string energy_sentence(const Diagnosis& diagnosis) {
  const EnergyUse& energy = *diagnosis.energy;
  std::vector<std::string> devices;
  std::int64_t most_readings = 0;
  for (const GaugedDevice& device : energy.devices) {
    most_readings = std::max(most_readings, device.readings);
    if (device.is_used && device.watts) devices.push_back(power_of(device));
  }
  if (devices.empty()) {
    if (most_readings >= kLeastReadings) return {};
    return fmt::format("Its energy is not known: gauges were read {} meanwhile, and it takes {}.",
                       how_often(static_cast<double>(most_readings)), kLeastReadings);
  }
  if (!energy.joules_per_step) return fmt::format("Mean power: {}.", listed(devices));
  const bool is_estimated = diagnosis.unobserved_source == UnobservedSource::kEstimated;
  std::string text = fmt::format("A step uses {}: {}", joules_of_step(energy, is_estimated), listed(devices));
  if (const auto sample = energy.joules_per_sample())
    text +=
        fmt::format("; a sample {}, of {} per step", format_joules(*sample), format_count(*energy.samples_per_step));
  return text + '.';
}

std::string throttling_sentence(const GaugedDevice& device) {
  std::vector<std::string> reasons;
  for (const ThrottleReason& reason : device.throttle_reasons)
    reasons.push_back(fmt::format("{} {}", reason.name, format_percent(reason.percent)));
  std::string text = fmt::format("{} is throttled for {} of the time ({})", device.name,
                                 format_percent(device.throttled_percent), listed(reasons));
  if (device.clock)
    text += fmt::format("; when busy, its clock is then {} lower ({} instead of {} MHz)",
                        format_percent(device.clock->lost_percent()), format_number(device.clock->throttled_mhz),
                        format_number(device.clock->free_mhz));
  return text + '.';
}

std::string cost_sentence(const RunningCost& cost) {
  std::vector<std::string> spent, saved;
  if (const auto money = cost.money())
    spent.push_back(fmt::format("cost {} (at {} per kWh)", format_number(*money), format_number(*cost.prices.money)));
  if (const auto grams = cost.grams())
    spent.push_back(
        fmt::format("emit {} of CO₂ (at {} per kWh)", format_grams(*grams), format_grams(*cost.prices.grams)));
  if (const auto money = cost.saved_money()) saved.push_back(format_number(*money));
  if (const auto grams = cost.saved_grams()) saved.push_back(format_grams(*grams) + " of CO₂");
  std::string text = fmt::format("1,000 steps use {} kWh, which {}", format_number(cost.kilowatt_hours), listed(spent));
  if (!saved.empty())
    text += fmt::format("; the first finding would save {} of that, {}, if the mean power stays the same",
                        format_percent(cost.saved_percent), listed(saved));
  return text + '.';
}

}  // namespace

std::vector<std::string> energy_sentences(const Diagnosis& diagnosis) {
  std::vector<std::string> sentences;
  if (!diagnosis.energy) return sentences;
  if (std::string text = energy_sentence(diagnosis); !text.empty()) sentences.push_back(std::move(text));
  for (const GaugedDevice& device : diagnosis.energy->devices) {
    if (!device.is_used) continue;
    if (device.throttled_percent > 0) sentences.push_back(throttling_sentence(device));
    if (const auto headroom = device.memory_headroom())
      sentences.push_back(fmt::format("{} of the {} of memory of {} are never in use.", format_bytes(*headroom),
                                      format_bytes(*device.memory_bytes), device.name));
  }
  if (diagnosis.cost) sentences.push_back(cost_sentence(*diagnosis.cost));
  for (std::string& sentence : sentences)
    sentence = in_words_of_requests(std::move(sentence), diagnosis.requests.has_value());
  return sentences;
}

std::string energy_text(const Diagnosis& diagnosis) {
  return fmt::format("{}", fmt::join(energy_sentences(diagnosis), " "));
}

}  // namespace telltale
