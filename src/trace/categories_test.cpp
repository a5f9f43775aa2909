#include "trace/categories.h"

#include <gtest/gtest.h>

#include <set>

namespace telltale {
namespace {

Kind kind_for(std::string_view category, std::string_view name = "") {
  bool is_known = false;
  return kind_of(category, name, is_known);
}

bool is_told_by_its_kind(std::string_view category) {
  bool is_known = false;
  kind_of(category, "", is_known);
  return is_known;
}

TEST(Categories, no_category_has_two_rules) {
  std::set<std::string_view> seen;
  for (const CategoryRule& rule : category_rules()) EXPECT_TRUE(seen.insert(rule.category).second) << rule.category;
}

TEST(Categories, a_python_call_of_a_module_is_a_module) {
  EXPECT_EQ(kind_for("python_function", "nn.Module: Linear_0"), Kind::kModule);
  EXPECT_EQ(kind_for("python_function", "nn.Module"), Kind::kPython);
  EXPECT_EQ(kind_for("cpu_op", "nn.Module: Linear_0"), Kind::kOperator);
}

TEST(Categories, are_case_sensitive_because_old_traces_capitalise_other_words) {
  EXPECT_EQ(kind_for("Kernel"), Kind::kKernel);
  EXPECT_EQ(kind_for("KERNEL"), Kind::kOther);
  EXPECT_EQ(kind_for("Trace"), Kind::kSpan);
  EXPECT_EQ(kind_for("trace"), Kind::kOther);
}

TEST(Categories, an_unknown_one_is_the_device_s_when_it_bears_a_backend_s_name) {
  EXPECT_EQ(kind_for("privateuse1_dma"), Kind::kDeviceOther);
  EXPECT_EQ(kind_for("mtia_collective_comm"), Kind::kCollective);
  EXPECT_EQ(kind_for("privateuse1"), Kind::kOther);
  EXPECT_EQ(kind_for("disk_io"), Kind::kOther);
}

TEST(Categories, are_worth_keeping_where_the_kind_does_not_tell_them) {
  EXPECT_TRUE(is_told_by_its_kind("kernel"));
  EXPECT_TRUE(is_told_by_its_kind(""));
  EXPECT_TRUE(is_told_by_its_kind("mtia_ccp_events"));
  EXPECT_FALSE(is_told_by_its_kind("privateuse1_dma"));
  EXPECT_FALSE(is_told_by_its_kind("disk_io"));
}

}  // namespace
}  // namespace telltale
