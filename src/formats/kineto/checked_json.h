// The strings of a trace that hold JSON, such as an operator's shapes, made safe to be written into a document. Readers
// of JSON keep only valid text; another reader may have taken anything from its file.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned_strings.h"

namespace telltale::kineto {

// Remembers what it has checked; used by one thread. The strings must live as long.
class CheckedJson {
 public:
  explicit CheckedJson(const InternedStrings& strings) : strings_(strings), states_(strings.size(), State::kUnknown) {}

  // The text, repaired where it has to be; empty when it is no JSON value.
  std::string_view valid(StringId id);
  // The members of an object: its text without the outer brackets. Empty when it has none or is no object.
  std::string_view members(StringId id);

 private:
  enum class State : std::uint8_t { kUnknown, kClean, kRepaired, kInvalid };

  const InternedStrings& strings_;
  std::vector<State> states_;
  std::map<StringId, std::string> repaired_;
};

}  // namespace telltale::kineto
