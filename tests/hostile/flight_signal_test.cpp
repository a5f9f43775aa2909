// The signal that a flight recorder dumps on belongs to the host before, after and beside the session.
#include <unistd.h>

#include <csignal>

#include "hostile_test.h"
#include "telltale/telltale.h"

namespace telltale {
namespace {

class FlightSignalTest : public HostileTest {
 protected:
  FlightSignalTest() { sigaction(SIGUSR2, nullptr, &before_); }
  ~FlightSignalTest() override { sigaction(SIGUSR2, &before_, nullptr); }

  void start() {
    telltale_options options = this->options();
    options.flight_seconds = 60;
    options.flight_signal = SIGUSR2;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
  }
  static void handle_with(void (*handler)(int)) {
    struct sigaction action{};
    action.sa_handler = handler;
    sigaction(SIGUSR2, &action, nullptr);
  }
  static bool is_handled_by(void (*handler)(int)) {
    struct sigaction now{};
    sigaction(SIGUSR2, nullptr, &now);
    return now.sa_handler == handler;
  }

 private:
  struct sigaction before_{};
};

void first(int) {}
void second(int) {}

TEST_F(FlightSignalTest, is_not_taken_back_from_a_handler_that_came_later) {
  handle_with(first);
  start();
  EXPECT_FALSE(is_handled_by(first));
  handle_with(second);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(is_handled_by(second));
}

TEST_F(FlightSignalTest, is_given_back_in_a_forked_child_that_does_not_record) {
  handle_with(first);
  start();
  const pid_t child = fork();
  if (child == 0) _exit(is_handled_by(first) ? 0 : 1);
  EXPECT_TRUE(wait_for(child).exited_with(0));
  EXPECT_FALSE(is_handled_by(first));
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_TRUE(is_handled_by(first));
}

}  // namespace
}  // namespace telltale
