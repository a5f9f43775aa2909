#include "formats/memory_snapshot/testing/value_words.h"

#include <cstdio>

namespace telltale::memory_snapshot {

std::string words_of(const Values& values, ValueId value, int levels) {
  switch (values.kind(value)) {
    case ValueKind::kNone:
      return "none";
    case ValueKind::kTruth:
      return value == kTrue ? "true" : "false";
    case ValueKind::kInteger:
      return std::to_string(*values.as_integer(value));
    case ValueKind::kBigInteger:
      return "big";
    case ValueKind::kReal: {
      char text[40];
      std::snprintf(text, sizeof text, "%g", *values.as_real(value));
      return text;
    }
    case ValueKind::kText:
      return "'" + std::string(values.bytes_of(value)) + "'";
    case ValueKind::kBytes:
      return "b'" + std::string(values.bytes_of(value)) + "'";
    case ValueKind::kFunction:
      return "function";
    case ValueKind::kList:
    case ValueKind::kDict:
      break;
  }
  if (levels == 0) return "…";
  const bool is_dict = values.is_dict(value);
  std::string words;
  bool is_key = true;
  values.each_item(value, [&](ValueId item) {
    if (!words.empty()) words += is_dict && !is_key ? ": " : ", ";
    words += words_of(values, item, levels - 1);
    is_key = !is_key;
    return true;
  });
  return is_dict ? "{" + words + "}" : "[" + words + "]";
}

}  // namespace telltale::memory_snapshot
