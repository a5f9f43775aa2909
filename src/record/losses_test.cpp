#include "record/losses.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <string>

namespace telltale::record {
namespace {

using tell::LossReason;

std::string sentence(LossReason reason, std::uint64_t events) {
  char text[200];
  return loss_sentence({reason, events, "run.tell", 64 << 10, ENOSPC}, text, sizeof text) ? text : "";
}

TEST(Losses, are_told_with_their_own_reason) {
  EXPECT_EQ(sentence(LossReason::kWriteFailed, 2),
            "2 events could not be written to run.tell: No space left on device");
  EXPECT_EQ(sentence(LossReason::kNewestDropped, 2),
            "2 events are not in run.tell: the memory limit of 64 KiB was reached");
  EXPECT_EQ(sentence(LossReason::kOldestDropped, 2), sentence(LossReason::kNewestDropped, 2));
  EXPECT_EQ(sentence(LossReason::kInSignal, 2),
            "2 events are not in run.tell: emitted by a signal handler that interrupted the recorder");
  EXPECT_EQ(sentence(LossReason::kTooLarge, 2), "2 events are not in run.tell: more values than a buffer holds");
}

TEST(Losses, of_one_event_read_right) {
  EXPECT_EQ(sentence(LossReason::kWriteFailed, 1), "1 event could not be written to run.tell: No space left on device");
  EXPECT_EQ(sentence(LossReason::kNewestDropped, 1),
            "1 event is not in run.tell: the memory limit of 64 KiB was reached");
  EXPECT_EQ(sentence(LossReason::kInSignal, 1),
            "1 event is not in run.tell: emitted by a signal handler that interrupted the recorder");
  EXPECT_EQ(sentence(LossReason::kTooLarge, 1), "1 event is not in run.tell: more values than a buffer holds");
}

TEST(Losses, that_are_none_are_not_told) {
  for (int reason = 0; reason < tell::kLossReasonCount; ++reason)
    EXPECT_EQ(sentence(static_cast<LossReason>(reason), 0), "");
  EXPECT_EQ(sentence(LossReason::kAgedOut, 5), "");
}

TEST(Losses, are_told_in_the_room_there_is) {
  char text[20];
  ASSERT_TRUE(loss_sentence({LossReason::kInSignal, 7, "run.tell", 0, 0}, text, sizeof text));
  EXPECT_STREQ(text, "7 events are not in");
}

}  // namespace
}  // namespace telltale::record
