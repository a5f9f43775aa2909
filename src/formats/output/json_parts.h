// Parts of JSON on its way out: text that a trace holds, made safe to stand in a document, and objects, member by
// member.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/interned_strings.h"
#include "formats/output/text_writer.h"

namespace telltale {

// The strings of a trace that hold JSON, such as an operator's shapes, made safe to be written into a document. Readers
// of JSON keep only valid text; another reader may have taken anything from its file.
//
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

// An object on its way out.
//
// The brackets are written when there is something between them: an object without members leaves no trace.
class ObjectText {
 public:
  // `opening` is what stands in front of the opening bracket.
  ObjectText(TextWriter& out, std::string_view opening) : out_(out), opening_(opening) {}
  ObjectText(const ObjectText&) = delete;
  ObjectText& operator=(const ObjectText&) = delete;
  ~ObjectText() {
    if (!is_empty_) out_ << '}';
  }

  // Starts a member: its value is to be written next. The name must need no escapes.
  TextWriter& member(std::string_view name) { return next() << '"' << name << "\":"; }
  // Whole members, as JSON.
  void members(std::string_view text) {
    if (!text.empty()) next() << text;
  }

 private:
  TextWriter& next() {
    if (!is_empty_) return out_ << ',';
    is_empty_ = false;
    return out_ << opening_ << '{';
  }

  TextWriter& out_;
  std::string_view opening_;
  bool is_empty_ = true;
};

}  // namespace telltale
