// One description of each result: the name, the type and the meaning of its members. What is written as JSON and CSV,
// the Python dataclasses and the tables in docs/json.md all come from it, so that a new member is one line.
//
// A struct is described by a function next to the others in diagnosis_fields.h or result_fields.h:
//
//     template <typename Fields>
//     void describe(Fields& fields, const Fix& fix) {
//       fields.object("Fix", "What to change, in words and as code");
//       fields.member("id", fix.id, "a word of a fixed vocabulary");
//       fields.member("text", fix.text, "a sentence");
//     }
//
// A whole answer begins with fields.answer(schema, name, meaning) instead of fields.object(name, meaning). The C++ type
// of a value says what is written: a number, true or false, text, the name of an enumerator, std::optional for what may
// be null, a list, and another described struct. Fields visits a value to write it, or a default-constructed one to
// learn names and types; so a description must not depend on values. A name ends in its unit: _ns, _bytes, _percent.
#pragma once

#include <concepts>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/trace.h"

namespace telltale {

// A number that is written with all its digits. Others are rounded to three decimals, which is more than they are known
// to.
struct Exact {
  double value = 0;
};

// An event that somebody may want to look up. Given as fields.events(name, ids, meaning): Fields knows the trace.
struct EventRow {
  EventId event = kNoEvent;
  std::string_view name;
  Nanoseconds start_ns = 0, duration_ns = 0;
};

// What is null in a result.
inline std::optional<std::string_view> or_null(std::string_view text) {
  return text.empty() ? std::nullopt : std::optional(text);
}
inline std::optional<EventId> event_or_null(EventId event) {
  return event == kNoEvent ? std::nullopt : std::optional(event);
}

// The sorts of values, for those who write Fields.
template <typename T>
concept DescribedText = std::convertible_to<const T&, std::string_view>;

template <typename T>
concept DescribedEnum = std::is_enum_v<T>;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;

// By name: written as an object.
template <typename T>
inline constexpr bool kIsDictionary = false;
template <typename Key, typename Value>
inline constexpr bool kIsDictionary<std::vector<std::pair<Key, Value>>> = true;

template <typename T>
concept DescribedList = std::ranges::range<const T> && !DescribedText<T> && !kIsDictionary<T>;

}  // namespace telltale
