#include "capture/nvml/nvml_gauges.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "fake_nvml.h"

namespace telltale::capture {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

using Values = std::map<std::string, double>;

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr int kTimeout = 10, kNotSupported = 3;

class NvmlGaugesTest : public testing::Test {
 protected:
  NvmlGaugesTest() : fake_((setenv("TELLTALE_NVML_LIBRARY", FAKE_NVML, 1), fake_nvml::control())) {
    fake_.devices.assign(1, {});
    fake_nvml::Device& device = fake_.devices[0];
    device.uuid = "GPU-1";
    device.utilization = 93;
    device.memory_activity = 41;
    device.memory_total = 150'000'000'000;
    device.memory_used = 20'000'000'000;
    device.sm_clock = 1980;
    device.memory_clock = 3201;
    device.power = 512'340;
    device.power_limit = 700'000;
    device.temperature = 61;
    device.throttle_reasons = 0x24;
    device.energy = 8'000'000;
    device.pcie = {3, 5};
    device.nvlink = {1000, 2000};
    fake_.results.clear();
    fake_.calls.clear();
    fake_.starts = 0;
  }

  std::unique_ptr<NvmlGauges> open(const char* visible = nullptr) { return NvmlGauges::open(visible, nullptr, why_); }
  Values read(NvmlGauges& gauges, std::int64_t now) {
    Values values;
    gauges.read(now, [&](const char* device, const char* gauge, double value) {
      values[std::string(device) + ", " + gauge] = value;
    });
    return values;
  }

