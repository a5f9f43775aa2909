#include "answers/kept_answers.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace telltale::answers {
namespace {

TEST(KeptAnswers, are_made_once_however_many_ask_at_a_time) {
  KeptAnswers<std::string, int> kept(2);
  std::atomic<int> made = 0;
  std::vector<std::jthread> threads;
  std::vector<int> got(16);
  for (std::size_t i = 0; i < got.size(); ++i)
    threads.emplace_back([&, i] {
      got[i] = *kept.get("a", [&] {
        std::this_thread::yield();
        return ++made;
      });
    });
  threads.clear();
  EXPECT_EQ(made, 1);
  EXPECT_EQ(got, std::vector<int>(16, 1));
}

TEST(KeptAnswers, forget_what_nobody_has_asked_for_since_then) {
  using Clock = KeptAnswers<int, std::string>::Clock;
  KeptAnswers<int, std::string> kept(4);
  const auto long_ago = Clock::now();
  const auto got = kept.get(1, [] { return "one"; });
  kept.get(2, [] { return "two"; });
  std::this_thread::sleep_for(std::chrono::milliseconds(1));  // longer than the clock's tick
  const auto then = Clock::now();
  EXPECT_EQ(kept.forget_unused_since(long_ago), 0U);
  kept.get(1, [] { return "one, again"; });  // kept, so that nothing is made
  EXPECT_EQ(kept.forget_unused_since(then), 1U);
  EXPECT_TRUE(kept.has(1));
  EXPECT_FALSE(kept.has(2));
  EXPECT_EQ(kept.forget_unused_since(Clock::now() + std::chrono::hours(1)), 1U);
  EXPECT_EQ(*got, "one") << "whoever has it keeps it";
  EXPECT_EQ(*kept.get(1, [] { return "one, again"; }), "one, again");
}

TEST(KeptAnswers, know_what_they_have) {
  KeptAnswers<int, int> kept(1);
  EXPECT_FALSE(kept.has(1));
  bool has_while_made = true;
  kept.get(1, [&] {
    has_while_made = kept.has(1);
    return 7;
  });
  EXPECT_FALSE(has_while_made);
  EXPECT_TRUE(kept.has(1));
  kept.get(2, [] { return 8; });
  EXPECT_FALSE(kept.has(1)) << "no longer kept";
}

TEST(KeptAnswers, keep_those_that_were_asked_for_last) {
  KeptAnswers<int, int> kept(2);
  int made = 0;
  const auto ask = [&](int key) { return *kept.get(key, [&] { return ++made; }); };
  ask(1);
  ask(2);
  EXPECT_EQ(ask(1), 1);  // now 2 was asked for longest ago
  ask(3);
  EXPECT_EQ(ask(1), 1);
  EXPECT_EQ(ask(2), 4);
}

TEST(KeptAnswers, may_be_made_of_one_another) {
  KeptAnswers<int, int> kept(4);
  EXPECT_EQ(*kept.get(2, [&] { return 10 * *kept.get(1, [] { return 7; }); }), 70);
}

TEST(KeptAnswers, stay_alive_for_those_who_have_them) {
  KeptAnswers<int, std::string> kept(1);
  const auto first = kept.get(1, [] { return std::string("first"); });
  kept.get(2, [] { return std::string("second"); });
  EXPECT_EQ(*kept.get(1, [] { return std::string("again"); }), "again");
  EXPECT_EQ(*first, "first");
}

TEST(KeptAnswers, are_tried_again_where_making_one_failed) {
  KeptAnswers<int, int> kept(1);
  EXPECT_THROW(kept.get(1, []() -> int { throw std::runtime_error("no memory"); }), std::runtime_error);
  EXPECT_EQ(*kept.get(1, [] { return 5; }), 5);
}

}  // namespace
}  // namespace telltale::answers
