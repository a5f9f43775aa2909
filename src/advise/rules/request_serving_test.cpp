#include <gtest/gtest.h>

#include "advise/testing/advise_sketch.h"

namespace telltale {
namespace {

// A server on the host, drawn request by request.
class Server {
 public:
  TrackId thread(std::string_view name) { return sketch_.thread(name); }
  TraceSketch& sketch() { return sketch_; }
  void request(TrackId thread, int start_ms, int end_ms, std::string_view shapes = "[[1,512],[512,512],[]]") {
    sketch_.event(thread, Kind::kModule, "nn.Module: Net_0", start_ms * kMillisecond, end_ms * kMillisecond);
    const auto op = sketch_.op(thread, "aten::linear", start_ms * kMillisecond + kMicrosecond,
                               end_ms * kMillisecond - kMicrosecond);
    sketch_.set_inputs(op, shapes);
  }
  void frame(TrackId thread, std::string_view name, int start_ms, int end_ms, std::string_view stack = {}) {
    const auto call = sketch_.event(thread, Kind::kPython, name, start_ms * kMillisecond, end_ms * kMillisecond);
    if (!stack.empty()) sketch_.set_call_stack(call, stack);
  }
  void metadata(std::string_view name, std::string_view value) {
    sketch_.trace().metadata.emplace_back(std::string(name), std::string(value));
  }
  Trace build() { return sketch_.build(); }

 private:
  TraceSketch sketch_;
};

// Two threads that call the model in turn, in batches of 8: 10 ms each, and as long waiting for the other one.
Trace under_a_lock(std::string_view frame) {
  Server server;
  const TrackId a = server.thread("a"), b = server.thread("b");
  for (const TrackId thread : {a, b}) server.frame(thread, frame, 0, 80);
  for (int i = 0; i < 4; ++i) {
    server.request(a, 20 * i, 20 * i + 10, "[[8,512],[512,512],[]]");
    server.frame(a, "<waits for lock>", 20 * i + 10, 20 * i + 20);
    server.frame(b, "<waits for lock>", 20 * i, 20 * i + 10);
    server.request(b, 20 * i + 10, 20 * i + 20, "[[8,512],[512,512],[]]");
  }
  return server.build();
}

TEST(RequestServingRule, tells_of_a_lock_around_the_model) {
  const std::vector<Finding> findings = findings_of(under_a_lock("serve.py(7): answer"), "request_serving");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "Requests take turns: the model is called under a lock");
  // Eight waits of 10 ms for eight requests.
  EXPECT_EQ(
      findings[0].explanation,
      "2 threads serve, but wait for a lock while another one is served, for 10.0 ms per request; the computing takes "
      "10.0 ms (p50).");
  EXPECT_EQ(findings[0].source, (SourceLine{"serve.py", 7, "answer"}));
}

// Two threads in turn: one holds the lock for 10 ms, of which it sleeps 8 at the given line and computes 2, while the
// other one waits at line 7.
Trace sleeping_under_a_lock(std::string_view sleeping_at) {
  Server server;
  const TrackId a = server.thread("a"), b = server.thread("b");
  for (const TrackId thread : {a, b}) server.frame(thread, "serve.py(7): answer", 0, 160);
  for (int i = 0; i < 16; ++i) {
    const TrackId holds = i % 2 == 0 ? a : b, waits = i % 2 == 0 ? b : a;
    server.frame(waits, "<waits for lock>", 10 * i, 10 * i + 10, "serve.py(7): answer");
    server.frame(holds, "<waits for sleep>", 10 * i, 10 * i + 8, sleeping_at);
    server.request(holds, 10 * i + 8, 10 * i + 10, "[[8,512],[512,512],[]]");
  }
  return server.build();
}

// Seven steps count, with six waits between them, of which 8 ms of 10 go.
TEST(RequestServingRule, what_its_holder_sleeps_needs_no_lock) {
  const std::vector<Finding> findings =
      findings_of(sleeping_under_a_lock("store.py(3): fetch;serve.py(8): answer"), "request_serving");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "Requests take turns: a lock is held while its holder waits");
  EXPECT_NEAR(likely_ms(findings[0]), 8 * 6 / 7.0, 0.05);
  EXPECT_EQ(findings[0].fix.id, "shorten_lock");
  EXPECT_EQ(findings[0].source, (SourceLine{"serve.py", 7, "answer"}));
  EXPECT_EQ(findings[0].explanation,
            "2 threads serve, but wait for a lock while another one is served, for 10.0 ms per request; the computing "
            "takes 2.00 ms (p50). For 80 % of that time, whoever holds it waits for a sleep at store.py:3.");
}

