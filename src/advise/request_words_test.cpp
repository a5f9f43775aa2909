#include "advise/request_words.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

// Ten requests in two seconds.
Requests requests(std::size_t threads) {
  Requests requests;
  requests.name = "Net";
  requests.p50_ns = 3'200'000;
  requests.p99_ns = 9'000'000;
  requests.total_ns = 40'000'000;
  requests.events.resize(10);
  requests.window = {0, 2'000'000'000};
  requests.threads.resize(threads);
  requests.busy_percent = 30;
  return requests;
}

TEST(RequestWords, tell_how_long_calls_take_and_how_many_come) {
  Requests calls = requests(1);
  EXPECT_EQ(latency_sentence(calls),
            "A request (a call of Net) takes 3.20 ms (p50), 9.00 ms (p99) as recorded; 5 come per second.");
  calls.name = "generate";
  calls.are_calls_of_module = false;
  calls.calls = 12;
  EXPECT_EQ(latency_sentence(calls),
            "A request (a call of generate) takes 3.20 ms (p50), 9.00 ms (p99) as recorded, in 12 calls of modules; 5 "
            "come per second.");
}

TEST(RequestWords, tell_who_serves_and_waits_for_what) {
  EXPECT_EQ(serving_sentence(requests(1)), "1 thread serves, busy 30 % of the time.");
  Requests many = requests(4);
  many.waits_between = {{"lock", 1'000'000'000}, {"socket", 1'000}};
  many.waits_inside = {{"socket", 10'000'000}};  // of 40 ms
  EXPECT_EQ(serving_sentence(many),
            "4 threads serve, busy 30 % of the time; between requests they wait mostly for a lock or a queue; within "
            "requests they wait for a socket 25 % of the time.");
}

}  // namespace
}  // namespace telltale
