#include "formats/kineto/argument_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/json_text.h"
#include "base/text_encoding.h"
#include "trace/remembered.h"

namespace telltale::kineto {
namespace {

std::string_view view(const StringToken& token) { return {token.begin, token.size()}; }
std::string_view view(const ValueSpan& span) { return {span.begin, static_cast<std::size_t>(span.end - span.begin)}; }

// [4, 8, 1]; 0 for what is missing or no size.
std::array<std::int32_t, 3> three_sizes(const ValueSpan& list) {
  std::array<std::int32_t, 3> sizes{};
  if (*list.begin != '[') return sizes;
  const char* p = list.begin;
  for (std::int32_t& size : sizes) {
    p = skip_space(p + 1);  // behind the bracket or a comma
    if (p >= list.end || *p == ']') break;
    const char* behind = skip_value(p, list.end);
    const Decimal number = number_in({p, behind});
    if (number.status == DecimalStatus::kOk && std::in_range<std::int32_t>(number.value))
      size = static_cast<std::int32_t>(number.value);
    p = skip_space(behind);
    if (p >= list.end || *p != ',') break;
  }
  return sizes;
}

}  // namespace

bool ArgumentValues::read_lists() {
  others_ = kEmptyString;
  if (fields_->present.has_any(kOperatorInputs)) {
    for (const Attribute list :
         {Attribute::kInputShapes, Attribute::kInputStrides, Attribute::kInputTypes, Attribute::kConcreteInputs}) {
      if (!fields_->has(list)) continue;
      const auto text = compact((*fields_)[list]);
      if (!text) return false;
      lists_[index_of(list)] = *text;
    }
  }
  return read_others();
}

bool ArgumentValues::read_others() {
  const EventFields& fields = *fields_;
  if (!fields.unknown_arguments.empty()) {
    std::string object = "{";
    for (const UnknownArgument& argument : fields.unknown_arguments) {
      const auto key = compact({argument.key.begin - 1, argument.key.end + 1});
      const auto value = compact(argument.value);
      if (!key || !value) return false;
      if (object.size() > 1) object += ',';
      object += names_.strings[*key];
      object += ':';
      object += names_.strings[*value];
    }
    others_ = names_.strings.intern(object + "}");
  } else if (fields.arguments.begin != nullptr && *fields.arguments.begin != '{') {
    const auto value = compact(fields.arguments);
    if (!value) return false;
    others_ = *value;
  }
  return true;
}

float ArgumentValues::real(Attribute attribute) {
  constexpr float kNone = -1;
  const auto number = real_in((*fields_)[attribute]);
  const bool fits = number && std::abs(*number) <= std::numeric_limits<float>::max();
  return fits ? static_cast<float>(*number) : kNone;
}

bool ArgumentValues::flag(Attribute attribute) {
  constexpr std::string_view kYes[] = {"true", "1", "\"true\"", "\"True\"", "\"1\""};
  return std::ranges::find(kYes, view((*fields_)[attribute])) != std::end(kYes);
}

std::array<std::int32_t, 3> ArgumentValues::sizes(Attribute attribute) { return three_sizes((*fields_)[attribute]); }

StringId ArgumentValues::text_of(const StringToken& token) {
  if (token.is_plain) return names_.strings.intern(view(token));
  if (token.is_bare) return text_of_bare_value(view(token));
  Repairs repairs;
  const StringId id = names_.strings.intern(unescaped(view(token), repairs));
  if (repairs.invalid_escape) event_.note(Anomaly::kInvalidEscape, id);
  if (repairs.invalid_utf8) event_.note(Anomaly::kInvalidUtf8, id);
  if (repairs.control_character) event_.note(Anomaly::kControlCharacter, id);
  return id;
}

// Where text was expected: the value as it is written. Its white space and escapes are no text's.
StringId ArgumentValues::text_of_bare_value(std::string_view value) {
  if (is_utf8(value)) return names_.strings.intern(value);
  const StringId id = names_.strings.intern(repaired_utf8(value));
  event_.note(Anomaly::kInvalidUtf8, id);
  return id;
}

StringId ArgumentValues::text_in(const ValueSpan& value) {
  if (*value.begin == '"') return text_of(scan_string(value.begin + 1));
  return text_of({value.begin, value.end, false, true});
}

std::optional<StringId> ArgumentValues::compact(const ValueSpan& value) {
  const StringId raw = names_.strings.intern(view(value));
  if (const auto& known = remembered(compact_, raw)) return *known;
  const auto text = compact_json(view(value));
  const std::optional<StringId> id = text ? std::optional(names_.strings.intern(*text)) : std::nullopt;
  remembered(compact_, raw) = id;
  return id;
}

}  // namespace telltale::kineto