// Before the line that takes it, no lock is held.
TEST(RequestServingRule, a_sleep_before_the_lock_is_none_under_it) {
  const std::vector<Finding> findings =
      findings_of(sleeping_under_a_lock("store.py(3): fetch;serve.py(6): answer"), "request_serving");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].saving.likely, 0);
}

TEST(RequestServingRule, a_queue_is_no_lock_around_the_model) {
  EXPECT_TRUE(findings_of(under_a_lock("queue.py(154): get"), "request_serving").empty());
}

Trace on_event_loop() {
  Server server;
  const TrackId thread = server.thread("main");
  server.frame(thread, "asyncio/base_events.py(600): run_forever", 0, 100);
  server.frame(thread, "serve.py(9): handle", 0, 100);
  for (int i = 0; i < 5; ++i) server.request(thread, 20 * i, 20 * i + 10, "[[8,512],[512,512],[]]");
  return server.build();
}

TEST(RequestServingRule, tells_of_a_model_on_the_event_loop) {
  const std::vector<Finding> findings = findings_of(on_event_loop(), "request_serving");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "The model runs on the event loop's thread");
  // 50 of 90 ms, from the first request to the end of the last.
  EXPECT_EQ(
      findings[0].explanation,
      "Each of 5 calls of Net takes 10.0 ms (p50), 10.0 ms (p99), for 56 % of the time in all; until it returns, no "
      "other request is read or answered.");
  EXPECT_EQ(findings[0].source, (SourceLine{"serve.py", 9, "handle"}));
}

// Requests of four threads at once.
Trace crowd(std::string_view shapes, std::string_view torch_threads) {
  Server server;
  server.metadata("torch_threads", torch_threads);
  server.metadata("processors", "\"8\"");
  for (const std::string_view name : {"a", "b", "c", "d"}) {
    const TrackId thread = server.thread(name);
    for (int i = 0; i < 3; ++i) server.request(thread, 20 * i, 20 * i + 10, shapes);
  }
  return server.build();
}

TEST(RequestServingRule, tells_of_threads_that_want_more_processors_than_there_are) {
  const std::vector<Finding> findings = findings_of(crowd("[[8,512],[512,512],[]]", "\"4\""), "request_serving");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].title, "Requests that run at once want more processors than there are");
  EXPECT_EQ(
      findings[0].explanation,
      "On average 4 requests run at once, each with 4 threads of torch: 16 threads on 8 processors, which slow each "
      "other down.");
  EXPECT_EQ(findings[0].fix.code, "+ torch.set_num_threads(2)");
  EXPECT_TRUE(findings_of(crowd("[[8,512],[512,512],[]]", "\"2\""), "request_serving").empty());
}

TEST(RequestServingRule, tells_of_batches_of_one_while_others_wait) {
  const std::vector<Finding> findings = findings_of(crowd("[[1,512],[512,512],[]]", "\"2\""), "request_serving");
  ASSERT_EQ(findings.size(), 1);
  EXPECT_EQ(findings[0].fix.id, "larger_batch");
  EXPECT_EQ(
      findings[0].explanation,
      "Most calls of Net have a batch of 1, while 4 requests run at once on average. A batch of those that wait takes "
      "far less time than each of them alone.");
}

const RuleSample kLock("request_serving", "a lock", [] { return under_a_lock("serve.py(7): answer"); });
const RuleSample kSleep("request_serving", "a sleep under a lock",
                        [] { return sleeping_under_a_lock("store.py(3): fetch;serve.py(8): answer"); });
const RuleSample kLoop("request_serving", "an event loop", on_event_loop);
const RuleSample kCrowd("request_serving", "a crowd", [] { return crowd("[[8,512],[512,512],[]]", "\"4\""); });
const RuleSample kOneByOne("request_serving", "one by one", [] { return crowd("[[1,512],[512,512],[]]", "\"2\""); });
const RuleSample kBusy("request_serving", "one busy thread", [] {
  Server server;
  const TrackId thread = server.thread("main");
  for (int i = 0; i < 5; ++i) server.request(thread, 10 * i, 10 * i + 10);
  return server.build();
});

}  // namespace
}  // namespace telltale
