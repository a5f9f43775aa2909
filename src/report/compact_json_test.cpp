#include "report/compact_json.h"

#include <gtest/gtest.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "trace/kind.h"

namespace telltale {
namespace {

struct Inner {
  std::string name;
  std::optional<int> line;
};
template <typename Fields>
void describe(Fields& fields, const Inner& inner) {
  fields.object("Inner", "");
  fields.member("name", inner.name, "");
  fields.member("line", inner.line, "");
}

struct Outer {
  std::vector<Inner> inner;
  std::vector<double> numbers;
  Kind kind = Kind::kKernel;
  bool is_true = true;
  std::int64_t large = std::numeric_limits<std::int64_t>::min();
  Exact exact{0.1234567};
};
template <typename Fields>
void describe(Fields& fields, const Outer& outer) {
  fields.object("Outer", "");
  fields.member("inner", outer.inner, "");
  fields.member("numbers", outer.numbers, "");
  fields.member("kind", outer.kind, "");
  fields.member("is_true", outer.is_true, "");
  fields.member("large", outer.large, "");
  fields.member("exact", outer.exact, "");
}

TEST(CompactJson, writes_nested_results_on_one_line) {
  const Outer outer{.inner = {{"a \"b\"\n", 3}, {"", std::nullopt}}, .numbers = {1.5, 2, 0.12345}};
  EXPECT_EQ(compact_json_of(outer),
            R"({"inner":[{"name":"a \"b\"\n","line":3},{"name":"","line":null}],"numbers":[1.5,2,0.123],)"
            R"("kind":"kernel","is_true":true,"large":-9223372036854775808,"exact":0.1234567})");
}

TEST(CompactJson, writes_numbers_that_json_does_not_know_as_null) {
  const Outer outer{.numbers = {std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}};
  EXPECT_NE(compact_json_of(outer).find("\"numbers\":[null,null]"), std::string::npos);
}

TEST(CompactJson, repairs_text_that_is_not_utf_8) {
  EXPECT_EQ(compact_json_of(std::string("a\xff")), "\"a\xef\xbf\xbd\"");
}

}  // namespace
}  // namespace telltale
