#include "capture/cuda/activity_buffers.h"

#include <gtest/gtest.h>

namespace telltale::capture {
namespace {

TEST(ActivityBuffers, AreAsManyAsAllowedAndUsedAgain) {
  ActivityBuffers buffers;
  buffers.begin();
  buffers.allow(5 * ActivityBuffers::kBytes);
  std::uint8_t* handed_out[5] = {};
  for (std::uint8_t*& one : handed_out) ASSERT_NE(one = buffers.hand_out(), nullptr);
  EXPECT_EQ(buffers.hand_out(), nullptr);
  buffers.take_back({handed_out[3], 10, nullptr, 0});
  EXPECT_EQ(buffers.hand_out(), nullptr);  // it has not been read
  const auto full = buffers.full();
  ASSERT_EQ(full.size(), 1u);
  EXPECT_EQ(full[0].data, handed_out[3]);
  buffers.reuse(full[0]);
  EXPECT_EQ(buffers.hand_out(), handed_out[3]);
  EXPECT_TRUE(buffers.full().empty());
}

TEST(ActivityBuffers, OfBeforeCuptiWasAttachedAnewAreNotRead) {
  ActivityBuffers buffers;
  buffers.begin();
  buffers.allow(0);
  std::uint8_t* const late = buffers.hand_out();
  std::uint8_t* const unread = buffers.hand_out();
  buffers.take_back({unread, 10, nullptr, 0});
  buffers.end();
  buffers.begin();
  buffers.allow(0);
  late[0] = 1;  // CUPTI may still write to it
  buffers.take_back({late, 10, nullptr, 0});
  EXPECT_TRUE(buffers.full().empty());
  std::uint8_t* const mine = buffers.hand_out();
  buffers.take_back({mine, 20, nullptr, 0});
  ASSERT_EQ(buffers.full().size(), 1u);
}

}  // namespace
}  // namespace telltale::capture
