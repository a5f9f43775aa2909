// One event as the file writes it: tokens and numbers, not yet interpreted.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/time.h"
#include "formats/kineto/scan.h"
#include "trace/attributes.h"

namespace telltale::kineto {

// A pid, tid or flow id: numbers, also when written as decimal or hexadecimal text, or any other text.
struct IdToken {
  std::int64_t number = 0;
  StringToken text;
  bool is_text = false;
};

struct ValueSpan {
  const char* begin = nullptr;
  const char* end = nullptr;
};

struct UnknownArgument {
  StringToken key;
  ValueSpan value;
};

struct EventFields {
  const char* begin = nullptr;  // the event's opening bracket

  char phase = 0;  // 0: missing; '?': more than one character
  bool has_time = false, has_duration = false;
  bool is_duration_negative = false;
  bool has_number_out_of_range = false;
  bool has_id = false;
  bool binds_to_enclosing = false;
  Nanoseconds time = 0, duration = 0;
  StringToken name, category;
  IdToken process, thread, id;
  ValueSpan id_object;  // "id2"
  ValueSpan arguments;

  // Known arguments: where each one's value stands; only those that are present are set.
  AttributeSet present;
  std::array<ValueSpan, kAttributeCount> argument;
  std::vector<UnknownArgument> unknown_arguments;

  bool has(Attribute key) const { return present.has(key); }
  const ValueSpan& operator[](Attribute key) const { return argument[static_cast<std::size_t>(key)]; }

  void reset(const char* event_begin);
};

}  // namespace telltale::kineto