  fake_nvml::State& fake_;
  std::string why_;
};

TEST_F(NvmlGaugesTest, values_are_the_devices_in_the_units_of_their_names) {
  const auto gauges = open();
  ASSERT_NE(gauges, nullptr) << why_;
  EXPECT_EQ(read(*gauges, 0), (Values{{"GPU 0, utilization (%)", 93},
                                      {"GPU 0, memory activity (%)", 41},
                                      {"GPU 0, memory used (bytes)", 20e9},
                                      {"GPU 0, memory total (bytes)", 150e9},
                                      {"GPU 0, SM clock (MHz)", 1980},
                                      {"GPU 0, memory clock (MHz)", 3201},
                                      {"GPU 0, power (W)", 512.34},
                                      {"GPU 0, power limit (W)", 700},
                                      {"GPU 0, temperature (°C)", 61},
                                      {"GPU 0, throttle reasons", 0x24},
                                      {"GPU 0, energy (J)", 0},
                                      {"GPU 0, PCIe sent (bytes/s)", 3 * 1024}}));
}

TEST_F(NvmlGaugesTest, energy_counts_from_the_first_reading) {
  const auto gauges = open();
  read(*gauges, 0);
  fake_.devices[0].energy = 8'000'000 + 12'345;
  EXPECT_THAT(read(*gauges, kSecond), Contains(Pair("GPU 0, energy (J)", 12.345)));
}

TEST_F(NvmlGaugesTest, energy_goes_on_where_the_counter_begins_anew) {
  const auto gauges = open();
  std::vector<double> joules;
  for (const unsigned long long counter : {8'000'000ull, 8'002'000ull, 500ull, 1'500ull, 9'001'500ull}) {
    fake_.devices[0].energy = counter;
    joules.push_back(read(*gauges, 0)["GPU 0, energy (J)"]);
  }
  EXPECT_THAT(joules, ElementsAre(0, 2, 2, 3, 9003));
}

TEST_F(NvmlGaugesTest, nvlink_is_a_rate_between_two_readings) {
  const auto gauges = open();
  read(*gauges, 0);
  fake_.devices[0].nvlink = {1000 + 30, 2000 + 8};
  const Values values = read(*gauges, kSecond / 4);
  EXPECT_THAT(values, Contains(Pair("GPU 0, NVLink sent (bytes/s)", 4 * 30 * 1024)));
  EXPECT_THAT(values, Contains(Pair("GPU 0, NVLink received (bytes/s)", 4 * 8 * 1024)));
}

TEST_F(NvmlGaugesTest, pcie_is_asked_for_once_per_reading_and_each_throughput_once_a_second) {
  fake_.devices.push_back(fake_.devices[0]);
  fake_.devices[1].uuid = "GPU-2";
  const auto gauges = open();
  std::vector<std::string> seen;
  for (int i = 0; i < 20; ++i) {
    const unsigned before = fake_.calls["pcie"];
    for (const auto& [name, value] : read(*gauges, i * kSecond / 10))
      if (name.find("PCIe") != std::string::npos) seen.push_back(std::to_string(i) + " " + name);
    EXPECT_LE(fake_.calls["pcie"] - before, 1U);
  }
  EXPECT_THAT(seen, ElementsAre("0 GPU 0, PCIe sent (bytes/s)", "1 GPU 0, PCIe received (bytes/s)",
                                "2 GPU 1, PCIe sent (bytes/s)", "3 GPU 1, PCIe received (bytes/s)",
                                "10 GPU 0, PCIe sent (bytes/s)", "11 GPU 0, PCIe received (bytes/s)",
                                "12 GPU 1, PCIe sent (bytes/s)", "13 GPU 1, PCIe received (bytes/s)"));
}

TEST_F(NvmlGaugesTest, what_a_device_does_not_support_is_asked_for_once) {
  fake_.results = {{"power", kNotSupported}, {"fields", kNotSupported}, {"pcie", kNotSupported}};
  const auto gauges = open();
  for (int i = 0; i < 5; ++i) {
    const Values values = read(*gauges, i * 2 * kSecond);
    EXPECT_EQ(values.count("GPU 0, power (W)"), 0U);
    EXPECT_EQ(values.count("GPU 0, temperature (°C)"), 1U);
  }
  EXPECT_EQ(fake_.calls["power"], 1U);
  EXPECT_EQ(fake_.calls["fields"], 1U);
  EXPECT_EQ(fake_.calls["pcie"], 2U);  // in each direction
}

TEST_F(NvmlGaugesTest, what_fails_for_a_while_comes_back_and_what_always_fails_is_given_up) {
  const auto gauges = open();
  fake_.results = {{"power", kTimeout}};
  for (int i = 0; i < 9; ++i) read(*gauges, i);
  fake_.results.clear();
  EXPECT_EQ(read(*gauges, 9).count("GPU 0, power (W)"), 1U);
  fake_.results = {{"power", kTimeout}};
  const unsigned before = fake_.calls["power"];
  for (int i = 10; i < 50; ++i) read(*gauges, i);
  EXPECT_EQ(fake_.calls["power"] - before, 10U);
}

TEST_F(NvmlGaugesTest, lost_device_says_nothing_more_and_the_other_goes_on) {
  fake_.devices.push_back(fake_.devices[0]);
  const auto gauges = open();
  EXPECT_EQ(read(*gauges, 0).count("GPU 0, power (W)"), 1U);
  fake_.devices[0].is_lost = true;
  for (int i = 1; i < 5; ++i) {
    const Values values = read(*gauges, i);
    EXPECT_EQ(values.count("GPU 0, power (W)"), 0U);
    EXPECT_EQ(values.count("GPU 1, power (W)"), 1U);
  }
  EXPECT_TRUE(gauges->has_devices());
  fake_.devices[1].is_lost = true;
  read(*gauges, 5);
  EXPECT_FALSE(gauges->has_devices());
  fake_.calls.clear();
  fake_.devices[0].is_lost = false;
  EXPECT_THAT(read(*gauges, 6), IsEmpty());
  EXPECT_THAT(fake_.calls, IsEmpty());
}

std::vector<int> all_errors() {
  std::vector<int> errors = {999};
  for (int error = 1; error <= 29; ++error) errors.push_back(error);
  return errors;
}

// Every error that NVML documents, on every call of a reading: at most the value is missing, or the device is lost.
TEST_F(NvmlGaugesTest, every_error_on_every_call_leaves_out_no_more_than_it_must) {
  const std::map<std::string, std::size_t> values_of = {
      {"utilization", 2}, {"memory", 2},      {"SM clock", 1},         {"memory clock", 1}, {"power", 1}, {"energy", 1},
      {"power limit", 1}, {"temperature", 1}, {"throttle reasons", 1}, {"fields", 0},       {"pcie", 1}};
  constexpr std::size_t kAll = 12;  // NVLink's come with the second reading
  const std::set<int> fatal = {1, 9, 15, 16, 18, 28};
  for (const int error : all_errors()) {
    for (const auto& [function, count] : values_of) {
      fake_.results = {{function, error}};
      const auto gauges = open();
      ASSERT_NE(gauges, nullptr);
      const std::size_t read_values = read(*gauges, 0).size();
      if (fatal.contains(error)) {
        EXPECT_FALSE(gauges->has_devices()) << function << " " << error;
      } else {
        EXPECT_EQ(read_values, kAll - count) << function << " " << error;
        EXPECT_TRUE(gauges->has_devices()) << function << " " << error;
      }
    }
  }
}

TEST_F(NvmlGaugesTest, error_while_opening_is_told_and_ends_what_was_begun) {
  for (const int error : all_errors()) {
    const std::string number = " (error " + std::to_string(error) + ")";
    for (const auto& [function, text] :
         {std::pair("init", "NVML cannot start" + number), std::pair("count", "NVML cannot count devices" + number),
          std::pair("handle", std::string("NVML shows this process no device"))}) {
      fake_.results = {{function, error}};
      EXPECT_EQ(open(), nullptr);
      EXPECT_EQ(why_, text);
      EXPECT_EQ(fake_.starts, 0) << function << " " << error;
    }
  }
  fake_.results.clear();
  fake_.devices.clear();
  EXPECT_EQ(open(), nullptr);
  EXPECT_EQ(fake_.starts, 0);
}

TEST_F(NvmlGaugesTest, device_without_uuid_or_name_is_read_all_the_same) {
  for (const int error : all_errors()) {
    fake_.results = {{"uuid", error}, {"name", error}, {"shutdown", error}};
    const auto gauges = open();
    ASSERT_NE(gauges, nullptr);
    EXPECT_EQ(read(*gauges, 0).count("GPU 0, power (W)"), 1U);
  }
}

TEST_F(NvmlGaugesTest, missing_library_is_told) {
  setenv("TELLTALE_NVML_LIBRARY", "/no/such/libnvidia-ml.so.1", 1);
  EXPECT_EQ(open(), nullptr);
  EXPECT_THAT(why_, HasSubstr("no NVIDIA driver was found"));
}

TEST_F(NvmlGaugesTest, library_without_nvmls_functions_is_told) {
  setenv("TELLTALE_NVML_LIBRARY", "libc.so.6", 1);
  EXPECT_EQ(open(), nullptr);
  EXPECT_EQ(why_, "NVML cannot start (error 13)");
}

// An old driver's: what it has is read, and the rest left out.
TEST_F(NvmlGaugesTest, functions_that_a_library_does_not_have_are_left_out) {
  setenv("TELLTALE_NVML_LIBRARY", FAKE_OLD_NVML, 1);
  setenv("FAKE_NVML_DEVICES", "1", 1);
  const auto gauges = open();
  unsetenv("FAKE_NVML_DEVICES");
  ASSERT_NE(gauges, nullptr) << why_;
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(read(*gauges, i * kSecond), (Values{{"GPU 0, memory used (bytes)", 20e9},
                                                  {"GPU 0, memory total (bytes)", 80e9},
                                                  {"GPU 0, power (W)", 500}}));
  EXPECT_TRUE(gauges->has_devices());
}

TEST_F(NvmlGaugesTest, devices_have_the_numbers_that_cuda_gives_them_in_this_process) {
  fake_.devices.push_back(fake_.devices[0]);
  fake_.devices[1].uuid = "GPU-2";
  fake_.devices[1].power = 100'000;
  const auto gauges = open("GPU-2");
  ASSERT_NE(gauges, nullptr);
  const Values values = read(*gauges, 0);
  EXPECT_THAT(values, Contains(Pair("GPU 0, power (W)", 100)));
  EXPECT_EQ(values.count("GPU 1, power (W)"), 0U);
}

}  // namespace
}  // namespace telltale::capture
