#include "base/csv_text.h"

#include <gtest/gtest.h>

namespace telltale {
namespace {

std::string field(std::string_view text) {
  std::string out;
  append_csv_field(out, text);
  return out;
}

TEST(CsvText, leaves_plain_fields_as_they_are) {
  EXPECT_EQ(field(""), "");
  EXPECT_EQ(field("aten::mm 'a' ; b"), "aten::mm 'a' ; b");
}

TEST(CsvText, quotes_fields_that_would_end_too_early) {
  EXPECT_EQ(field("f(a, b)"), "\"f(a, b)\"");
  EXPECT_EQ(field("two\nlines"), "\"two\nlines\"");
  EXPECT_EQ(field("two\rlines"), "\"two\rlines\"");
}

TEST(CsvText, doubles_quotation_marks) { EXPECT_EQ(field(R"(say "no")"), R"("say ""no""")"); }

}  // namespace
}  // namespace telltale
