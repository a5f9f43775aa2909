// Described results (description.h) as JSON on one line, for those who ask often and show parts of it: no schema, no
// list of events, members as described. Text that is not UTF-8 is repaired; a number that is none is null.
//
// Pure and thread-safe; linear in what is written.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <string>
#include <string_view>

#include "base/text_encoding.h"
#include "report/description.h"

namespace telltale {

template <typename Value>
void append_json(std::string& out, const Value& value);

// Writes the members that it is told of, one behind the other.
class CompactMembers {
 public:
  explicit CompactMembers(std::string& out) : out_(out) {}

  void object(std::string_view, std::string_view) {}

  template <typename Value>
  void member(std::string_view name, const Value& value, std::string_view) {
    if (!is_first_) out_ += ',';
    is_first_ = false;
    append_json_string(out_, name);
    out_ += ':';
    append_json(out_, value);
  }

 private:
  std::string& out_;
  bool is_first_ = true;
};

template <typename Number>
void append_json_number(std::string& out, Number number) {
  if constexpr (std::floating_point<Number>) {
    if (!std::isfinite(number)) {
      out += "null";
      return;
    }
  }
  char digits[32];
  const auto end = std::to_chars(digits, digits + sizeof digits, number).ptr;
  out.append(digits, end);
}

template <typename Value>
void append_json(std::string& out, const Value& value) {
  if constexpr (std::same_as<Value, bool>) {
    out += value ? "true" : "false";
  } else if constexpr (std::same_as<Value, Exact>) {
    append_json_number(out, value.value);
  } else if constexpr (std::floating_point<Value>) {
    append_json_number(out, std::round(value * 1000) / 1000);
  } else if constexpr (std::integral<Value>) {
    append_json_number(out, value);
  } else if constexpr (DescribedEnum<Value>) {
    append_json_string(out, name_of(value));
  } else if constexpr (DescribedText<Value>) {
    append_json_string(out, value);
  } else if constexpr (kIsOptional<Value>) {
    if (value)
      append_json(out, *value);
    else
      out += "null";
  } else if constexpr (DescribedList<Value>) {
    out += '[';
    bool is_first = true;
    for (const auto& each : value) {
      if (!is_first) out += ',';
      is_first = false;
      append_json(out, each);
    }
    out += ']';
  } else {
    out += '{';
    CompactMembers members(out);
    describe(members, value);
    out += '}';
  }
}

template <typename Value>
std::string compact_json_of(const Value& value) {
  std::string text;
  append_json(text, value);
  return text;
}

}  // namespace telltale
