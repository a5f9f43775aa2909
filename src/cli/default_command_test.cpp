#include "cli/default_command.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <fstream>

namespace telltale::cli {
namespace {

using Words = std::vector<std::string>;

class DefaultCommand : public testing::Test {
 protected:
  DefaultCommand() {
    program_.add_option("--threads");
    analyze_.add_option("TRACE");
    analyze_.add_option("--html");
    analyze_.add_flag("--json");
    std::ofstream(trace_) << "{}";
  }

  Words completed(const Words& words) const { return with_default_command(words, program_, analyze_); }

  CLI::App program_;
  CLI::App& analyze_ = *program_.add_subcommand("analyze");
  CLI::App& top_ = *program_.add_subcommand("top");
  const std::string trace_ = testing::TempDir() + "default_command_test.json";
};

TEST_F(DefaultCommand, stands_before_a_file) {
  EXPECT_EQ(completed({trace_}), (Words{"analyze", trace_}));
  EXPECT_EQ(completed({trace_, "--json"}), (Words{"analyze", trace_, "--json"}));
  EXPECT_EQ(completed({"--threads", "2", trace_}), (Words{"analyze", "--threads", "2", trace_}));
  EXPECT_EQ(completed({"--html", "x.html", trace_}), (Words{"analyze", "--html", "x.html", trace_}));
  EXPECT_EQ(completed({"--html=x.html", trace_}), (Words{"analyze", "--html=x.html", trace_}));
}

TEST_F(DefaultCommand, stands_before_standard_input) { EXPECT_EQ(completed({"-"}), (Words{"analyze", "-"})); }

TEST_F(DefaultCommand, stands_before_options_that_it_alone_has) {
  EXPECT_EQ(completed({"--html", "x.html"}), (Words{"analyze", "--html", "x.html"}));
}

TEST_F(DefaultCommand, gives_way_to_commands) {
  EXPECT_EQ(completed({"top", trace_}), (Words{"top", trace_}));
  EXPECT_EQ(completed({"--threads", "2", "top", trace_}), (Words{"--threads", "2", "top", trace_}));
  EXPECT_EQ(completed({"analyze", trace_}), (Words{"analyze", trace_}));
}

TEST_F(DefaultCommand, does_not_hide_mistyped_words) {
  EXPECT_EQ(completed({"tpo", trace_}), (Words{"tpo", trace_}));
  EXPECT_EQ(completed({"nowhere.json"}), (Words{"nowhere.json"}));
  EXPECT_EQ(completed({}), (Words{}));
  EXPECT_EQ(completed({"--threads", "2"}), (Words{"--threads", "2"}));
  EXPECT_EQ(completed({"--frobnicate"}), (Words{"--frobnicate"}));
}

TEST_F(DefaultCommand, first_plain_word_is_no_value_of_an_option) {
  EXPECT_EQ(first_plain_word({"--threads", "4", "nowhere.json"}, program_, analyze_), "nowhere.json");
  EXPECT_EQ(first_plain_word({"--json", "nowhere.json"}, program_, analyze_), "nowhere.json");
  EXPECT_EQ(first_plain_word({"--threads", "4"}, program_, analyze_), "");
}

class ChildCommand : public testing::Test {
 protected:
  ChildCommand() {
    program_.add_option("--threads");
    record_.add_option("--steps");
    record_.add_flag("--shapes");
  }

  // What is left, then what was taken.
  std::pair<Words, Words> split(Words words) const {
    Words taken = taken_child_command(words, program_, record_);
    return {words, taken};
  }

  CLI::App program_;
  CLI::App& record_ = *program_.add_subcommand("record");
};

TEST_F(ChildCommand, stands_behind_two_dashes) {
  EXPECT_EQ(split({"record", "--steps", "3", "--", "a", "--steps", "--", "[1,2]"}),
            std::pair(Words({"record", "--steps", "3"}), Words({"a", "--steps", "--", "[1,2]"})));
  EXPECT_EQ(split({"record", "--"}), std::pair(Words({"record"}), Words()));
}

TEST_F(ChildCommand, or_starts_with_the_first_word_that_is_no_option) {
  EXPECT_EQ(split({"--threads", "2", "record", "--shapes", "--steps", "3", "python", "x.py", "--shapes", "--", "y"}),
            std::pair(Words({"--threads", "2", "record", "--shapes", "--steps", "3"}),
                      Words({"python", "x.py", "--shapes", "--", "y"})));
  EXPECT_EQ(split({"record", "--steps", "3"}), std::pair(Words({"record", "--steps", "3"}), Words()));
}

TEST_F(ChildCommand, is_no_matter_of_other_commands) {
  EXPECT_EQ(split({"top", "--", "x"}), std::pair(Words({"top", "--", "x"}), Words()));
  EXPECT_EQ(split({}), std::pair(Words(), Words()));
}

}  // namespace
}  // namespace telltale::cli
