#include "analysis/sample_rows.h"

#include <gtest/gtest.h>

#include "analysis/testing/trace_sketch.h"

namespace telltale {
namespace {

std::optional<std::int64_t> rows(std::string_view op, std::string_view shapes) {
  TraceSketch sketch;
  const auto call = sketch.op(sketch.thread("main"), op, 0, 10);
  if (!shapes.empty()) sketch.set_inputs(call, shapes);
  return sample_rows(sketch.build(), 0);
}

TEST(SampleRows, are_the_first_dimension_of_a_layers_input) {
  EXPECT_EQ(rows("aten::linear", "[[64,512],[10,512],[10]]"), 64);
  EXPECT_EQ(rows("aten::linear", "[[8,16,512],[10,512],[]]"), 8);
  EXPECT_EQ(rows("aten::embedding", "[[1000,64],[32,20],[],[],[]]"), 32);
  EXPECT_EQ(rows("aten::conv2d", "[[16,3,32,32],[8,3,3,3],[]]"), 16);
  EXPECT_EQ(rows("aten::addmm", "[[10],[24,512],[512,10]]"), 24);
}

TEST(SampleRows, a_sample_without_rows_is_one) {
  EXPECT_EQ(rows("aten::linear", "[[4],[32,4],[32]]"), 1);
  EXPECT_EQ(rows("aten::conv2d", "[[3,32,32],[8,3,3,3],[]]"), 1);
  EXPECT_EQ(rows("aten::embedding", "[[1000,64],[20],[],[],[]]"), 20);  // samples of one word each
}

TEST(SequenceLength, is_how_many_words_or_vectors_a_sample_has) {
  const auto length = [](std::string_view op, std::string_view shapes) {
    TraceSketch sketch;
    sketch.set_inputs(sketch.op(sketch.thread("main"), op, 0, 10), shapes);
    return sequence_length(sketch.build(), 0);
  };
  EXPECT_EQ(length("aten::embedding", "[[1000,64],[32,20],[],[],[]]"), 20);
  EXPECT_EQ(length("aten::embedding", "[[1000,64],[20],[],[],[]]"), 20);
  EXPECT_EQ(length("aten::linear", "[[8,16,512],[10,512],[]]"), 16);
  EXPECT_EQ(length("aten::linear", "[[64,512],[10,512],[10]]"), std::nullopt);
  EXPECT_EQ(length("aten::conv2d", "[[16,3,32,32],[8,3,3,3],[]]"), std::nullopt);
  EXPECT_EQ(length("aten::relu", "[[8,16,512]]"), std::nullopt);
}

TEST(SampleRows, other_operators_and_unknown_shapes_have_none) {
  EXPECT_EQ(rows("aten::detach", "[[1024,512]]"), std::nullopt);
  EXPECT_EQ(rows("aten::linear", ""), std::nullopt);
  EXPECT_EQ(rows("aten::linear", "[[],[],[]]"), std::nullopt);
}

}  // namespace
}  // namespace telltale
