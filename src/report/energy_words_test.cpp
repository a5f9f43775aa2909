#include "report/energy_words.h"

#include <gtest/gtest.h>

#include "report/analyze_html.h"
#include "report/analyze_markdown.h"
#include "report/analyze_terminal.h"
#include "report/json.h"
#include "report/testing/sample_diagnosis.h"

namespace telltale {
namespace {

GaugedDevice gpu() {
  GaugedDevice device;
  device.name = "GPU 0";
  device.device = 0;
  device.readings = 40;
  device.watts = 512;
  device.joules_per_step = 380;
  device.limit_watts = 700;
  device.memory_bytes = std::int64_t{140} << 30;
  device.peak_memory_bytes = std::int64_t{79} << 30;
  return device;
}

GaugedDevice cpu() {
  GaugedDevice device;
  device.name = "CPU";
  device.readings = 40;
  device.watts = 43;
  device.joules_per_step = 32;
  return device;
}

Diagnosis diagnosis_with(std::vector<GaugedDevice> devices) {
  Diagnosis diagnosis;
  diagnosis.energy = EnergyUse{std::move(devices), {}, {}};
  for (const GaugedDevice& device : diagnosis.energy->devices)
    if (device.joules_per_step)
      diagnosis.energy->joules_per_step = diagnosis.energy->joules_per_step.value_or(0) + *device.joules_per_step;
  return diagnosis;
}

TEST(EnergyWords, say_nothing_without_gauges) { EXPECT_EQ(energy_text(Diagnosis()), ""); }

TEST(EnergyWords, tell_the_energy_of_a_step_by_device) {
  Diagnosis diagnosis = diagnosis_with({gpu(), cpu()});
  diagnosis.energy->samples_per_step = 32;
  EXPECT_EQ(energy_text(diagnosis),
            "A step uses 412 J: GPU 0 380 J at 512 W (73 % of its limit) and CPU 32 J at 43 W; a sample 12.9 J, of 32 "
            "per step. 61.0 GiB of the 140 GiB of memory of GPU 0 are never in use.");
}

TEST(EnergyWords, tell_the_energy_of_the_step_without_recording_and_as_recorded) {
  Diagnosis diagnosis = diagnosis_with({cpu()});
  diagnosis.energy->recorded_joules_per_step = 50;
  diagnosis.unobserved_source = UnobservedSource::kMeasured;
  EXPECT_EQ(energy_text(diagnosis), "A step uses 32 J (50 J as recorded): CPU 32 J at 43 W.");
  diagnosis.unobserved_source = UnobservedSource::kEstimated;
  EXPECT_EQ(energy_text(diagnosis), "A step uses about 32 J (50 J as recorded): CPU 32 J at 43 W.");
  diagnosis.energy->recorded_joules_per_step = 32.1;
  EXPECT_EQ(energy_text(diagnosis), "A step uses 32 J: CPU 32 J at 43 W.");
}

TEST(EnergyWords, speak_of_requests_where_a_server_has_them) {
  Diagnosis diagnosis = diagnosis_with({cpu()});
  diagnosis.requests.emplace();
  diagnosis.cost = RunningCost{0.5, {.money = 0.3, .grams = {}}, "", 0};
  EXPECT_EQ(energy_text(diagnosis),
            "A request uses 32 J: CPU 32 J at 43 W. 1,000 requests use "
            "0.5 kWh, which cost 0.15 (at 0.3 per kWh).");
}

TEST(EnergyWords, tell_power_alone_of_what_has_no_steps) {
  GaugedDevice device = cpu();
  device.joules_per_step = {};
  EXPECT_EQ(energy_text(diagnosis_with({device})), "Mean power: CPU 43 W.");
}

TEST(EnergyWords, tell_how_energy_is_known_where_nothing_counts_it) {
  GaugedDevice device = cpu();
  device.source = EnergySource::kPower;
  EXPECT_EQ(energy_text(diagnosis_with({device})), "A step uses 32 J: CPU 32 J at 43 W (by its power, not a counter).");
}

TEST(EnergyWords, tell_of_throttling_and_its_clock) {
  GaugedDevice device = gpu();
  device.memory_bytes = {};
  device.throttled_percent = 37;
  device.throttle_reasons = {{"power limit", 30}, {"temperature", 12}};
  EXPECT_EQ(energy_sentences(diagnosis_with({device}))[1],
            "GPU 0 is throttled for 37 % of the time (power limit 30 % and temperature 12 %).");
  device.clock = SlowedClock{1485, 1980, 40};
  EXPECT_EQ(energy_sentences(diagnosis_with({device}))[1],
            "GPU 0 is throttled for 37 % of the time (power limit 30 % and temperature 12 %); when busy, its clock is "
            "then 25 % lower (1,485 instead of 1,980 MHz).");
}

TEST(EnergyWords, tell_that_few_readings_are_not_enough) {
  GaugedDevice device;
  device.name = "CPU";
  device.readings = 1;
  EXPECT_EQ(energy_text(diagnosis_with({device})),
            "Its energy is not known: gauges were read once meanwhile, and it takes 5.");
}

TEST(EnergyWords, are_silent_of_devices_that_the_program_does_not_use) {
  GaugedDevice idle = gpu();
  idle.is_used = false;
  EXPECT_EQ(energy_text(diagnosis_with({idle})), "");
}

TEST(EnergyWords, tell_what_a_thousand_steps_cost_and_what_the_first_finding_saves) {
  Diagnosis diagnosis = diagnosis_with({cpu()});
  diagnosis.cost = RunningCost{0.5, {.money = 0.3, .grams = 4000}, "", 0};
  EXPECT_EQ(energy_sentences(diagnosis).back(),
            "1,000 steps use 0.5 kWh, which cost 0.15 (at 0.3 per kWh) and emit 2 kg of CO₂ (at 4 kg per kWh).");
  diagnosis.cost->saved_by = "host_sync";
  diagnosis.cost->saved_percent = 25;
  EXPECT_EQ(
      energy_sentences(diagnosis).back(),
      "1,000 steps use 0.5 kWh, which cost 0.15 (at 0.3 per kWh) and emit 2 kg of CO₂ (at 4 kg per kWh); the first "
      "finding would save 25 % of that, 0.0375 and 500 g of CO₂, if the mean power stays the same.");
}

TEST(EnergyWords, are_in_every_view) {
  SampleDiagnosis sample = sample_diagnosis();
  sample.diagnosis.energy = diagnosis_with({cpu()}).energy;
  sample.diagnosis.cost = RunningCost{0.5, {.money = 0.3, .grams = {}}, "", 0};
  EXPECT_NE(analyze_text(sample.diagnosis, sample.trace, {}).find("A step uses 32 J"), std::string::npos);
  EXPECT_NE(analyze_markdown(sample.diagnosis, sample.trace).find("A step uses 32 J"), std::string::npos);
  EXPECT_NE(analyze_html(sample.diagnosis, sample.trace).find("A step uses 32 J"), std::string::npos);
  const std::string json = to_json(sample.diagnosis, sample.trace);
  EXPECT_NE(json.find("\"joules_per_step\":32"), std::string::npos);
  EXPECT_NE(json.find("\"money\":0.15"), std::string::npos);
}

}  // namespace
}  // namespace telltale
