// Emitted = recorded + dropped, exactly, whatever happens meanwhile.
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "recorded_file.h"

namespace telltale {
namespace {

telltale_site plain = {"plain", "", __FILE__, "emit", nullptr, 0, __LINE__, TELLTALE_KIND_SCOPE, 0};
const telltale_field kFields[] = {{"n", TELLTALE_FIELD_TYPE_INTEGER, 0}, {"text", TELLTALE_FIELD_TYPE_TEXT, 0}};
telltale_site valued = {"valued", "", __FILE__, "emit", kFields, 2, __LINE__, TELLTALE_KIND_SCOPE, 0};

// Two records, of different sizes; returns how many a recording took note of.
std::uint64_t emit_two(std::int64_t n) {
  const telltale_scope outer = telltale_begin(&plain);
  const telltale_scope inner = telltale_begin(&valued);
  telltale_value values[2];
  values[0].integer = n;
  values[1].text = {"some text of no meaning", static_cast<std::size_t>(n % 24)};
  std::uint64_t taken = telltale_end_with(&inner, values) == TELLTALE_STATUS_OK ? 1 : 0;
  taken += telltale_end(&outer) == TELLTALE_STATUS_OK ? 1 : 0;
  return taken;
}

// Scopes that were still open are drawn to the end, but nobody has emitted them.
std::uint64_t in_file(const Trace& trace) {
  return count_of(trace, "plain") + count_of(trace, "valued") - trace.anomalies.count(Anomaly::kOpenScope);
}

class ConservationTest : public RecordingTest {
 protected:
  // Runs `threads` threads through one session and compares the three counts.
  void check(telltale_options options, int threads, int rounds, int lives) {
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    std::atomic<std::uint64_t> taken = 0;
    std::vector<std::thread> running;
    for (int t = 0; t < threads; ++t) {
      running.emplace_back([&taken, rounds, lives] {
        for (int life = 0; life < lives; ++life) {
          std::thread([&taken, rounds] {
            std::uint64_t mine = 0;
            for (int i = 0; i < rounds; ++i) mine += emit_two(i);
            taken += mine;
          }).join();
        }
      });
    }
    for (std::thread& thread : running) thread.join();
    EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    const std::uint64_t emitted = std::uint64_t{2} * threads * rounds * lives;
    EXPECT_EQ(taken, emitted);
    const telltale_statistics stats = statistics();
    EXPECT_EQ(stats.recorded + stats.dropped, emitted);
    const Trace trace = read_recording(path());
    EXPECT_EQ(in_file(trace), stats.recorded);
    EXPECT_EQ(dropped(trace), stats.dropped);
  }
};

TEST_F(ConservationTest, holds_for_sixteen_threads_with_memory_to_spare) {
  telltale_options options = this->options();
  options.policy = TELLTALE_POLICY_BLOCK;
  check(options, 16, 2000, 1);
  EXPECT_EQ(statistics().dropped, 0u);
}

TEST_F(ConservationTest, holds_for_every_policy_with_hardly_any_memory) {
  for (const telltale_policy policy :
       {TELLTALE_POLICY_DROP_NEWEST, TELLTALE_POLICY_DROP_OLDEST, TELLTALE_POLICY_BLOCK}) {
    telltale_options options = this->options();
    options.memory_limit = 32 << 10;  // eight buffers for sixteen threads
    options.policy = policy;
    check(options, 16, 1000, 1);
    if (policy == TELLTALE_POLICY_BLOCK) {
      EXPECT_EQ(statistics().dropped, 0u);
    }
  }
}

TEST_F(ConservationTest, holds_for_threads_that_come_and_go) {
  for (const telltale_policy policy :
       {TELLTALE_POLICY_DROP_NEWEST, TELLTALE_POLICY_DROP_OLDEST, TELLTALE_POLICY_BLOCK}) {
    telltale_options options = this->options();
    options.memory_limit = 64 << 10;
    options.policy = policy;
    check(options, 8, 20, 25);
  }
}

TEST_F(ConservationTest, loses_something_when_it_must) {
  telltale_options options = this->options();
  options.memory_limit = 16 << 10;
  options.flush_ms = 1000;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  telltale_site large = {"large", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  std::vector<telltale_field> fields(1000, telltale_field{"number", TELLTALE_FIELD_TYPE_INTEGER, 0});
  large.fields = fields.data();
  large.field_count = 1000;  // 8000 bytes
  const std::vector<telltale_value> values(1000, telltale_value{});
  EXPECT_EQ(telltale_instant(&large, values.data()), TELLTALE_STATUS_OK);  // no buffer is so large
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(statistics().dropped_too_large, 1u);
  EXPECT_EQ(dropped(read_recording(path())), 1u);
}

TEST_F(ConservationTest, a_value_that_no_buffer_holds_is_cut_and_its_scope_is_kept) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  const telltale_field fields[] = {{"prompt", TELLTALE_FIELD_TYPE_TEXT, 0}, {"tokens", TELLTALE_FIELD_TYPE_INTEGER, 0}};
  telltale_site site = {"request", "", "", "", fields, 2, 0, TELLTALE_KIND_SCOPE, 0};
  std::string text;
  while (text.size() < 1 << 20) text += "ä";  // of two bytes
  telltale_value values[2];
  values[0].text = {text.data(), text.size()};
  values[1].integer = 4711;
  const telltale_scope scope = telltale_begin(&site);
  EXPECT_EQ(telltale_end_with(&scope, values), TELLTALE_STATUS_OK);
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(statistics().values_cut, 1u);
  EXPECT_EQ(statistics().dropped, 0u);
  EXPECT_EQ(statistics().recorded, 1u);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "request"), 1u);
  EXPECT_EQ(dropped(trace), 0u);
  const std::pair<std::string, std::string> told("values_cut", "1");
  EXPECT_EQ(std::ranges::count(trace.metadata, told), 1);
  ASSERT_EQ(trace.other_arguments.size(), 1u);
  const std::string arguments(trace.strings[trace.other_arguments.row(0)]);
  EXPECT_NE(arguments.find("4711"), std::string::npos);
  EXPECT_NE(arguments.find("ää"), std::string::npos);
  EXPECT_EQ(arguments.find("\\u"), std::string::npos);  // no half of a character
  EXPECT_GT(arguments.size(), 60'000u);
  EXPECT_LT(arguments.size(), 66'000u);
}

TEST_F(ConservationTest, scopes_deeper_than_those_kept_as_open_are_counted) {
  const telltale_options options = this->options();
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  telltale_site site = {"deep", "", "", "", nullptr, 0, 0, TELLTALE_KIND_SCOPE, 0};
  std::vector<telltale_scope> scopes;
  for (int i = 0; i < 100; ++i) scopes.push_back(telltale_begin(&site));
  for (; !scopes.empty(); scopes.pop_back()) telltale_end(&scopes.back());
  EXPECT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(statistics().open_scopes_not_kept, 100u - 64u);
  EXPECT_EQ(statistics().recorded, 100u);
  const Trace trace = read_recording(path());
  EXPECT_EQ(count_of(trace, "deep"), 100u);
  EXPECT_EQ(dropped(trace), 0u);
}

TEST_F(ConservationTest, holds_over_sessions_that_start_and_stop_meanwhile) {
  std::atomic<bool> is_over = false;
  std::atomic<std::uint64_t> taken = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      std::uint64_t mine = 0;
      for (std::int64_t i = 0; !is_over; ++i) {
        mine += emit_two(i);
        if (i % 64 == 0) std::this_thread::yield();
      }
      taken += mine;
    });
  }
  std::uint64_t recorded = 0, lost = 0;
  for (int session = 0; session < 40; ++session) {
    telltale_options options = this->options();
    options.policy = static_cast<std::uint32_t>(session % 3);
    options.memory_limit = session % 2 == 0 ? 32 << 10 : 4 << 20;
    ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK) << telltale_error_text();
    std::this_thread::sleep_for(std::chrono::milliseconds(session % 7));
    ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
    const Trace trace = read_recording(path());
    recorded += in_file(trace);
    lost += dropped(trace);
    EXPECT_EQ(trace.anomalies.count(Anomaly::kDamagedChunk), 0u);
  }
  is_over = true;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(recorded + lost, taken);
  EXPECT_GT(recorded, 0u);
}

