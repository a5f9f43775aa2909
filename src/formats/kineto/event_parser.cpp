#include "formats/kineto/event_parser.h"

#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "base/json_text.h"
#include "formats/kineto/spellings.h"

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

EventKey event_key(std::string_view name) {
  constexpr std::pair<std::string_view, EventKey> kKeys[] = {
      {"ph", EventKey::kPhase},     {"cat", EventKey::kCategory},    {"name", EventKey::kName},
      {"pid", EventKey::kProcess},  {"tid", EventKey::kThread},      {"ts", EventKey::kTime},
      {"dur", EventKey::kDuration}, {"args", EventKey::kArguments},  {"id", EventKey::kId},
      {"id2", EventKey::kIdObject}, {"bp", EventKey::kBindingPoint},
  };
  for (const auto& [spelling, key] : kKeys)
    if (name == spelling) return key;
  return EventKey::kUnknown;
}

}  // namespace

ParseEnd EventParser::parse(const char* event, const char* text_end, EventFields& fields) {
  fields.reset(event);
  fields_ = &fields;
  text_end_ = text_end;
  const auto find = [](const StringToken& name) {
    return name.is_plain ? event_key(view(name)) : event_key(decoded(name));
  };
  const auto predictions = [this]() -> KeyPrediction<EventKey>& {
    return event_keys_[static_cast<unsigned char>(fields_->phase) % event_keys_.size()];
  };
  const char* p = members(event, predictions, find, [this](EventKey key, const StringToken&, const char* value) {
    return take_field(key, value);
  });
  if (p == nullptr) return {failed_at_ >= text_end ? ParseStatus::kIncomplete : ParseStatus::kMalformed, failed_at_};
  return {p > text_end ? ParseStatus::kIncomplete : ParseStatus::kOk, p};
}

const char* EventParser::fail(const char* p) {
  failed_at_ = p;
  return nullptr;
}

// Walks an object whose bracket is at `p`. `predictions()` are those to go by at the moment, `find(name)` tells the
// key, `take(key, name, value)` returns what stands behind the value. Null on failure.
template <typename Predictions, typename Find, typename Take>
const char* EventParser::members(const char* p, Predictions predictions, Find find, Take take) {
  using Prediction = std::remove_reference_t<decltype(predictions())>;
  ++p;
  bool is_first = true;
  for (auto* guess = &predictions().at_start();; is_first = false) {
    StringToken name;
    auto key = guess->key;
    const char* value = p + guess->length;
    if (Prediction::is_right(*guess, p)) {
      name = {p + guess->key_begin, p + guess->key_end, true};
    } else {
      const char* at = skip_space(p);
      if (*at == '}') return at + 1;
      if (!is_first) {
        if (*at != ',') return fail(at);
        at = skip_space(at + 1);
      }
      if (*at != '"') return fail(at);
      name = scan_string(at + 1);
      if (name.end >= text_end_) return fail(name.end);
      at = skip_space(name.end + 1);
      if (*at != ':') return fail(at);
      value = skip_space(at + 1);
      key = find(name);
      Prediction::learn(*guess, p, name, value, key);
    }
    p = take(key, name, value);
    if (p == nullptr) return nullptr;
    if (p == value) return fail(p);  // no value at all
    guess = &predictions().after(key);
  }
}

const char* EventParser::take_field(EventKey key, const char* p) {
  switch (key) {
    case EventKey::kPhase: {
      StringToken token;
      const char* behind = take_string(p, token);
      fields_->phase = token.size() == 1 ? *token.begin : '?';
      return behind;
    }
    case EventKey::kCategory:
      return take_string(p, fields_->category);
    case EventKey::kName:
      return take_string(p, fields_->name);
    case EventKey::kProcess:
      return take_id(p, fields_->process);
    case EventKey::kThread:
      return take_id(p, fields_->thread);
    case EventKey::kTime:
      return take_time(p);
    case EventKey::kDuration:
      return take_duration(p);
    case EventKey::kArguments:
      return take_arguments(p);
    case EventKey::kId:
      fields_->has_id = true;
      return take_id(p, fields_->id);
    case EventKey::kIdObject:
      fields_->has_id = true;
      return take_span(p, fields_->id_object);
    case EventKey::kBindingPoint: {
      StringToken token;
      const char* behind = take_string(p, token);
      fields_->binds_to_enclosing = view(token) == "e";
      return behind;
    }
    case EventKey::kUnknown:
      break;
  }
  return skip_value(p, text_end_);
}

