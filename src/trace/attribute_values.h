// The attributes of one event, filled through typed calls: `Values` for EventDetails.
//
// A value need not have its attribute's type: a column takes what can be understood (the text "7" as the integer 7), as
// recorders differ in how they write things. Used by one thread; its texts are ids of the thread's LocalNames.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/attributes.h"
#include "trace/event_details.h"

namespace telltale {

class AttributeValues {
 public:
  // What does not fit is counted as an anomaly of the event that `event` is about.
  explicit AttributeValues(EventDetails& event) : event_(event), names_(event.names()) {}

  // Starts with the next event.
  void clear() {
    present_ = {};
    others_.clear();
  }

  void set(Attribute attribute, std::int64_t value) { slot(attribute, Form::kInteger).integer = value; }
  void set_real(Attribute attribute, double value) { slot(attribute, Form::kReal).real = value; }
  // Where the attribute is a list, a text is taken as JSON if it starts like a list.
  void set_text(Attribute attribute, StringId text) { slot(attribute, Form::kText).text = text; }
  // Sizes of a launch, numbers of a list or, as shapes, the shape of the only argument.
  void set_numbers(Attribute attribute, std::span<const std::int64_t> numbers);

  // What no column holds, in the order of the calls. `quoted_name` is a JSON string and a colon.
  void add_other(std::string_view quoted_name, std::int64_t value);
  void add_other_real(std::string_view quoted_name, double value);
  void add_other_text(std::string_view quoted_name, std::string_view text);
  void add_other_numbers(std::string_view quoted_name, std::span<const std::int64_t> numbers);

  // For EventDetails.
  AttributeSet present() const { return present_; }
  std::int64_t integer(Attribute attribute, std::int64_t otherwise);
  float real(Attribute attribute);
  bool flag(Attribute attribute);
  StringId text(Attribute attribute);
  StringId list(Attribute attribute);
  std::array<std::int32_t, 3> sizes(Attribute attribute);
  StringId others();

 private:
  enum class Form : std::uint8_t { kInteger, kReal, kText, kList, kSizes };
  struct Slot {
    Form form = Form::kInteger;
    StringId text = kEmptyString;  // of a list: compact JSON
    std::int64_t integer = 0;
    double real = 0;
    std::array<std::int32_t, 3> sizes{};
  };

  Slot& slot(Attribute attribute, Form form) {
    present_.add(attribute);
    Slot& slot = slots_[static_cast<std::size_t>(attribute)];
    slot.form = form;
    return slot;
  }
  const Slot& operator[](Attribute attribute) const { return slots_[static_cast<std::size_t>(attribute)]; }
  StringId list_in(StringId text);
  std::string& next_other(std::string_view quoted_name);

  EventDetails& event_;
  LocalNames& names_;
  AttributeSet present_;
  std::array<Slot, kAttributeCount> slots_{};
  std::string others_, scratch_;
  std::vector<std::optional<StringId>> lists_;  // by local string id: what list_in() made of it
};

}  // namespace telltale
