// What the arguments of one event say, out of the text of the file: `Values` for EventDetails (see
// trace/event_details.h). A value is read only where a column asks for it.
//
// One a thread: it remembers what it has seen to recognize it faster.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "formats/kineto/event_parser.h"
#include "trace/event_details.h"

namespace telltale::kineto {

class ArgumentValues {
 public:
  // What is wrong with a value is an anomaly of the event that `event` is about.
  explicit ArgumentValues(EventDetails& event) : event_(event), names_(event.names()) {}

  // The event that the calls below are about; the fields must outlive them.
  void select(const EventFields& fields) { fields_ = &fields; }

  // Reads the arguments that can turn out to be no JSON. False when one of them is none.
  bool read_lists();

  AttributeSet present() const { return fields_->present; }
  std::int64_t integer(Attribute attribute, std::int64_t otherwise) {
    if (!fields_->has(attribute)) return otherwise;
    const Decimal number = number_in((*fields_)[attribute]);
    if (number.status == DecimalStatus::kOutOfRange) event_.note(Anomaly::kNumberOutOfRange);
    return number.status == DecimalStatus::kOk ? number.value : otherwise;
  }
  float real(Attribute attribute);
  bool flag(Attribute attribute);
  StringId text(Attribute attribute) { return text_in((*fields_)[attribute]); }
  std::array<std::int32_t, 3> sizes(Attribute attribute);
  // Behind read_lists():
  StringId list(Attribute attribute) const { return lists_[index_of(attribute)]; }
  StringId others() const { return others_; }

  // Any text of the event.
  StringId text_of(const StringToken& token);
  StringId text_in(const ValueSpan& value);

 private:
  static std::size_t index_of(Attribute list) {
    return static_cast<std::size_t>(list) - static_cast<std::size_t>(Attribute::kInputShapes);
  }
  StringId text_of_bare_value(std::string_view value);
  bool read_others();
  // Nothing when the value is no JSON.
  std::optional<StringId> compact(const ValueSpan& value);

  EventDetails& event_;
  LocalNames& names_;
  const EventFields* fields_ = nullptr;
  std::array<StringId, 4> lists_{};  // of shapes, strides, types, concrete inputs; only of those that are present
  StringId others_ = kEmptyString;
  std::vector<std::optional<std::optional<StringId>>> compact_;  // by local string id
};

}  // namespace telltale::kineto
