// Signal handlers come at the worst moment: at each instruction of each function, they emit, name and fork.
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <functional>
#include <string>
#include <thread>

#include "recorded_file.h"
#include "single_step.h"
#include "telltale/telltale.h"

namespace telltale {
namespace {

constexpr unsigned kWatchdogSeconds = 120;

// ---- what handlers do ----

constexpr std::size_t kFreshSites = 10'000;
constexpr std::size_t kNameBytes = 16;
std::array<std::array<char, kNameBytes>, kFreshSites> fresh_names;
std::array<telltale_site, kFreshSites> fresh_sites;
std::size_t fresh_used = 0;
std::uint64_t fresh_each = 5;  // so many calls
telltale_site known_site = {"known", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};

std::uint64_t taken = 0;  // records of which a function said that they are noted
int errno_changes = 0;
std::uint32_t own_track = 0;

void note(telltale_status status) { taken += status == TELLTALE_STATUS_OK ? 1 : 0; }

telltale_site* some_site(std::uint64_t turn) {
  if (turn % fresh_each != 0 || fresh_used == kFreshSites) return &known_site;
  std::snprintf(fresh_names[fresh_used].data(), kNameBytes, "fresh %zu", fresh_used);
  fresh_sites[fresh_used] = {fresh_names[fresh_used].data(), "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  return &fresh_sites[fresh_used++];
}

// Each function that the header allows to signal handlers, in turn.
void emit_something() {
  static std::uint64_t turn = 0;
  constexpr int kErrnoBefore = 4711;
  const int errno_of_interrupted = errno;
  errno = kErrnoBefore;
  telltale_site* site = some_site(++turn);
  const std::uint64_t now = telltale_now();
  const telltale_memory memory = {now, 1, -1, 0, -1, -1};
  switch (turn % 13) {
    case 0: {
      const telltale_scope scope = telltale_begin(site);
      note(telltale_end(&scope));
      break;
    }
    case 1: {
      const telltale_scope scope = telltale_begin(site);
      if (scope.site != nullptr) telltale_scope_abandon(scope.start);
      break;
    }
    case 2: {
      const telltale_scope scope = telltale_begin(site);
      note(telltale_end_with(&scope, nullptr));
      break;
    }
    case 3:
      note(telltale_counter(site, 1));
      break;
    case 4:
      note(telltale_allocation(&memory));
      break;
    case 5:
      note(telltale_flow(site, turn, TELLTALE_FLOW_ROLE_START));
      break;
    case 6:
      note(telltale_async_begin(site, turn, nullptr));
      note(telltale_async_end(site, turn));
      break;
    case 7:
      note(telltale_span_at(own_track, site, now, now, 0, nullptr));
      break;
    case 8:
      note(telltale_begin_at(own_track, site, now, 0, nullptr));
      note(telltale_end_at(own_track, now));
      break;
    case 9:
      telltale_intern(site->name);
      break;
    case 10:
      note(telltale_instant(telltale_make_site(site), nullptr));
      break;
    default:
      note(telltale_instant(site, nullptr));
  }
  errno_changes += errno != kErrnoBefore ? 1 : 0;
  errno = errno_of_interrupted;
}

int bad_children = 0;

void expect_good_end(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) ++bad_children;
}

bool is_child = false;

// Some moments; a fork at each would take minutes.
bool is_time_to_fork() {
  static std::uint64_t turn = 0;
  return ++turn % 151 == 0;
}

// The child returns from the handler, to wherever its parent was.
void fork_and_return() {
  if (is_child || !is_time_to_fork()) return;
  const pid_t child = fork();
  if (child != 0) return expect_good_end(child);
  alarm(kWatchdogSeconds);
  is_child = true;
  stop_stepping();
}

// The child never returns; the kernel's fork tells the recorder nothing.
void fork_untold_and_exit() {
  if (!is_time_to_fork()) return;
  const auto child = static_cast<pid_t>(syscall(SYS_fork));
  if (child != 0) return expect_good_end(child);
  alarm(kWatchdogSeconds);
  stop_stepping();
  for (int i = 0; i < 500; ++i) emit_something();
  _exit(0);
}

// ---- what they interrupt ----

std::string fresh_name() {
  static int made = 0;
  return "name " + std::to_string(++made);
}
// Made beforehand: what a test does to its own memory is not to be interrupted.
char next_name[kNameBytes];

// The smallest that there are: they change often.
constexpr std::uint64_t kSmallBuffers = 16 << 10;

using Function = void (*)();
constexpr Function kFunctions[] = {
    [] { telltale_intern("an old name"); },
    [] { telltale_intern(next_name); },
    [] {
      const telltale_site site = {next_name, "category", "file", "function", nullptr, 0, 1, TELLTALE_KIND_SCOPE, 0};
      telltale_make_site(&site);
    },
    [] { telltale_make_site(&known_site); },
    [] {
      const telltale_track track = {next_name, TELLTALE_TRACK_TYPE_CUSTOM, TELLTALE_CLOCK_TICKS, -1, 0, 0};
      telltale_make_track(&track);
    },
    [] { telltale_name_thread(next_name); },
    [] { telltale_name_process(next_name); },
    [] { telltale_metadata("key", next_name); },
    [] {
      const telltale_scope scope = telltale_begin(&known_site);
      note(telltale_end(&scope));
    },
    [] {
      static telltale_site site;
      site = {next_name, "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
      const telltale_scope scope = telltale_begin(&site);
      note(telltale_end(&scope));
    },
    [] {  // buffers are exchanged
      static const telltale_field field = {"text", TELLTALE_FIELD_TYPE_TEXT, 0};
      static telltale_site site = {"text", "", "", "", &field, 1, 0, TELLTALE_KIND_SCOPE, 0};
      static const char text[1500] = {};
      telltale_value value{};
      value.text = {text, sizeof text};
      for (int i = 0; i < 6; ++i) note(telltale_instant(&site, &value));
    },
    [] { telltale_set_fork_mode(TELLTALE_FORK_OWN_FILE); },
    [] {
      telltale_statistics statistics;
      telltale_get_statistics(&statistics, sizeof statistics);
    },
    [] { telltale_flush(); },
    [] { note(telltale_step()); },
};

void step_through_all(void (*interrupt)(), Interruption how) {
  for (const Function function : kFunctions) {
    std::snprintf(next_name, sizeof next_name, "%s", fresh_name().c_str());
    step_through(function, interrupt, how);
    if (!is_child) continue;
    // What the handler forked: has a recorder that works.
    const bool is_recorded = telltale_instant(&known_site, nullptr) == TELLTALE_STATUS_OK;
    _exit(is_recorded && telltale_stop() == TELLTALE_STATUS_OK ? 0 : 1);
  }
}

// A handler that hangs would hang the test: all happens in a child, which tells by its exit code.
class InterruptionTest : public RecordingTest {
 protected:
  void SetUp() override {
    if (!can_single_step()) GTEST_SKIP() << "this build cannot be stepped through";
  }

  void expect_success_in_child(const std::function<void()>& act) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(kWatchdogSeconds);
      act();
      EXPECT_EQ(errno_changes, 0);
      EXPECT_EQ(bad_children, 0);
      _exit(HasFailure() ? 1 : 0);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
  }

  void start(const std::function<void(telltale_options&)>& change = [](telltale_options&) {}) {
    telltale_options options = this->options();
    options.memory_limit = kSmallBuffers;
    change(options);
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    const telltale_track track = {"own", TELLTALE_TRACK_TYPE_CUSTOM, TELLTALE_CLOCK_TICKS, -1, 0, 0};
    own_track = telltale_make_track(&track);
  }

  // A file begins with what takes long to step through and is nothing of ours: names to write, bytes to compress,
  // functions to find in libraries. There is less of that in a second session with few names.
  telltale_options prepared_options() {
    fresh_each = 997;
    telltale_options options = this->options();
    options.memory_limit = kSmallBuffers;
    options.compression = 0;
    EXPECT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    return options;
  }

  // Every record that was noted is in a file, or counted as dropped.
  void stop_and_expect_all(bool only_signals = false) {
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK) << telltale_error_text();
    const telltale_statistics all = statistics();
    EXPECT_EQ(all.recorded + all.dropped + all.aged_out, taken);
    EXPECT_GT(taken, 0u);
    EXPECT_TRUE(!only_signals || all.dropped == all.dropped_in_signal);
  }
};

TEST_F(InterruptionTest, signals_at_each_instruction_may_emit) {
  expect_success_in_child([&] {
    start([](telltale_options& options) { options.policy = TELLTALE_POLICY_BLOCK; });
    step_through_all(emit_something, Interruption::kSignal);
    stop_and_expect_all(true);
  });
}

TEST_F(InterruptionTest, faults_at_each_instruction_may_emit) {
  expect_success_in_child([&] {
    start([](telltale_options& options) { options.policy = TELLTALE_POLICY_BLOCK; });
    step_through_all(emit_something, Interruption::kFault);
    stop_and_expect_all(true);
  });
}

TEST_F(InterruptionTest, signals_and_faults_may_emit_while_a_session_starts_and_stops) {
  expect_success_in_child([&] {
    static telltale_options options;
    options = prepared_options();
    for (const Interruption how : {Interruption::kSignal, Interruption::kFault}) {
      taken = 0;
      step_through([] { telltale_start(&options); }, emit_something, how);
      step_through([] { telltale_stop(); }, emit_something, how);
      const telltale_statistics all = statistics();
      EXPECT_EQ(all.recorded + all.dropped, taken);
      EXPECT_GT(taken, 0u);
    }
  });
}

TEST_F(InterruptionTest, signals_may_emit_while_a_file_ends_and_the_next_one_begins) {
  expect_success_in_child([&] {
    telltale_options options = prepared_options();
    telltale_schedule schedule;
    telltale_default_schedule(&schedule, sizeof schedule);
    schedule.active = 1;
    options.schedule = &schedule;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
    step_through([] { note(telltale_step()); }, emit_something, Interruption::kSignal);
    stop_and_expect_all();
  });
}

TEST_F(InterruptionTest, signals_and_faults_may_emit_while_a_flight_recorder_dumps) {
  expect_success_in_child([&] {
    static std::string dumped;
    dumped = path("dumped.tell");
    start([](telltale_options& options) { options.flight_seconds = 60; });
    for (const Interruption how : {Interruption::kSignal, Interruption::kFault})
      step_through([] { EXPECT_EQ(telltale_dump(dumped.c_str()), TELLTALE_STATUS_OK); }, emit_something, how);
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  });
}

// The C library calls the ends of thread-local values by their keys' numbers, and again while one of them sets another.
// The recorder's key is older than this one: it is called in between, instruction by instruction.
TEST_F(InterruptionTest, signals_and_faults_may_emit_while_a_thread_ends) {
  static pthread_key_t key;
  static Interruption how;
  static int calls;
  expect_success_in_child([&] {
    start();
    pthread_key_create(&key, [](void*) {
      if (++calls == 1) {
        emit_something();  // gives the thread a state again, which ends in the next round
        pthread_setspecific(key, &key);
        step_through([] {}, emit_something, how);
        resume_stepping();
      } else {
        stop_stepping();
      }
    });
    for (const Interruption each : {Interruption::kSignal, Interruption::kFault}) {
      how = each;
      calls = 0;
      std::thread([] {
        emit_something();
        pthread_setspecific(key, &key);
      }).join();
      EXPECT_EQ(calls, 2);
    }
    stop_and_expect_all();
  });
}

TEST_F(InterruptionTest, handlers_may_fork_and_their_children_go_on_where_the_parent_was) {
  expect_success_in_child([&] {
    start([](telltale_options& options) { options.fork_mode = TELLTALE_FORK_OWN_FILE; });
    emit_something();
    telltale_flush();  // the writer has allocated what it needs
    step_through_all(fork_and_return, Interruption::kSignal);
    stop_and_expect_all();
  });
}

TEST_F(InterruptionTest, children_forked_without_notice_may_emit) {
  expect_success_in_child([&] {
    static telltale_options options;
    options = prepared_options();
    options.fork_mode = TELLTALE_FORK_OWN_FILE;
    step_through([] { telltale_start(&options); }, fork_untold_and_exit, Interruption::kFault);
    step_through_all(fork_untold_and_exit, Interruption::kFault);
    step_through([] { telltale_stop(); }, fork_untold_and_exit, Interruption::kFault);
  });
}

}  // namespace
}  // namespace telltale
