#include "formats/memory_snapshot/json_document.h"

#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "formats/input/text_in_memory.h"
#include "formats/memory_snapshot/testing/value_words.h"

namespace telltale::memory_snapshot {
namespace {

std::string read(std::string_view text, std::size_t block_bytes = 1 << 16) {
  TextInMemory input(text);
  ByteCursor cursor(input, "x", block_bytes);
  const auto document = read_json(cursor, "x");
  if (!document) return "refused: " + document.error().message;
  return (document->was_cut ? "cut: " : "") + words_of(document->values, document->top);
}

TEST(JsonDocument, reads_every_kind_of_data) {
  for (const std::size_t block : {1, 2, 3, 100})
    EXPECT_EQ(
        read(R"( {"a": [1, -2, 1099511627776, 1e3, null, true, false], "b\n": {}, "c": ["\u20ac", NaN]} )", block),
        "{'a': [1, -2, 1099511627776, 1000, none, true, false], 'b\n': {}, 'c': ['€', nan]}");
}

TEST(JsonDocument, refuses_what_is_no_json) {
  for (const std::string_view text :
       {"}", "[1 2]", "{1: 2}", "[1,]", "{\"a\" 1}", "[1}", "[nul]", "[--1]", "[,]", "{\"a\":}"})
    EXPECT_EQ(read(text), "refused: is not valid JSON") << text;
  EXPECT_EQ(read(""), "refused: ends before its first value");
  EXPECT_EQ(read(std::string(5000, '[')), "refused: is nested more than 1000 deep, as no memory snapshot is");
}

TEST(JsonDocument, keeps_what_stands_before_a_cut) {
  EXPECT_EQ(read(R"({"a": [1, 2, {"b": 3, "c)"), "cut: {'a': [1, 2, {'b': 3}]}");
  EXPECT_EQ(read(R"({"a": [1, 2, 34)"), "cut: {'a': [1, 2]}");
}

}  // namespace
}  // namespace telltale::memory_snapshot
