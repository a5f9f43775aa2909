// The syntax of one event: text to EventFields, in one pass over the text.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <vector>

#include "base/decimal.h"
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

// One event as the file writes it: tokens and numbers, not yet interpreted.
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

// Recorders write the keys of an object in the same order and with the same white space every time. So the text
// between two values is compared, whole, with what stood there last time; only where it differs is it read.
//
// For one kind of object: what followed the value of each key the last time. `Key` is an enumeration that ends with
// kUnknown.
template <typename Key>
class KeyPrediction {
 public:
  struct Guess {
    std::array<char, 48> text{};  // from behind a value to the next value
    std::array<Mask, 3> used{};   // the bytes of `text` that count, a bit each
    std::uint8_t length = 0;      // 0: nothing seen yet
    std::uint8_t key_begin = 0, key_end = 0;
    Key key{};
  };

  // What is expected behind a value of `previous`, or behind the opening bracket when there is none.
  Guess& after(Key previous) { return guesses_[static_cast<std::size_t>(previous)]; }
  Guess& at_start() { return guesses_.back(); }

  // Whether the text at `p` is the expected one.
  static bool is_right(const Guess& guess, const char* p) {
    for (unsigned i = 0; i < guess.used.size(); ++i) {
      const Mask used = guess.used[i];
      const Mask same = Window(p + 16 * i).equal_to(Window(guess.text.data() + 16 * i));
      if ((same & used) != used) return false;
      if (used != kWholeWindow) break;
    }
    // More white space than last time is no value.
    return guess.length > 0 && static_cast<unsigned char>(p[guess.length]) > ' ';
  }

  // Remembers what stands between `p` and `value`.
  static void learn(Guess& guess, const char* p, const StringToken& name, const char* value, Key key) {
    const auto length = static_cast<std::size_t>(value - p);
    if (length >= guess.text.size() || !name.is_plain) return;
    std::memcpy(guess.text.data(), p, length);
    for (unsigned i = 0; i < guess.used.size(); ++i) {
      const std::size_t bytes = length <= 16 * i ? 0 : length - 16 * i;
      guess.used[i] = bytes >= 16 ? kWholeWindow : (Mask{1} << bytes) - 1;
    }
    guess.length = static_cast<std::uint8_t>(length);
    guess.key_begin = static_cast<std::uint8_t>(name.begin - p);
    guess.key_end = static_cast<std::uint8_t>(name.end - p);
    guess.key = key;
  }

 private:
  static constexpr Mask kWholeWindow = 0xFFFF;
  std::array<Guess, static_cast<std::size_t>(Key::kUnknown) + 2> guesses_;
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