const char* EventParser::take_span(const char* p, ValueSpan& value) {
  const char* behind = skip_value(p, text_end_);
  value = {p, behind};
  return behind;
}

// Text; anything else is taken as the text it is written as.
const char* EventParser::take_string(const char* p, StringToken& token) {
  if (*p == '"') {
    token = scan_string(p + 1);
    return token.end + 1;
  }
  const char* behind = skip_value(p, text_end_);
  token = {p, behind, false, true};
  return behind;
}

const char* EventParser::take_time(const char* p) {
  const char* behind = nullptr;
  fields_->has_time = scaled(p, behind, fields_->time, kLatestTime);
  return behind;
}

const char* EventParser::take_duration(const char* p) {
  const char* behind = nullptr;
  fields_->has_duration = scaled(p, behind, fields_->duration, kLongestDuration);
  if (fields_->duration < 0) {
    fields_->is_duration_negative = true;
    fields_->duration = 0;
  }
  return behind;
}

bool EventParser::scaled(const char* p, const char*& behind, Nanoseconds& value, Nanoseconds limit) {
  Decimal number = *p == '"' ? Decimal{} : scan_decimal(p, kMicrosecondsToNanoseconds);
  behind = number.end;
  if (number.status != DecimalStatus::kOk) {
    ValueSpan raw;
    behind = take_span(p, raw);
    number = number_in(raw, kMicrosecondsToNanoseconds);
  }
  if (number.status == DecimalStatus::kOk && (number.value > limit || number.value < -limit))
    number.status = DecimalStatus::kOutOfRange;
  fields_->has_number_out_of_range |= number.status == DecimalStatus::kOutOfRange;
  value = number.status == DecimalStatus::kOk ? number.value : 0;
  return number.status == DecimalStatus::kOk;
}

const char* EventParser::take_id(const char* p, IdToken& token) {
  if (*p != '"') {
    const Decimal number = scan_decimal(p, 0);
    if (number.status == DecimalStatus::kOk) {
      token = {number.value, {}, false};
      return number.end;
    }
    fields_->has_number_out_of_range |= number.status == DecimalStatus::kOutOfRange;
  }
  StringToken text;
  const char* behind = take_string(p, text);
  token = id_of(text);
  return behind;
}

const char* EventParser::take_arguments(const char* p) {
  if (*p != '{') return take_span(p, fields_->arguments);
  const auto find = [](const StringToken& name) {
    return name.is_plain ? attribute_of(name) : attribute_of(std::string_view(decoded(name)));
  };
  const StringToken& category = fields_->category;
  const std::size_t mixed = category.size() == 0 ? 0 : category.size() + static_cast<unsigned char>(category.end[-1]);
  KeyPrediction<Attribute>& prediction = argument_keys_[mixed % argument_keys_.size()];
  const auto predictions = [&]() -> KeyPrediction<Attribute>& { return prediction; };
  const char* behind = members(p, predictions, find, [this](Attribute key, const StringToken& name, const char* value) {
    return take_argument(key, name, value);
  });
  fields_->arguments = {p, behind};
  return behind;
}

const char* EventParser::take_argument(Attribute key, const StringToken& name, const char* p) {
  const char* behind = skip_value(p, text_end_);
  if (key == Attribute::kUnknown) {
    fields_->unknown_arguments.push_back({name, {p, behind}});
  } else {
    fields_->present.add(key);
    fields_->argument[static_cast<std::size_t>(key)] = {p, behind};
  }
  return behind;
}

void EventFields::reset(const char* event_begin) {
  begin = event_begin;
  phase = 0;
  has_time = has_duration = is_duration_negative = has_number_out_of_range = has_id = binds_to_enclosing = false;
  time = duration = 0;
  name = category = StringToken{};
  process = thread = id = IdToken{};
  id_object = arguments = ValueSpan{};
  present = {};
  unknown_arguments.clear();
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
