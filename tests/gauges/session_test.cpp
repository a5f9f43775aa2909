// Gauges in a recording: what telltale_gauges_start() puts into the session's file.
#include <gmock/gmock.h>
#include <telltale/devices.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <thread>

#include "fake_nvml.h"
#include "recorded_file.h"

namespace telltale {
namespace {

using testing::HasSubstr;

class GaugeSessionTest : public RecordingTest {
 protected:
  GaugeSessionTest() : fake_((setenv("TELLTALE_NVML_LIBRARY", FAKE_NVML, 1), fake_nvml::control())) {
    unsetenv("CUDA_VISIBLE_DEVICES");
    fake_.devices.assign(1, {});
    fake_.devices[0].energy = 1'000;
    fake_.devices[0].energy_per_reading = 250;
    fake_.devices[0].power = 90'000;
    fake_.results.clear();
    fake_.calls.clear();
    fake_.starts = 0;
  }
  ~GaugeSessionTest() override { telltale_gauges_stop(); }

  telltale_gauge_options gauges() const {
    telltale_gauge_options options;
    telltale_default_gauge_options(&options, sizeof options);
    options.hertz = 200;
    options.rapl = 0;
    return options;
  }
  unsigned readings() {
    const std::lock_guard lock(fake_.mutex);
    return fake_.calls["energy"];
  }
  // Whether so many came within a minute.
  bool wait_for_readings(unsigned count) {
    for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
      if (readings() >= count) return true;
    return false;
  }

  fake_nvml::State& fake_;
};

std::vector<double> values_of(const Trace& trace, std::string_view counter, Track* track = nullptr) {
  std::vector<double> values;
  for (const CounterSeries& series : trace.counters.series) {
    if (trace.strings[series.name] != counter) continue;
    if (track != nullptr) *track = trace.tracks[series.track];
    const auto first = trace.counters.value.begin() + series.first;
    values.insert(values.end(), first, first + series.count);
  }
  return values;
}

TEST_F(GaugeSessionTest, recording_has_every_reading_as_a_counter_of_the_device) {
  const telltale_options session = options();
  ASSERT_EQ(telltale_start(&session), TELLTALE_STATUS_OK);
  const telltale_gauge_options choice = gauges();
  ASSERT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_OK) << telltale_devices_error_text();
  EXPECT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_ALREADY_STARTED);
  ASSERT_TRUE(wait_for_readings(5));
  ASSERT_EQ(telltale_gauges_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_gauges_stop(), TELLTALE_STATUS_NOT_STARTED);
  const unsigned count = readings();
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(readings(), count);
  EXPECT_EQ(fake_.starts, 0);

  Track track;
  const Trace trace = read_recording(path());
  const std::vector<double> energy = values_of(trace, "GPU 0: energy (J)", &track);
  std::vector<double> expected;
  for (unsigned i = 0; i < count; ++i) expected.push_back(0.25 * i);
  EXPECT_EQ(energy, expected);
  EXPECT_EQ(track.kind, TrackKind::kCounter);
  EXPECT_EQ(track.device, 0);
  EXPECT_EQ(values_of(trace, "GPU 0: power (W)"), std::vector<double>(count, 90));
  EXPECT_TRUE(trace.devices.empty());  // nothing ran on it
}

TEST_F(GaugeSessionTest, nothing_is_read_in_vain_while_nothing_is_recorded) {
  const telltale_gauge_options choice = gauges();
  ASSERT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_OK);
  ASSERT_TRUE(wait_for_readings(1));  // where counters begin
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_EQ(readings(), 1U);
  const telltale_options session = options();
  ASSERT_EQ(telltale_start(&session), TELLTALE_STATUS_OK);
  EXPECT_TRUE(wait_for_readings(3));
  telltale_gauges_stop();
  telltale_stop();
}

TEST_F(GaugeSessionTest, sampler_ends_long_before_its_next_reading) {
  telltale_gauge_options choice = gauges();
  choice.hertz = 0.001;
  ASSERT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_OK);
  ASSERT_TRUE(wait_for_readings(1));
  EXPECT_EQ(telltale_gauges_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(fake_.starts, 0) << "the thread was left alone, with NVML";
}

TEST_F(GaugeSessionTest, child_has_no_sampler_and_leaves_nvml_alone) {
  const telltale_gauge_options choice = gauges();
  ASSERT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_OK);
  ASSERT_TRUE(wait_for_readings(1));  // the sanitizer's allocator does not survive a fork while another thread is in it
  const pid_t child = fork();
  if (child == 0) {
    if (telltale_gauges_stop() != TELLTALE_STATUS_NOT_STARTED) _exit(1);
    if (telltale_gauges_start(&choice) != TELLTALE_STATUS_CANNOT_OPEN) _exit(2);
    _exit(0);
  }
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_EQ(telltale_gauges_stop(), TELLTALE_STATUS_OK);
}

TEST_F(GaugeSessionTest, no_signal_reaches_the_sampler) {
  const telltale_gauge_options choice = gauges();
  ASSERT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_OK);
  ASSERT_TRUE(wait_for_readings(1));
  std::string mask;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(task.path() / "status");
    std::string line, name;
    std::getline(status, name);
    if (name != "Name:\ttelltale gauges") continue;
    while (std::getline(status, line))
      if (line.starts_with("SigBlk:\t")) mask = line.substr(8);
  }
  // All that can be blocked: not SIGKILL (9) and SIGSTOP (19), nor the two that the C library keeps (32, 33).
  EXPECT_EQ(mask, "fffffffe7ffbfeff");
}

TEST_F(GaugeSessionTest, what_makes_no_sense_or_is_not_there_is_told) {
  telltale_gauge_options choice = gauges();
  choice.hertz = 0;
  EXPECT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_BAD_OPTIONS);
  choice = gauges();
  choice.nvml = 0;
  EXPECT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_CANNOT_OPEN);
  setenv("TELLTALE_NVML_LIBRARY", "/no/such/libnvidia-ml.so.1", 1);
  choice = gauges();
  EXPECT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_CANNOT_OPEN);
  EXPECT_THAT(telltale_devices_error_text(), HasSubstr("no NVIDIA driver was found"));
}

TEST_F(GaugeSessionTest, devices_are_those_of_the_environment_when_they_are_asked_for) {
  fake_.devices.assign(2, {});
  fake_.devices[1].power = 300'000;
  const telltale_options session = options();
  ASSERT_EQ(telltale_start(&session), TELLTALE_STATUS_OK);
  telltale_gauge_options choice = gauges();
  choice.nvml = 0;
  EXPECT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_CANNOT_OPEN) << "neither are processors read";
  setenv("CUDA_VISIBLE_DEVICES", "1", 1);
  choice = gauges();
  ASSERT_EQ(telltale_gauges_start(&choice), TELLTALE_STATUS_OK);
  unsetenv("CUDA_VISIBLE_DEVICES");
  ASSERT_TRUE(wait_for_readings(3));
  telltale_gauges_stop();
  telltale_stop();
  const std::vector<double> power = values_of(read_recording(path()), "GPU 0: power (W)");
  ASSERT_FALSE(power.empty());
  EXPECT_EQ(power.front(), 300);
}

}  // namespace
}  // namespace telltale
