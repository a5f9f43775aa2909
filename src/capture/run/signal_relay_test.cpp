#include "capture/run/signal_relay.h"

#include <gtest/gtest.h>

#include <csignal>

namespace telltale::capture {
namespace {

using std::chrono::milliseconds;
using Settled = SignalRelay::Settled;

constexpr SentSignal kTerm{SIGTERM, 4711};
constexpr SignalRelay::Time kStart{};

TEST(SignalRelay, what_only_we_got_is_for_the_command_once_the_witness_had_its_time) {
  SignalRelay relay;
  relay.arrived(kTerm, kStart);
  EXPECT_TRUE(relay.settled(kStart + milliseconds(99)).empty());
  EXPECT_EQ(relay.next_time(), kStart + milliseconds(100));
  EXPECT_EQ(relay.settled(kStart + milliseconds(100)), (std::vector<Settled>{{SIGTERM, true}}));
  EXPECT_EQ(relay.next_time(), std::nullopt);
  EXPECT_TRUE(relay.settled(kStart + milliseconds(300)).empty());
}

TEST(SignalRelay, what_the_witness_got_as_well_is_not_passed_on) {
  SignalRelay after, before;
  after.arrived(kTerm, kStart);
  after.witnessed(kTerm, kStart + milliseconds(50));
  EXPECT_EQ(after.settled(kStart + milliseconds(50)), (std::vector<Settled>{{SIGTERM, false}}));
  before.witnessed(kTerm, kStart);
  before.arrived(kTerm, kStart + milliseconds(50));
  EXPECT_EQ(before.settled(kStart + milliseconds(50)), (std::vector<Settled>{{SIGTERM, false}}));
}

TEST(SignalRelay, one_to_us_and_one_to_the_group_by_the_same_sender_are_one) {
  // As `timeout` does it.
  SignalRelay relay;
  relay.arrived(kTerm, kStart);
  relay.arrived(kTerm, kStart + milliseconds(1));
  relay.witnessed(kTerm, kStart + milliseconds(1));
  EXPECT_EQ(relay.settled(kStart + milliseconds(2)), (std::vector<Settled>{{SIGTERM, false}, {SIGTERM, false}}));
}

TEST(SignalRelay, another_sender_another_signal_and_another_time_are_no_evidence) {
  SignalRelay relay;
  relay.arrived(kTerm, kStart);
  relay.witnessed({SIGTERM, 4712}, kStart);
  relay.witnessed({SIGINT, 4711}, kStart);
  relay.witnessed(kTerm, kStart + milliseconds(101));
  EXPECT_EQ(relay.settled(kStart + milliseconds(101)), (std::vector<Settled>{{SIGTERM, true}}));
}

TEST(SignalRelay, two_that_only_we_got_are_two) {
  SignalRelay relay;
  relay.arrived(kTerm, kStart);
  relay.arrived({SIGCONT, 4711}, kStart);
  relay.arrived(kTerm, kStart + milliseconds(10));
  EXPECT_EQ(relay.settled(kStart + milliseconds(105)), (std::vector<Settled>{{SIGTERM, true}, {SIGCONT, true}}));
  EXPECT_EQ(relay.settled(kStart + milliseconds(110)), (std::vector<Settled>{{SIGTERM, true}}));
}

}  // namespace
}  // namespace telltale::capture
