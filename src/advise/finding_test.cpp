#include "advise/finding.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

Finding finding(std::string rule, std::string fix, Nanoseconds likely, std::vector<EventId> evidence = {}) {
  Finding finding;
  finding.rule = std::move(rule);
  finding.fix.id = std::move(fix);
  finding.saving = {likely / 2, likely, likely * 2};
  finding.evidence = std::move(evidence);
  return finding;
}

std::vector<std::string> rules_of(const std::vector<Finding>& findings) {
  std::vector<std::string> rules;
  for (const Finding& finding : findings) rules.push_back(finding.rule);
  return rules;
}

using Rules = std::vector<std::string>;

TEST(Ranking, sorts_by_what_a_fix_saves) {
  const auto ranking =
      ranked({finding("a", "pin_memory", 10), finding("b", "compile", 30), finding("c", "tf32", 20)}, 0);
  EXPECT_EQ(rules_of(ranking), (Rules{"b", "c", "a"}));
}

TEST(Ranking, leaves_out_what_saves_less_than_asked_for_but_not_what_saves_no_time_at_all) {
  const auto ranking =
      ranked({finding("leak", "detach", 0), finding("small", "tf32", 9), finding("enough", "bf16", 10)}, 10);
  EXPECT_EQ(rules_of(ranking), (Rules{"enough", "leak"}));
}

TEST(Ranking, puts_what_saves_no_time_last_in_the_order_given) {
  const auto ranking =
      ranked({finding("spike", "chunk", 0), finding("time", "tf32", 5), finding("leak", "detach", 0)}, 1);
  EXPECT_EQ(rules_of(ranking), (Rules{"time", "spike", "leak"}));
}

TEST(Ranking, equal_savings_keep_their_order) {
  const auto ranking = ranked({finding("a", "pin_memory", 7), finding("b", "compile", 7), finding("c", "tf32", 7)}, 0);
  EXPECT_EQ(rules_of(ranking), (Rules{"a", "b", "c"}));
}

TEST(Ranking, one_fix_is_proposed_once_by_the_rule_that_promises_most) {
  const auto ranking =
      ranked({finding("chains", "compile", 20), finding("eager", "compile", 30), finding("other", "tf32", 25)}, 0);
  EXPECT_EQ(rules_of(ranking), (Rules{"eager", "other"}));
  ASSERT_EQ(ranking[0].parts.size(), 1);
  EXPECT_EQ(ranking[0].parts[0].rule, "chains");
  EXPECT_EQ(ranking[0].parts[0].saving.likely, 20);
  EXPECT_EQ(ranking[0].saving.likely, 30);
  EXPECT_TRUE(ranking[0].also_explains.empty()) << "a part is told as one";
  EXPECT_TRUE(ranking[1].parts.empty());
}

TEST(Ranking, compiling_with_and_without_graphs_is_one_change_and_a_graph_by_hand_another) {
  const auto ranking =
      ranked({finding("chains", "compile", 20, {1, 2}), finding("launches", "compile_graphs", 30, {2, 3}),
              finding("eager", "compile_graphs", 25), finding("repeats", "cuda_graph", 28)},
             0);
  ASSERT_EQ(rules_of(ranking), (Rules{"launches", "repeats"}));
  ASSERT_EQ(ranking[0].parts.size(), 2);
  EXPECT_EQ(ranking[0].parts[0].rule, "eager");
  EXPECT_EQ(ranking[0].parts[1].rule, "chains");
  EXPECT_EQ(ranking[0].parts[1].fix_id, "compile");
  EXPECT_EQ(ranking[0].evidence, (std::vector<EventId>{2, 3, 1})) << "its own first, each once";
}

TEST(Ranking, a_card_takes_over_the_line_of_a_part_where_it_has_none) {
  Finding part = finding("chains", "compile", 20);
  part.source = SourceLine{"model.py", 9, "activation"};
  const auto ranking = ranked({finding("eager", "compile", 30), part}, 0);
  EXPECT_EQ(ranking.at(0).source, part.source);
}

TEST(Ranking, a_card_shows_no_more_evidence_than_a_reader_wants) {
  const auto ranking =
      ranked({finding("eager", "compile", 30, {1, 2, 3, 4, 5, 6}), finding("chains", "compile", 20, {7, 8, 9, 10})}, 0);
  EXPECT_EQ(ranking.at(0).evidence.size(), Finding::kMaxEvidence);
}

TEST(Ranking, findings_without_a_saving_are_no_duplicates_of_one_another) {
  const auto ranking = ranked({finding("leak", "other", 0), finding("unfit", "other", 0)}, 1);
  EXPECT_EQ(rules_of(ranking), (Rules{"leak", "unfit"}));
}

TEST(Ranking, a_finding_names_the_lesser_ones_whose_evidence_it_shares) {
  const auto ranking = ranked({finding("lesser", "tf32", 10, {4, 5}), finding("greater", "bf16", 20, {5, 6}),
                               finding("apart", "pin_memory", 15, {7})},
                              0);
  ASSERT_EQ(rules_of(ranking), (Rules{"greater", "apart", "lesser"}));
  EXPECT_EQ(ranking[0].also_explains, (Rules{"lesser"}));
  EXPECT_TRUE(ranking[1].also_explains.empty());
  EXPECT_TRUE(ranking[2].also_explains.empty());
}

TEST(Ranking, what_a_dropped_duplicate_explained_is_passed_on_and_no_rule_names_itself) {
  Finding duplicate = finding("chains", "compile", 20, {1});
  duplicate.also_explains = {"norms", "eager"};
  const auto ranking = ranked({finding("eager", "compile", 30, {1}), duplicate}, 0);
  ASSERT_EQ(rules_of(ranking), (Rules{"eager"}));
  EXPECT_EQ(ranking[0].also_explains, (Rules{"norms"}));
}

TEST(Ranking, of_nothing_is_nothing) { EXPECT_TRUE(ranked({}, 10).empty()); }

}  // namespace
}  // namespace telltale
