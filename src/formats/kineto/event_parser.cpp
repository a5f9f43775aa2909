#include "formats/kineto/event_parser.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>

#include "formats/kineto/json_text.h"

namespace telltale::kineto {
namespace {

constexpr int kMicrosecondsToNanoseconds = 3;
// Times up to the year 2096 and durations up to 31 years: sums and differences of them cannot overflow.
constexpr Nanoseconds kLatestTime = 4'000'000'000'000'000'000;
constexpr Nanoseconds kLongestDuration = 1'000'000'000'000'000'000;

std::string_view view(const StringToken& token) { return {token.begin, token.size()}; }

std::string decoded(const StringToken& token) {
  Repairs repairs;  // counted where the text itself is kept
  return unescaped(view(token), repairs);
}

class EventParser {
 public:
  EventParser(const char* text_end, EventFields& fields) : text_end_(text_end), fields_(fields) {}

  ParseEnd run(const char* event) {
    const char* p = members(event, [this](const StringToken& key, const char* value) { return field(key, value); });
    if (p == nullptr) return {failed_at_ >= text_end_ ? ParseStatus::kIncomplete : ParseStatus::kMalformed, failed_at_};
    if (p > text_end_) return {ParseStatus::kIncomplete, p};
    return {ParseStatus::kOk, p};
  }

 private:
  const char* fail(const char* p) {
    failed_at_ = p;
    return nullptr;
  }

  // Walks an object whose bracket is at `p`; `take(key, value)` returns what stands behind the value. Null on failure.
  template <typename Take>
  const char* members(const char* p, Take take) {
    p = skip_space(p + 1);
    if (*p == '}') return p + 1;
    for (;;) {
      if (*p != '"') return fail(p);
      const StringToken key = scan_string(p + 1);
      if (key.end >= text_end_) return fail(key.end);
      p = skip_space(key.end + 1);
      if (*p != ':') return fail(p);
      p = skip_space(p + 1);
      const char* behind = take(key, p);
      if (behind == nullptr) return nullptr;
      if (behind == p) return fail(p);  // no value at all
      p = skip_space(behind);
      if (*p == '}') return p + 1;
      if (*p != ',') return fail(p);
      p = skip_space(p + 1);
    }
  }

  const char* field(const StringToken& key, const char* p) {
    return key.is_plain ? field(view(key), p) : field(std::string_view(decoded(key)), p);
  }

  const char* field(std::string_view key, const char* p) {
    const char* k = key.data();
    switch (key.size()) {
      case 1:
        break;  // "s": the scope of an instant, which the track says
      case 2:
        if (k[0] == 'p' && k[1] == 'h') return phase(p);
        if (k[0] == 't' && k[1] == 's') return time(p);
        if (k[0] == 'i' && k[1] == 'd') return fields_.has_id = true, id(p, fields_.id);
        if (k[0] == 'b' && k[1] == 'p') return binding_point(p);
        break;
      case 3:
        if (key == "cat") return string(p, fields_.category);
        if (key == "dur") return duration(p);
        if (key == "pid") return id(p, fields_.process);
        if (key == "tid") return id(p, fields_.thread);
        if (key == "id2") {
          fields_.has_id = true;
          return span(p, fields_.id_object);
        }
        break;
      case 4:
        if (key == "name") return string(p, fields_.name);
        if (key == "args") return arguments(p);
        break;
      default:
        break;
    }
    return skip(p);
  }

  const char* skip(const char* p) { return skip_value(p, text_end_); }

  const char* span(const char* p, ValueSpan& value) {
    const char* behind = skip(p);
    value = {p, behind};
    return behind;
  }

  // Text; anything else is taken as the text it is written as.
  const char* string(const char* p, StringToken& token) {
    if (*p == '"') {
      token = scan_string(p + 1);
      return token.end + 1;
    }
    const char* behind = skip(p);
    token = {p, behind, false};
    return behind;
  }

  const char* phase(const char* p) {
    StringToken token;
    const char* behind = string(p, token);
    fields_.phase = token.size() == 1 ? *token.begin : '?';
    return behind;
  }

  const char* binding_point(const char* p) {
    StringToken token;
    const char* behind = string(p, token);
    fields_.binds_to_enclosing = view(token) == "e";
    return behind;
  }

  const char* time(const char* p) {
    const char* behind = nullptr;
    fields_.has_time = scaled(p, behind, fields_.time, kLatestTime);
    return behind;
  }

  const char* duration(const char* p) {
    const char* behind = nullptr;
    fields_.has_duration = scaled(p, behind, fields_.duration, kLongestDuration);
    if (fields_.duration < 0) {
      fields_.is_duration_negative = true;
      fields_.duration = 0;
    }
    return behind;
  }

