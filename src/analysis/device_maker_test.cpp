#include "analysis/device_maker.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

Trace with_device(std::string_view name) {
  Trace trace;
  trace.devices.emplace_back().name = name;
  return trace;
}

TEST(DeviceMaker, follows_from_the_names_of_devices) {
  EXPECT_EQ(maker_of_devices(with_device("NVIDIA H200")), DeviceMaker::kNvidia);
  EXPECT_EQ(maker_of_devices(with_device("Tesla V100-DGXS-32GB")), DeviceMaker::kNvidia);
  EXPECT_EQ(maker_of_devices(with_device("AMD Instinct MI300X VF")), DeviceMaker::kAmd);
  EXPECT_EQ(maker_of_devices(with_device("MTIA")), DeviceMaker::kOther);
  EXPECT_EQ(maker_of_devices(with_device("")), DeviceMaker::kUnknown);
  EXPECT_EQ(maker_of_devices(Trace()), DeviceMaker::kUnknown);
}

TEST(DeviceMaker, is_told_by_the_runtime_where_devices_have_no_name) {
  Trace trace = with_device("");
  trace.metadata.emplace_back("hip_runtime_version", "70051831");
  EXPECT_EQ(maker_of_devices(trace), DeviceMaker::kAmd);
  trace.metadata = {{"cuda_runtime_version", "12090"}};
  EXPECT_EQ(maker_of_devices(trace), DeviceMaker::kNvidia);
}

TEST(DeviceWord, is_device_for_what_is_no_gpu) {
  Trace trace;
  EXPECT_EQ(device_word(trace), "GPU");
  trace.devices.emplace_back().name = "NVIDIA H200";
  EXPECT_EQ(device_word(trace), "GPU");
  trace.devices.back().name = "NPU";
  EXPECT_EQ(device_word(trace), "device");
  trace.devices.back().name = "Intel(R) Data Center GPU Max 1550";
  EXPECT_EQ(device_word(trace), "GPU");
}

}  // namespace
}  // namespace telltale
