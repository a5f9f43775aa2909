// The thread that reads, without a recording: devices and processors beside each other.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <thread>

#include "capture/gauges/gauge_sampler.h"
#include "fake_nvml.h"

namespace telltale::capture {
namespace {

// What the sampler's thread has emitted.
class Emitted {
 public:
  GaugeSampler::Emit sink() {
    return [this](const char* device, const char* gauge, double value) {
      const std::lock_guard lock(mutex_);
      values_[std::string(device) + ", " + gauge].push_back(value);
    };
  }
  std::vector<double> operator[](const std::string& name) {
    const std::lock_guard lock(mutex_);
    return values_[name];
  }
  // Whether such a value came within a minute.
  bool wait_for(const std::string& name, double value) {
    for (int i = 0; i < 6000; ++i, std::this_thread::sleep_for(std::chrono::milliseconds(10)))
      if (const std::vector<double> values = (*this)[name]; !values.empty() && values.back() == value) return true;
    return false;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::vector<double>> values_;
};

class GaugeSamplerTest : public testing::Test {
 protected:
  GaugeSamplerTest() : folder_(testing::TempDir() + "sampler_" + std::to_string(getpid())) {
    setenv("TELLTALE_NVML_LIBRARY", FAKE_NVML, 1);
    fake_nvml::State& fake = fake_nvml::control();
    fake.devices.assign(1, {});
    fake.results.clear();
    std::filesystem::create_directories(folder_ + "/intel-rapl:0");
    write("name", "package-0");
    write("max_energy_range_uj", "10000000");
    write("energy_uj", "8000000");
    choice_.hertz = 200;
    choice_.rapl_folder = folder_;
  }
  ~GaugeSamplerTest() override { std::filesystem::remove_all(folder_); }

  void write(const std::string& file, const std::string& text) {
    std::ofstream(folder_ + "/intel-rapl:0/" + file) << text << '\n';
  }

  std::string folder_, why_;
  GaugeChoice choice_;
  Emitted emitted_;
};

TEST_F(GaugeSamplerTest, processors_are_read_beside_devices_and_without_them) {
  for (const bool nvml : {true, false}) {
    write("energy_uj", "8000000");
    choice_.nvml = nvml ? std::optional(DeviceNumbering()) : std::nullopt;
    auto sampler = GaugeSampler::start(choice_, emitted_.sink(), why_);
    ASSERT_NE(sampler, nullptr) << why_;
    EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 0));
    write("energy_uj", "1500000");  // two joules to the end of its range, and one and a half beyond
    EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 3.5));
    GaugeSampler::stop(std::move(sampler));
    EXPECT_EQ(emitted_["GPU 0, power (W)"].empty(), false);
  }
}

TEST_F(GaugeSamplerTest, nvml_is_given_back_when_all_devices_are_lost) {
  fake_nvml::State& fake = fake_nvml::control();
  fake.starts = 0;
  auto sampler = GaugeSampler::start(choice_, emitted_.sink(), why_);
  ASSERT_NE(sampler, nullptr) << why_;
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 0));
  {
    const std::lock_guard lock(fake.mutex);
    EXPECT_EQ(fake.starts, 1);
    fake.devices[0].is_lost = true;
  }
  write("energy_uj", "9000000");
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 1));
  write("energy_uj", "9500000");
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 1.5));  // two readings later
  {
    const std::lock_guard lock(fake.mutex);
    EXPECT_EQ(fake.starts, 0);
  }
  GaugeSampler::stop(std::move(sampler));
}

TEST_F(GaugeSamplerTest, says_what_is_missing_where_there_is_nothing_to_read) {
  choice_.rapl_folder = folder_ + "/none";
  setenv("TELLTALE_NVML_LIBRARY", "/no/such/libnvidia-ml.so.1", 1);
  EXPECT_EQ(GaugeSampler::start(choice_, emitted_.sink(), why_), nullptr);
  EXPECT_EQ(why_,
            "there are no gauges: no NVIDIA driver was found (libnvidia-ml.so.1), and the energy of the processors "
            "cannot be read in " +
                choice_.rapl_folder);
}

TEST_F(GaugeSamplerTest, nvml_is_opened_on_the_samplers_thread) {
  fake_nvml::State& fake = fake_nvml::control();
  fake.opened_by = 0;
  fake.devices[0].power = 90'000;
  auto sampler = GaugeSampler::start(choice_, emitted_.sink(), why_);
  ASSERT_NE(sampler, nullptr) << why_;
  EXPECT_TRUE(emitted_.wait_for("GPU 0, power (W)", 90));
  GaugeSampler::stop(std::move(sampler));
  EXPECT_NE(fake.opened_by, 0);
  EXPECT_NE(fake.opened_by, gettid());
}

TEST_F(GaugeSamplerTest, devices_that_nvml_does_not_show_after_all_are_left_out) {
  fake_nvml::control().devices.clear();
  auto sampler = GaugeSampler::start(choice_, emitted_.sink(), why_);
  ASSERT_NE(sampler, nullptr) << why_;
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 0));
  GaugeSampler::stop(std::move(sampler));
  EXPECT_EQ(fake_nvml::control().starts, 0);
}

TEST_F(GaugeSamplerTest, devices_can_be_added_while_processors_are_read) {
  fake_nvml::State& fake = fake_nvml::control();
  fake.devices.assign(2, {});
  fake.devices[1].power = 300'000;
  choice_.nvml.reset();
  auto sampler = GaugeSampler::start(choice_, emitted_.sink(), why_);
  ASSERT_NE(sampler, nullptr) << why_;
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 0));
  write("energy_uj", "8500000");
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 0.5));
  EXPECT_TRUE(emitted_["GPU 0, power (W)"].empty());
  ASSERT_TRUE(sampler->add_nvml({.visible_devices = "1", .device_order = {}}, why_));
  EXPECT_TRUE(emitted_.wait_for("GPU 0, power (W)", 300));
  EXPECT_TRUE(emitted_.wait_for("CPU, energy (J)", 0.5)) << "it goes on where it was";
  GaugeSampler::stop(std::move(sampler));
}

}  // namespace
}  // namespace telltale::capture
