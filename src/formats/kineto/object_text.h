// A JSON object on its way out, member by member.
#pragma once

#include <string_view>

#include "formats/output/text_writer.h"

namespace telltale::kineto {

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

}  // namespace telltale::kineto
