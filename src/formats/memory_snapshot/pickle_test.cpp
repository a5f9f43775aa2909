#include "formats/memory_snapshot/pickle.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>
#include <string_view>

#include "formats/input/text_in_memory.h"
#include "formats/memory_snapshot/testing/value_words.h"

namespace telltale::memory_snapshot {
namespace {

using namespace std::string_literals;

std::string read(std::string_view bytes, const DocumentLimits& limits = {}, std::size_t block_bytes = 1 << 16) {
  TextInMemory input(bytes);
  ByteCursor cursor(input, "x", block_bytes);
  const auto document = read_pickle(cursor, "x", limits);
  if (!document) return "refused: " + document.error().message;
  return (document->was_cut ? "cut: " : "") + words_of(document->values, document->top);
}

// What Python 3.11's pickle.dumps({"a": [1, -2, 2**40, 2**70, 1.5, None, True], "b": ("x", b"y"), "c": {3}}, 4) gives.
const std::string kProtocol4 =
    "\x80\x04\x95\x46\0\0\0\0\0\0\0}\x94(\x8c\x01"
    "a\x94]\x94(K\x01J\xfe\xff\xff\xff\x8a\x06\0\0\0\0\0\x01\x8a\x09\0\0\0\0\0\0\0\0@G?\xf8\0\0\0\0\0\0N\x88"
    "e\x8c\x01"
    "b\x94\x8c\x01x\x94"
    "C\x01y\x94\x86\x94\x8c\x01"
    "c\x94\x8f\x94(K\x03\x90u."s;
constexpr std::string_view kProtocol4Words =
    "{'a': [1, -2, 1099511627776, big, 1.5, none, true], 'b': ['x', b'y'], 'c': [3]}";

TEST(Pickle, reads_every_kind_of_data) { EXPECT_EQ(read(kProtocol4), kProtocol4Words); }

TEST(Pickle, does_not_depend_on_where_blocks_end) {
  for (const std::size_t block : {1, 2, 3, 7}) EXPECT_EQ(read(kProtocol4, {}, block), kProtocol4Words);
}

TEST(Pickle, reads_protocol_0) {
  // pickle.dumps({"a": [1, 2**40, True, 1.5], "b": (None, "\u20ac\n")}, 0)
  EXPECT_EQ(read("(dp0\nVa\np1\n(lp2\nI1\naL1099511627776L\naI01\naF1.5\nasVb\np3\n(NV\\u20ac\\u000a\np4\ntp5\ns."),
            "{'a': [1, 1099511627776, true, 1.5], 'b': [none, '€\n']}");
}

TEST(Pickle, shares_what_the_memo_names) {
  EXPECT_EQ(read("\x80\x02]q\0(]q\x01(K\x07K\x08"s + "eh\x01h\x01"s + "e."s), "[[7, 8], [7, 8], [7, 8]]");
}

TEST(Pickle, reads_bytes_and_ordered_dicts_of_old_protocols) {
  EXPECT_EQ(read("\x80\x02"s + "c_codecs\nencode\nX\x03\0\0\0\xc3\xa9zX\x06\0\0\0latin1\x86R."s), "b'\xe9z'");
  EXPECT_EQ(read("\x80\x02"s + "ccollections\nOrderedDict\n)R(K\x01K\x02u."s), "{1: 2}");
}

TEST(Pickle, refuses_whatever_would_run_code_and_names_it) {
  for (const auto& [bytes, named] :
       {std::pair("cos\nsystem\n(X\x04\0\0\0true\x85R."s, "os.system"),
        std::pair("\x80\x04\x8c\x02os\x8c\x06system\x93X\x04\0\0\0true\x85R."s, "os.system"),
        std::pair("(S'true'\nios\nsystem\n."s, "os.system"), std::pair("cbuiltins\neval\n."s, "builtins.eval"),
        std::pair("ccollections\nOrderedDict\n)\x81."s, "an object of a class"),
        std::pair("}}b."s, "the state of an object"), std::pair("Pabc\n."s, "persistent id"),
        std::pair("\x82\x01."s, "extension")}) {
    const std::string answer = read(bytes);
    EXPECT_TRUE(answer.starts_with("refused: is a pickle that asks for ")) << answer;
    EXPECT_NE(answer.find(named), std::string::npos) << answer;
  }
}

TEST(Pickle, prints_names_of_what_it_refuses_harmlessly) {
  const std::string answer = read("c\x1b[31m"s + std::string(5000, 'x') + "\ny\n.");
  EXPECT_EQ(answer.find('\x1b'), std::string::npos);
  EXPECT_LT(answer.size(), 300u);
}

TEST(Pickle, refuses_calls_of_known_functions_with_other_arguments) {
  EXPECT_TRUE(read("ccollections\nOrderedDict\n(K\x01tR."s).starts_with("refused"));
  EXPECT_TRUE(read("c_codecs\nencode\n(X\x01\0\0\0aX\x03\0\0\0hextR."s).starts_with("refused"));
}

TEST(Pickle, refuses_damage) {
  for (const std::string& bytes :
       {"e."s, "u."s, "h\x05."s, "(K\x01u."s, "K\x01K\x02s."s, "\x80\x09."s, "\xff."s, "Ix\n."s, "a."s, "("s + "0t."s,
        "\x8b\xff\xff\xff\xff."s, "r\xff\xff\xff\xff."s, "."s})
    EXPECT_TRUE(read(bytes).starts_with("refused")) << bytes;
}

TEST(Pickle, refuses_memo_numbers_that_would_only_cost_memory) {
  EXPECT_TRUE(read("K\x01r\xff\xff\xff\x7f."s).starts_with("refused"));
  EXPECT_TRUE(read("K\x01p99999999999\n."s).starts_with("refused"));
}

TEST(Pickle, believes_no_claimed_length) {
  EXPECT_EQ(read("]\x8d\0\0\0\0\0\0\0\x10oops"s),
            "refused: holds a text of more than 256 MiB, as no memory snapshot does");
  EXPECT_EQ(read("]X\0\0\0\x0foops"s), "cut: []");
}

TEST(Pickle, holds_a_list_that_contains_itself) { EXPECT_EQ(read("]q\0h\0a."s), "[[[[[…]]]]]"); }

TEST(Pickle, keeps_to_its_limits) {
  EXPECT_EQ(read(std::string(2000, '(') + "."), "refused: is nested more than 1000 deep, as no memory snapshot is");
  EXPECT_TRUE(read(std::string(50'000, 'N') + ".", {.bytes = 10'000}).starts_with("refused: is larger than"));
  EXPECT_TRUE(read(std::string(50'000, ']') + ".", {.values = 10'000}).starts_with("refused: holds more values"));
  EXPECT_TRUE(
      read(std::string(50'000, 'N') + ".", {.references = 9'000}).starts_with("refused: holds more references"));
}

TEST(Pickle, nests_without_using_the_stack) {
  constexpr int kDeep = 1'000'000;
  EXPECT_TRUE(read(std::string(kDeep, ']') + std::string(kDeep - 1, 'a') + ".").starts_with("[[[[["));
}

TEST(Pickle, keeps_what_stands_before_a_cut) {
  std::size_t longest = 0;
  for (std::size_t size = 0; size < kProtocol4.size(); ++size) {
    const std::string answer = read(std::string_view(kProtocol4).substr(0, size));
    EXPECT_TRUE(answer.starts_with("cut: ") || answer.starts_with("refused: ends before")) << answer;
    longest = std::max(longest, answer.size());
  }
  EXPECT_EQ(read(std::string_view(kProtocol4).substr(0, kProtocol4.size() - 1)),
            "cut: " + std::string(kProtocol4Words));
  // A list of one item is filled without a mark: the dict in it still finds its way.
  EXPECT_EQ(read("\x80\x04}(X\x01\0\0\0a](K\x01K\x02"s
                 "eX\x01\0\0\0b](](K\x05K\x06"s),
            "cut: {'a': [1, 2], 'b': [[5, 6]]}");
  EXPECT_EQ(read("\x80\x04}(X\x01\0\0\0b]](K\x05K\x06"s), "cut: {'b': [[5, 6]]}");
}

}  // namespace
}  // namespace telltale::memory_snapshot
