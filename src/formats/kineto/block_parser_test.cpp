#include "formats/kineto/block_parser.h"

#include <gtest/gtest.h>

namespace telltale::kineto {
namespace {

constexpr auto kNone = std::string_view::npos;

TEST(EventBoundaries, are_brackets_behind_an_object_and_in_front_of_an_event_key) {
  const std::string_view text = R"({"ph":"X"}, {"name": "a"},
    {  "cat":1})";
  EXPECT_EQ(find_event_start(text, 0), text.find("{\"name"));
  EXPECT_EQ(find_event_start(text, 13), text.find("{  \"cat"));
  EXPECT_EQ(find_last_event_start(text), text.find("{  \"cat"));
}

TEST(EventBoundaries, are_not_seen_in_arguments_or_at_the_first_event) {
  EXPECT_EQ(find_event_start(R"({"ph":"X","args":{"grid":[1]}})", 0), kNone);
  EXPECT_EQ(find_event_start(R"([{"a":1}, {"b":2}])", 0), kNone);
  EXPECT_EQ(find_event_start(R"({"a":"}, {\"ph\":1"})", 0), kNone);
  EXPECT_EQ(find_last_event_start(""), kNone);
  EXPECT_EQ(find_last_event_start("{"), kNone);
}

TEST(EventBoundaries, are_not_seen_where_the_text_ends_too_early) {
  EXPECT_EQ(find_event_start(R"({}, {"ph)", 0), kNone);
  EXPECT_EQ(find_event_start(R"({}, {)", 0), kNone);
}

TEST(EventBoundaries, the_list_ends_with_the_first_bracket_behind_an_object) {
  const std::string_view text = R"({"shape": [1], "name": "[memory]"} ], "ranks": [{}]})";
  EXPECT_EQ(find_list_end(text, 0), text.find("], \"ranks"));
  EXPECT_EQ(find_list_end(text, text.find("ranks")), text.rfind(']'));
  EXPECT_EQ(find_list_end("[1, 2]", 0), kNone);
}

}  // namespace
}  // namespace telltale::kineto