TEST_F(ConservationTest, holds_over_the_files_of_a_schedule) {
  telltale_options options = this->options();
  const telltale_schedule schedule = {.size = sizeof(telltale_schedule),
                                      .skip_first = 1,
                                      .wait = 1,
                                      .warmup = 1,
                                      .active = 2,
                                      .repeat = 3,
                                      .skip_first_wait = 0};
  options.schedule = &schedule;
  ASSERT_EQ(telltale_start(&options), TELLTALE_STATUS_OK);
  std::uint64_t taken = 0;
  for (int step = 0; step < 20; ++step) {
    for (int i = 0; i < 10; ++i) taken += emit_two(i);
    ASSERT_EQ(telltale_step(), TELLTALE_STATUS_OK);
  }
  ASSERT_EQ(telltale_stop(), TELLTALE_STATUS_OK);
  EXPECT_EQ(files(), (std::vector<std::string>{"run.1.tell", "run.2.tell", "run.tell"}));
  EXPECT_EQ(taken, 3u * 2 * 20);  // three cycles of two steps of twenty records
  for (const std::string& file : files()) {
    const Trace trace = read_recording(path(file));
    EXPECT_EQ(in_file(trace), 40u);
    EXPECT_EQ(trace.steps.size(), 2u);
  }
  EXPECT_EQ(read_recording(path("run.1.tell")).steps.front().index, 7);  // 1 + 4 + wait + warmup
}

}  // namespace
}  // namespace telltale
