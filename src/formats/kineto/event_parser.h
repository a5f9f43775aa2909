// The syntax of one event: text to EventFields, in one pass over the text.
#pragma once

#include <optional>

#include "base/decimal.h"
#include "formats/kineto/event_fields.h"
#include "formats/kineto/key_prediction.h"

namespace telltale::kineto {

enum class ParseStatus : std::uint8_t {
  kOk,
  kMalformed,   // not JSON, at ParseEnd::position
  kIncomplete,  // the text ends before the event does
};

struct ParseEnd {
  ParseStatus status = ParseStatus::kOk;
  const char* position = nullptr;  // behind the event, or where it goes wrong
};

enum class EventKey : std::uint8_t {
  kPhase,
  kCategory,
  kName,
  kProcess,
  kThread,
  kTime,
  kDuration,
  kArguments,
  kId,
  kIdObject,
  kBindingPoint,
  kUnknown,
};

// Used by one thread. What it remembers from event to event makes it faster and changes no result.
class EventParser {
 public:
  // `event` is the opening bracket; `text_end` is followed by padding (see scan.h).
  ParseEnd parse(const char* event, const char* text_end, EventFields& fields);

 private:
  template <typename Predictions, typename Find, typename Take>
  const char* members(const char* p, Predictions predictions, Find find, Take take);
  const char* fail(const char* p);

  const char* take_field(EventKey key, const char* p);
  const char* take_argument(Attribute key, const StringToken& name, const char* p);
  const char* take_arguments(const char* p);
  const char* take_span(const char* p, ValueSpan& value);
  const char* take_string(const char* p, StringToken& token);
  const char* take_time(const char* p);
  const char* take_duration(const char* p);
  const char* take_id(const char* p, IdToken& token);
  bool scaled(const char* p, const char*& behind, Nanoseconds& value, Nanoseconds limit);

  // Events of different phases have different keys, those of different categories different arguments.
  std::array<KeyPrediction<EventKey>, 8> event_keys_;
  std::array<KeyPrediction<Attribute>, 16> argument_keys_;
  const char* text_end_ = nullptr;
  const char* failed_at_ = nullptr;
  EventFields* fields_ = nullptr;
};

// The number that a value is, also when it is written as text; `scale` as in scan_decimal.
Decimal number_in(const ValueSpan& value, int scale = 0);
Unsigned unsigned_in(const ValueSpan& value);
// A finite number; nothing for anything else.
std::optional<double> real_in(const ValueSpan& value);

IdToken id_of(StringToken text);

// Calls `take(key, value)` for each member of an object that EventParser has found to be well formed.
template <typename Take>
void for_each_member(const ValueSpan& object, Take take) {
  const char* p = skip_space(object.begin + 1);
  while (*p != '}') {
    const StringToken key = scan_string(p + 1);
    const char* value = skip_space(skip_space(key.end + 1) + 1);
    const char* behind = skip_value(value, object.end);
    take(key, ValueSpan{value, behind});
    p = skip_space(behind);
    if (*p == ',') p = skip_space(p + 1);
  }
}

}  // namespace telltale::kineto