  bool scaled(const char* p, const char*& behind, Nanoseconds& value, Nanoseconds limit) {
    Decimal number = *p == '"' ? Decimal{} : scan_decimal(p, kMicrosecondsToNanoseconds);
    behind = number.end;
    if (number.status != DecimalStatus::kOk) {
      ValueSpan raw;
      behind = span(p, raw);
      number = number_in(raw, kMicrosecondsToNanoseconds);
    }
    if (number.status == DecimalStatus::kOk && (number.value > limit || number.value < -limit))
      number.status = DecimalStatus::kOutOfRange;
    fields_.has_number_out_of_range |= number.status == DecimalStatus::kOutOfRange;
    value = number.status == DecimalStatus::kOk ? number.value : 0;
    return number.status == DecimalStatus::kOk;
  }

  const char* id(const char* p, IdToken& token) {
    if (*p != '"') {
      const Decimal number = scan_decimal(p, 0);
      if (number.status == DecimalStatus::kOk) {
        token = {number.value, {}, false};
        return number.end;
      }
      fields_.has_number_out_of_range |= number.status == DecimalStatus::kOutOfRange;
    }
    StringToken text;
    const char* behind = string(p, text);
    token = id_of(text);
    return behind;
  }

  const char* arguments(const char* p) {
    if (*p != '{') return span(p, fields_.arguments);
    const char* behind =
        members(p, [this](const StringToken& key, const char* value) { return argument(key, value); });
    fields_.arguments = {p, behind};
    return behind;
  }

  const char* argument(const StringToken& key, const char* p) {
    const ArgumentKey known = key.is_plain ? argument_key(key) : argument_key(std::string_view(decoded(key)));
    const char* behind = skip(p);
    if (known == ArgumentKey::kUnknown) {
      fields_.unknown_arguments.push_back({key, {p, behind}});
    } else {
      fields_.has_argument |= std::uint64_t{1} << static_cast<unsigned>(known);
      fields_.argument[static_cast<std::size_t>(known)] = {p, behind};
    }
    return behind;
  }

  const char* text_end_;
  const char* failed_at_ = nullptr;
  EventFields& fields_;
};

}  // namespace

void EventFields::reset(const char* event_begin) {
  begin = event_begin;
  phase = 0;
  has_time = has_duration = is_duration_negative = has_number_out_of_range = has_id = binds_to_enclosing = false;
  time = duration = 0;
  name = category = StringToken{};
  process = thread = id = IdToken{};
  id_object = arguments = ValueSpan{};
  has_argument = 0;
  unknown_arguments.clear();
}

ParseEnd parse_event(const char* event, const char* text_end, EventFields& fields) {
  fields.reset(event);
  return EventParser(text_end, fields).run(event);
}

Decimal number_in(const ValueSpan& value, int scale) {
  const bool is_text = *value.begin == '"';
  const char* begin = value.begin + (is_text ? 1 : 0);
  const char* end = value.end - (is_text ? 1 : 0);
  const Decimal number = scan_decimal(begin, scale);
  if (number.status == DecimalStatus::kOk && number.end != end) return {0, value.end, DecimalStatus::kNotANumber};
  return number;
}

Unsigned unsigned_in(const ValueSpan& value) {
  const bool is_text = *value.begin == '"';
  const Unsigned number = scan_unsigned(value.begin + (is_text ? 1 : 0));
  if (number.end != value.end - (is_text ? 1 : 0)) return {0, value.end, DecimalStatus::kNotANumber};
  return number;
}

std::optional<double> real_in(const ValueSpan& value) {
  const bool is_text = *value.begin == '"';
  const char* end = value.end - (is_text ? 1 : 0);
  double number = 0;
  const auto parsed = std::from_chars(value.begin + (is_text ? 1 : 0), end, number);
  if (parsed.ec != std::errc() || parsed.ptr != end || !std::isfinite(number)) return std::nullopt;
  return number;
}

IdToken id_of(StringToken text) {
  IdToken id{0, text, true};
  const bool is_hexadecimal = text.size() > 2 && text.begin[0] == '0' && (text.begin[1] == 'x' || text.begin[1] == 'X');
  if (is_hexadecimal) {
    std::uint64_t value = 0;
    const auto parsed = std::from_chars(text.begin + 2, text.end, value, 16);
    if (parsed.ec == std::errc() && parsed.ptr == text.end) id = {static_cast<std::int64_t>(value), {}, false};
  } else {
    std::int64_t value = 0;
    const auto parsed = std::from_chars(text.begin, text.end, value);
    if (parsed.ec == std::errc() && parsed.ptr == text.end && text.size() > 0) id = {value, {}, false};
  }
  return id;
}

}  // namespace telltale::kineto
