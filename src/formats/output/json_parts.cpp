#include "formats/output/json_parts.h"

#include <utility>

#include "base/json_text.h"

namespace telltale {

std::string_view CheckedJson::valid(StringId id) {
  State& state = states_[id];
  if (state == State::kUnknown) {
    auto text = compact_json(strings_[id]);
    state = !text ? State::kInvalid : *text == strings_[id] ? State::kClean : State::kRepaired;
    if (state == State::kRepaired) repaired_.emplace(id, std::move(*text));
  }
  switch (state) {
    case State::kClean:
      return strings_[id];
    case State::kRepaired:
      return repaired_.at(id);
    default:
      return {};
  }
}

std::string_view CheckedJson::members(StringId id) {
  const std::string_view text = valid(id);
  return text.starts_with('{') ? text.substr(1, text.size() - 2) : std::string_view();
}

}  // namespace telltale
