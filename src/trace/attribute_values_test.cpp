#include "trace/attribute_values.h"

#include <gtest/gtest.h>

#include <limits>

namespace telltale {
namespace {

class AttributeValuesTest : public testing::Test {
 protected:
  StringId text(std::string_view words) { return names.strings.intern(words); }
  std::string_view words(StringId id) const { return names.strings[id]; }
  void write(Kind kind, std::string_view name = "event") {
    details.select(batch, 7, text(name));
    details.write(values, kind, row++);
    values.clear();
  }

  LocalNames names;
  EventBatch batch;
  EventDetails details{names};
  AttributeValues values{details};
  BatchRow row = 0;
};

TEST_F(AttributeValuesTest, stand_in_the_tables_of_their_columns) {
  values.set(Attribute::kSequence, 9);
  values.set_text(Attribute::kInputShapes, text("[[2, 3], []]"));
  values.set_text(Attribute::kCallStack, text("a.py(1): f"));
  write(Kind::kOperator);
  values.set(Attribute::kCorrelation, 5);
  values.set_numbers(Attribute::kGrid, std::vector<std::int64_t>{4, 8});
  values.set_real(Attribute::kBlocksPerMultiprocessor, 0.5);
  write(Kind::kKernel);
  values.set(Attribute::kBytes, 4096);
  write(Kind::kMemcpy, "Memcpy HtoD (Pinned -> Device)");

  ASSERT_EQ(batch.operators.size(), 1u);
  EXPECT_EQ(batch.operators[0].detail.sequence, 9);
  EXPECT_EQ(words(names.operator_inputs[batch.operators[0].detail.inputs].shapes), "[[2,3],[]]");
  ASSERT_EQ(batch.operator_stacks.size(), 1u);
  ASSERT_EQ(batch.links.size(), 1u);
  EXPECT_EQ(batch.links[0].correlation, 5);
  ASSERT_EQ(batch.kernels.size(), 1u);
  const KernelLaunch& launch = names.kernel_launches[batch.kernels[0].detail.launch];
  EXPECT_EQ(launch.grid, (std::array<std::int32_t, 3>{4, 8, 0}));
  EXPECT_EQ(launch.blocks_per_multiprocessor, 0.5f);
  EXPECT_EQ(launch.registers_per_thread, -1);
  ASSERT_EQ(batch.copies.size(), 1u);
  EXPECT_EQ(batch.copies[0].row, 2u);
  EXPECT_EQ(batch.copies[0].detail.bytes, 4096);
  EXPECT_EQ(batch.copies[0].detail.from, MemorySpace::kPinned);
  EXPECT_EQ(batch.anomalies.total(), 0u);
}

TEST_F(AttributeValuesTest, are_taken_as_what_their_column_holds) {
  values.set_text(Attribute::kSequence, text("12"));
  values.set_real(Attribute::kForwardThread, 2.5);
  values.set_numbers(Attribute::kInputShapes, std::vector<std::int64_t>{2, 4});
  values.set_text(Attribute::kInputTypes, text("float"));
  values.set(Attribute::kCallStack, 3);
  values.set(Attribute::kCollectiveName, 1);
  values.set_text(Attribute::kIsAsync, text("True"));
  values.set_numbers(Attribute::kGroupRanks, std::vector<std::int64_t>{0, 1});
  write(Kind::kOperator);
  const OperatorInfo& info = batch.operators.at(0).detail;
  EXPECT_EQ(info.sequence, 12);
  EXPECT_EQ(info.forward_thread, 3u);
  EXPECT_EQ(words(names.operator_inputs[info.inputs].shapes), "[[2,4]]");
  EXPECT_EQ(words(names.operator_inputs[info.inputs].types), "\"float\"");
  EXPECT_EQ(words(batch.operator_stacks.at(0).detail.call_stack), "3");
  EXPECT_EQ(batch.collectives.at(0).detail.is_async, 1);
  EXPECT_EQ(words(batch.collectives.at(0).detail.group_ranks), "[0,1]");
}

TEST_F(AttributeValuesTest, that_do_not_fit_are_counted_and_left_out) {
  values.set_real(Attribute::kSequence, 1e30);
  values.set_text(Attribute::kForwardThread, text("99999999999"));
  values.set_text(Attribute::kInputTypes, text("[]"));
  write(Kind::kOperator);
  EXPECT_EQ(batch.operators.at(0).detail.sequence, OperatorInfo::kNoSequence);
  EXPECT_EQ(batch.operators.at(0).detail.forward_thread, 0u);
  EXPECT_EQ(batch.anomalies.count(Anomaly::kNumberOutOfRange), 2u);
}

TEST_F(AttributeValuesTest, without_a_column_are_kept_as_other_arguments) {
  values.add_other("\"a\":", 1);
  values.add_other_real("\"b\":", std::numeric_limits<double>::quiet_NaN());
  values.add_other_text("\"c\":", "say \"it\"");
  values.add_other_numbers("\"d\":", std::vector<std::int64_t>{1, 2});
  write(Kind::kAnnotation);
  write(Kind::kAnnotation);
  ASSERT_EQ(batch.other_arguments.size(), 1u);
  EXPECT_EQ(words(batch.other_arguments[0].detail), R"({"a":1,"b":"NaN","c":"say \"it\"","d":[1,2]})");
}

TEST(Attributes, have_names_by_which_they_are_found_again) {
  for (std::size_t i = 0; i + 1 < kAttributeCount; ++i) {
    const auto attribute = static_cast<Attribute>(i);
    EXPECT_EQ(attribute_named(name_of(attribute)), attribute) << name_of(attribute);
    EXPECT_FALSE(info_of(attribute).text.empty());
  }
  EXPECT_EQ(attribute_named("nothing of ours"), Attribute::kUnknown);
}

TEST(Attributes, have_columns_where_their_row_exists) {
  const AttributeSet none, grid{Attribute::kGrid}, collective{Attribute::kCollectiveName};
  EXPECT_TRUE(has_column(Attribute::kBytes, Kind::kMemcpy, none));
  EXPECT_FALSE(has_column(Attribute::kBytes, Kind::kAnnotation, none));
  EXPECT_FALSE(has_column(Attribute::kRegisters, Kind::kKernel, none));
  EXPECT_TRUE(has_column(Attribute::kRegisters, Kind::kKernel, grid));
  EXPECT_FALSE(has_column(Attribute::kRank, Kind::kOperator, none));
  EXPECT_TRUE(has_column(Attribute::kRank, Kind::kOperator, collective));
  EXPECT_FALSE(has_column(Attribute::kUnknown, Kind::kOperator, none));
}

}  // namespace
}  // namespace telltale
