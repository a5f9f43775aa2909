// The syntax of one event: text to EventFields, in one pass over the text.
//
// Used by one thread; keeps no state between events.
#pragma once

#include <optional>

#include "formats/kineto/decimal.h"
#include "formats/kineto/event_fields.h"

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

// `event` is the opening bracket; `text_end` is followed by padding (see scan.h).
ParseEnd parse_event(const char* event, const char* text_end, EventFields& fields);

// The number that a value is, also when it is written as text; `scale` as in scan_decimal.
Decimal number_in(const ValueSpan& value, int scale = 0);
Unsigned unsigned_in(const ValueSpan& value);
// A finite number; nothing for anything else.
std::optional<double> real_in(const ValueSpan& value);

IdToken id_of(StringToken text);

// Calls `take(key, value)` for each member of an object that parse_event() has found to be well formed.
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
