#include "report/activity_words.h"

#include <gtest/gtest.h>

#include "report/testing/sample_diagnosis.h"

namespace telltale {
namespace {

TEST(ActivityWords, the_subject_is_what_was_recorded) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  EXPECT_EQ(subject_line(diagnosis), "server.tell · 2.00 s · 3 threads · 851 × request");
  diagnosis.latencies.clear();
  diagnosis.host.threads.resize(1);
  EXPECT_EQ(subject_line(diagnosis), "server.tell · 2.00 s · 1 thread");
}

TEST(ActivityWords, the_headline_tells_how_long_requests_take_and_wait) {
  const Headline words = headline(server_diagnosis().diagnosis);
  EXPECT_EQ(
      words.step,
      "Each request takes 6.68 ms (p50), 13.3 ms (p99); for 72 % of that it waits, mostly while a thread that could "
      "serve it is idle.");
  EXPECT_EQ(words.filling, "The 2 threads that serve are busy 34 % of the time, mostly in layer.");
}

TEST(ActivityWords, the_headline_knows_waiting_for_want_of_threads) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  SpanWaiting& waiting = *diagnosis.latencies[0].waiting;
  waiting.beside_idle_ns = waiting.waiting_ns / 3;
  waiting.threads.resize(1);
  const Headline words = headline(diagnosis);
  EXPECT_NE(words.step.find("waits, mostly while all threads that serve are busy."), std::string::npos);
  EXPECT_EQ(words.filling, "The thread that serves, worker 0, is busy 34 % of the time, mostly in layer.");
  waiting.waiting_ns = 0;
  EXPECT_NE(headline(diagnosis).step.find("(p99); it is served at once."), std::string::npos);
}

TEST(ActivityWords, the_headline_leaves_out_what_is_known_of_few) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.latencies[0].waiting->spans = 400;
  diagnosis.latencies[0].unfinished = 12;
  const Headline words = headline(diagnosis);
  EXPECT_EQ(words.step, "Each request takes 6.68 ms (p50), 13.3 ms (p99).");
  EXPECT_EQ(words.filling,
            "The busiest of 3 threads, worker 0, is busy 38 % of the time, mostly in layer. 12 more had no end in the "
            "recording.");
}

TEST(ActivityWords, the_headline_without_requests_is_about_threads) {
  Diagnosis diagnosis = server_diagnosis().diagnosis;
  diagnosis.latencies.erase(diagnosis.latencies.begin());
  EXPECT_EQ(headline(diagnosis).step, "The recording covers 2.00 s.");
  diagnosis.host.threads.resize(1);
  EXPECT_EQ(headline(diagnosis).filling, "Its thread, worker 0, is busy 38 % of the time, mostly in layer.");
  diagnosis.host.threads.clear();
  EXPECT_EQ(headline(diagnosis).filling, "No thread was in a scope.");
}

TEST(ActivityWords, say_what_a_thread_does_in_percent_of_the_time) {
  const HostActivity host = server_diagnosis().diagnosis.host;
  EXPECT_EQ(scopes_text(host, host.threads[0]), "layer 36 · batch 2");
  EXPECT_EQ(scopes_text(host, host.threads[2]), "") << "0.2 %";
}

TEST(ActivityWords, name_a_series_only_when_it_says_something) {
  CounterSummary counter{"memory", "reserved", 3, 1, 4, 2, 2.5};
  EXPECT_EQ(counter_cells(counter).name, "memory · reserved");
  EXPECT_EQ(counter_cells(counter).mean, "2.50");
  counter.series = "value";
  EXPECT_EQ(counter_cells(counter).name, "memory");
}

TEST(ActivityWords, count_what_is_not_shown) {
  EXPECT_EQ(more_text(kMostActivityRows, "thread"), "");
  EXPECT_EQ(more_text(kMostActivityRows + 1, "thread"), "and 1 more thread");
  EXPECT_EQ(more_text(kMostActivityRows + 2000, "thread"), "and 2,000 more threads");
}

}  // namespace
}  // namespace telltale
