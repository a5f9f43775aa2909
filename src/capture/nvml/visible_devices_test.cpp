#include "capture/nvml/visible_devices.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

const std::vector<PhysicalDevice> kAlike = {{"GPU-aa11", "H200"}, {"GPU-aa22", "H200"}, {"GPU-bb33", "H200"}};
const std::vector<PhysicalDevice> kMixed = {{"GPU-aa11", "T4"}, {"GPU-bb22", "H200"}};

// "number=index" of each, "?" for what nobody can tell.
std::vector<std::string> told(const std::vector<PhysicalDevice>& all, const char* variable,
                              const char* order = nullptr) {
  std::vector<std::string> texts;
  for (const VisibleDevice& device : visible_devices(all, variable, order))
    texts.push_back((device.number ? std::to_string(*device.number) : "?") + "=" + std::to_string(device.index));
  return texts;
}

TEST(VisibleDevices, all_are_visible_when_nothing_is_said) {
  EXPECT_THAT(told(kAlike, nullptr), ElementsAre("0=0", "1=1", "2=2"));
  EXPECT_THAT(told({}, nullptr), IsEmpty());
}

TEST(VisibleDevices, indices_choose_and_order_them) {
  EXPECT_THAT(told(kAlike, "2,0"), ElementsAre("0=2", "1=0"));
  EXPECT_THAT(told(kAlike, " 1 , 2 "), ElementsAre("0=1", "1=2"));
}

TEST(VisibleDevices, uuids_and_their_beginnings_choose_them) {
  EXPECT_THAT(told(kAlike, "GPU-bb33,GPU-aa22"), ElementsAre("0=2", "1=1"));
  EXPECT_THAT(told(kAlike, "GPU-b"), ElementsAre("0=2"));
  EXPECT_THAT(told(kAlike, "GPU-aa"), IsEmpty());  // could be two
}

TEST(VisibleDevices, list_ends_at_what_is_no_device) {
  EXPECT_THAT(told(kAlike, ""), IsEmpty());
  EXPECT_THAT(told(kAlike, "-1"), IsEmpty());
  EXPECT_THAT(told(kAlike, "1,-1,0"), ElementsAre("0=1"));
  EXPECT_THAT(told(kAlike, "1,7,0"), ElementsAre("0=1"));
  EXPECT_THAT(told(kAlike, "NoDevFiles"), IsEmpty());
}

TEST(VisibleDevices, device_named_twice_leaves_none) { EXPECT_THAT(told(kAlike, "1,0,1"), IsEmpty()); }

TEST(VisibleDevices, part_of_a_device_keeps_its_number) {
  EXPECT_THAT(told(kAlike, "MIG-1234,GPU-aa22"), ElementsAre("1=1"));
}

TEST(VisibleDevices, numbers_of_unlike_devices_are_known_by_uuid_or_bus_order_alone) {
  EXPECT_THAT(told(kMixed, nullptr), ElementsAre("?=0", "?=1"));
  EXPECT_THAT(told(kMixed, "0"), ElementsAre("?=0", "?=1"));
  EXPECT_THAT(told(kMixed, "0", "FASTEST_FIRST"), ElementsAre("?=0", "?=1"));
  EXPECT_THAT(told(kMixed, "1", "PCI_BUS_ID"), ElementsAre("0=1"));
  EXPECT_THAT(told(kMixed, "GPU-bb22"), ElementsAre("0=1"));
  EXPECT_THAT(told(kMixed, ""), IsEmpty());
}

}  // namespace
}  // namespace telltale::capture
