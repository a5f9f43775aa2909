#include "trace/attribute_values.h"

#include <charconv>
#include <cmath>
#include <limits>
#include <utility>

#include "base/decimal.h"
#include "base/json_text.h"
#include "base/text_encoding.h"
#include "trace/remembered.h"
#include "trace/shapes.h"

namespace telltale {
namespace {

template <typename Number>
void append_number(std::string& out, Number number) {
  char digits[32];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

std::string_view word_for(double value) { return std::isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity"; }

void append_real(std::string& out, double value) {
  if (std::isfinite(value))
    append_number(out, value);
  else
    append_json_string(out, word_for(value));
}

void append_numbers(std::string& out, std::span<const std::int64_t> numbers) {
  out += '[';
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (i > 0) out += ',';
    append_number(out, numbers[i]);
  }
  out += ']';
}

std::array<std::int32_t, 3> three_of(std::span<const std::int64_t> numbers) {
  std::array<std::int32_t, 3> sizes{};
  for (std::size_t i = 0; i < std::min(sizes.size(), numbers.size()); ++i)
    if (std::in_range<std::int32_t>(numbers[i])) sizes[i] = static_cast<std::int32_t>(numbers[i]);
  return sizes;
}

}  // namespace

void AttributeValues::set_numbers(Attribute attribute, std::span<const std::int64_t> numbers) {
  const AttributeType type = info_of(attribute).type;
  if (type == AttributeType::kSizes) {
    slot(attribute, Form::kSizes).sizes = three_of(numbers);
    return;
  }
  scratch_.clear();
  if (type == AttributeType::kShapes) scratch_ += '[';
  append_numbers(scratch_, numbers);
  if (type == AttributeType::kShapes) scratch_ += ']';
  slot(attribute, Form::kList).text = names_.strings.intern(scratch_);
}

std::string& AttributeValues::next_other(std::string_view quoted_name) {
  others_ += others_.empty() ? '{' : ',';
  return others_ += quoted_name;
}

void AttributeValues::add_other(std::string_view quoted_name, std::int64_t value) {
  append_number(next_other(quoted_name), value);
}

void AttributeValues::add_other_real(std::string_view quoted_name, double value) {
  append_real(next_other(quoted_name), value);
}

void AttributeValues::add_other_text(std::string_view quoted_name, std::string_view text) {
  append_json_string(next_other(quoted_name), text);
}

void AttributeValues::add_other_numbers(std::string_view quoted_name, std::span<const std::int64_t> numbers) {
  append_numbers(next_other(quoted_name), numbers);
}

std::int64_t AttributeValues::integer(Attribute attribute, std::int64_t otherwise) {
  if (!present_.has(attribute)) return otherwise;
  const Slot& value = (*this)[attribute];
  constexpr double kBeyond = 0x1p63;
  bool is_out_of_range = false;
  switch (value.form) {
    case Form::kInteger:
      return value.integer;
    case Form::kReal: {
      const double whole = std::round(value.real);
      if (!std::isfinite(whole)) return otherwise;
      if (std::abs(whole) < kBeyond) return static_cast<std::int64_t>(whole);
      is_out_of_range = true;
      break;
    }
    case Form::kText: {
      const Decimal number = whole_decimal(names_.strings[value.text]);
      if (number.status == DecimalStatus::kOk) return number.value;
      is_out_of_range = number.status == DecimalStatus::kOutOfRange;
      break;
    }
    case Form::kList:
    case Form::kSizes:
      break;
  }
  if (is_out_of_range) event_.note(Anomaly::kNumberOutOfRange);
  return otherwise;
}

float AttributeValues::real(Attribute attribute) {
  constexpr float kNone = -1;
  const Slot& value = (*this)[attribute];
  double number = value.form == Form::kInteger ? static_cast<double>(value.integer) : value.real;
  if (value.form == Form::kText) {
    const std::string_view text = names_.strings[value.text];
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || end != text.data() + text.size()) return kNone;
  } else if (value.form != Form::kInteger && value.form != Form::kReal) {
    return kNone;
  }
  return std::abs(number) <= std::numeric_limits<float>::max() ? static_cast<float>(number) : kNone;
}

bool AttributeValues::flag(Attribute attribute) {
  const Slot& value = (*this)[attribute];
  if (value.form == Form::kInteger) return value.integer == 1;
  if (value.form != Form::kText) return false;
  const std::string_view text = names_.strings[value.text];
  return text == "true" || text == "True" || text == "1";
}

StringId AttributeValues::text(Attribute attribute) {
  const Slot& value = (*this)[attribute];
  scratch_.clear();
  switch (value.form) {
    case Form::kText:
    case Form::kList:
      return value.text;
    case Form::kInteger:
      append_number(scratch_, value.integer);
      break;
    case Form::kReal:
      if (!std::isfinite(value.real)) return names_.strings.intern(word_for(value.real));
      append_number(scratch_, value.real);
      break;
    case Form::kSizes:
      break;  // only of attributes that are no text
  }
  return names_.strings.intern(scratch_);
}

StringId AttributeValues::list(Attribute attribute) {
  const Slot& value = (*this)[attribute];
  if (value.form == Form::kText) return list_in(value.text);
  if (value.form != Form::kReal || std::isfinite(value.real)) return text(attribute);
  return names_.strings.intern(json_string(word_for(value.real)));
}

StringId AttributeValues::list_in(StringId text) {
  if (const std::optional<StringId>& known = remembered(lists_, text)) return *known;
  const std::string_view written = names_.strings[text];
  const auto list = written.starts_with('[') ? compact_json(written) : std::nullopt;
  const StringId id = names_.strings.intern(list ? *list : json_string(written));
  remembered(lists_, text) = id;
  return id;
}

std::array<std::int32_t, 3> AttributeValues::sizes(Attribute attribute) {
  const Slot& value = (*this)[attribute];
  if (value.form == Form::kSizes) return value.sizes;
  return value.form == Form::kText ? three_of(whole_numbers(names_.strings[value.text]))
                                   : std::array<std::int32_t, 3>{};
}

StringId AttributeValues::others() {
  if (others_.empty()) return kEmptyString;
  others_ += '}';
  return names_.strings.intern(others_);
}

}  // namespace telltale
