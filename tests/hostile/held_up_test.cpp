// A signal handler holds a thread up inside the recorder while another one ends the session, and begins the next.
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <string>
#include <thread>

#include "hostile_test.h"
#include "telltale/telltale.h"

namespace telltale {
namespace {

using namespace std::chrono_literals;

std::atomic<bool> is_held = false, may_go_on = false;

// For longer than the recorder waits, but not for ever: it may have met the thread while that held a lock.
void hold(int) {
  is_held = true;
  for (int i = 0; i < 3000 && !may_go_on; ++i) usleep(1000);
  is_held = false;
}

class HeldUpTest : public HostileTest {
 protected:
  HeldUpTest() {
    struct sigaction action{};
    action.sa_handler = hold;
    sigaction(SIGUSR1, &action, nullptr);
  }
};

// Its records are long, so that it is nearly always in the middle of one.
class Emitter {
 public:
  ~Emitter() {
    may_go_on = true;
    is_over_ = true;
    thread_.join();
  }
  void hold_up() {
    may_go_on = false;
    pthread_kill(thread_.native_handle(), SIGUSR1);
    while (!is_held) std::this_thread::sleep_for(1ms);
  }
  // Returns when it has ended what it was at.
  void let_go() {
    may_go_on = true;
    const std::uint64_t tried = tried_;
    while (is_held || tried_ < tried + 2) std::this_thread::sleep_for(1ms);
  }
  std::uint64_t taken() const { return taken_; }

 private:
  void run() {
    static telltale_field field = {"text", TELLTALE_FIELD_TYPE_TEXT, 0};
    static telltale_site site = {"long", "", "", "", &field, 1, 0, 0, 0};
    const std::string text(3000, 'x');
    telltale_value value;
    value.text.data = text.data();
    value.text.size = text.size();
    for (; !is_over_; ++tried_)
      if (telltale_instant(&site, &value) == TELLTALE_STATUS_OK) ++taken_;
  }

  std::atomic<bool> is_over_ = false;
  std::atomic<std::uint64_t> tried_ = 0, taken_ = 0;
  std::thread thread_{[this] { run(); }};
};

// Sessions with buffers of different sizes follow each other: what the thread was doing for one must not end in
// another.
TEST_F(HeldUpTest, a_thread_costs_at_most_the_event_that_it_is_at) {
  Emitter emitter;
  std::uint64_t given_up = 0, before = 0;
  for (int session = 0; session < 4; ++session) {
    telltale_options options = this->options();
    options.memory_limit = session % 2 == 0 ? 1 << 20 : 64 << 10;
    options.policy = static_cast<telltale_policy>(session % 3);
    options.compression = 0;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    while (emitter.taken() < before + 100) std::this_thread::sleep_for(1ms);
    emitter.hold_up();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    const telltale_statistics counts = statistics();
    given_up += counts.dropped_held_up;
    // What the thread is at may be there already, and is one event too many if it was given up nevertheless.
    const std::uint64_t counted = counts.recorded + counts.dropped - counts.dropped_held_up;
    EXPECT_GE(counted, emitter.taken() - before);
    EXPECT_LE(counted, emitter.taken() - before + 1);
    EXPECT_LE(counts.dropped_held_up, 1u);
    emitter.let_go();
    before = emitter.taken();
    const Trace trace = read_recording(path());
    EXPECT_EQ(count_of(trace, "long"), counts.recorded);
    EXPECT_EQ(dropped(trace), counts.dropped);
  }
  EXPECT_GT(given_up, 0u) << "no signal met the thread inside the recorder";
}

}  // namespace
}  // namespace telltale
