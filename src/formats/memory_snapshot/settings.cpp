#include "formats/memory_snapshot/settings.h"

#include <charconv>
#include <cmath>
#include <cstdint>

#include "base/text_encoding.h"

namespace telltale::memory_snapshot {
namespace {

constexpr int kMostLevels = 16;
constexpr std::size_t kMostBytes = 1 << 20;

void append_json(const Values& values, ValueId value, int levels, std::string& out) {
  const auto append_number = [&](auto number) {
    char digits[32];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
  };
  if (out.size() > kMostBytes) return void(out += "null");
  switch (values.kind(value)) {
    case ValueKind::kTruth:
      return void(out += value == kTrue ? "true" : "false");
    case ValueKind::kInteger:
      return append_number(*values.as_integer(value));
    case ValueKind::kBigInteger:
      if (const auto number = values.as_unsigned(value)) return append_number(*number);
      break;
    case ValueKind::kReal:
      if (const double number = *values.as_real(value); std::isfinite(number)) return append_number(number);
      break;
    case ValueKind::kText:
    case ValueKind::kBytes:
      return append_json_string(out, values.bytes_of(value));
    case ValueKind::kNone:
    case ValueKind::kFunction:
      break;
    case ValueKind::kList:
    case ValueKind::kDict: {
      if (levels == 0) break;
      const bool is_dict = values.is_dict(value);
      out += is_dict ? '{' : '[';
      int items = 0;
      values.each_item(value, [&](ValueId item) {
        const bool is_key = is_dict && items % 2 == 0;
        if (items > 0) out += is_dict && !is_key ? ':' : ',';
        ++items;
        if (is_key && values.kind(item) != ValueKind::kText)
          append_json_string(out, values.as_integer(item) ? std::to_string(*values.as_integer(item)) : "?");
        else
          append_json(values, item, levels - 1, out);
        return out.size() <= kMostBytes || (is_dict && is_key);
      });
      out += is_dict ? '}' : ']';
      return;
    }
  }
  out += "null";
}

}  // namespace

BlockRules block_rules_of(const Values& values, Records& records, ValueId settings) {
  BlockRules rules;
  Record record;
  if (!records.read(settings, record)) return rules;
  if (record.has(Field::kMaxSplitSize))
    if (const auto bytes = values.as_integer(record[Field::kMaxSplitSize]); bytes && *bytes > 0)
      rules.max_split = *bytes;
  if (!record.has(Field::kDivisions) || !values.is_dict(record[Field::kDivisions])) return rules;
  // By powers of two, in their order: {"1": 0, "2": 0, "4": 8, …}.
  std::size_t items = 0;
  values.each_item(record[Field::kDivisions], [&](ValueId item) {
    const auto divisions = items % 2 == 1 ? values.as_integer(item) : std::nullopt;
    if (divisions && *divisions > 0 && *divisions <= 64) rules.divisions[items / 2] = *divisions;
    return ++items < 2 * rules.divisions.size();
  });
  return rules;
}

std::string json_of(const Values& values, ValueId value) {
  std::string out;
  append_json(values, value, kMostLevels, out);
  return out;
}

}  // namespace telltale::memory_snapshot
