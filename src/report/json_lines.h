// How all our JSON is written: members in a fixed order, a line each, what is absent as null.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace telltale {

using Json = nlohmann::ordered_json;

template <typename T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json or_null(const std::string& text);

// One line a member, and one line an element where a member is a list of objects: short enough to read and to compare
// line by line. Text that is not UTF-8 is repaired.
std::string in_lines(const Json& object);

}  // namespace telltale
