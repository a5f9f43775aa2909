#include "formats/kineto/event_arguments.h"

#include <string_view>

#include "formats/kineto/spellings.h"

namespace telltale::kineto {
namespace {

constexpr std::string_view kOpening = R"(,"args":)";

}  // namespace

EventArguments::EventArguments(const Trace& trace, CheckedJson& json)
    : trace_(trace), text_(trace, json, spelling_of) {}

void EventArguments::write(EventId event, TextWriter& out) {
  if (const std::string_view value = text_.bare_value(event); !value.empty()) {
    out << kOpening << value;
    return;
  }
  ObjectText object(out, kOpening);
  write_links(event, object);
  text_.write_host_side(event, object);
  if (is_on_device(trace_.events.kind[event])) write_stream(event, object);
  text_.write_rest(event, object);
}

// A launch carries a number, its device work the same one; operators carry another, and what they caused that one.
void EventArguments::write_links(EventId event, ObjectText& object) {
  const Kind kind = trace_.events.kind[event];
  const EventId cause = trace_.events.cause[event];
  const auto add = [&](Attribute key, EventId named) {
    if (named != kNoEvent) text_.start(object, key) << link_number(named);
  };
  bool is_named = cause == kNoEvent;
  if (kind == Kind::kOperator) {
    add(Attribute::kExternalId, event);
    is_named = true;  // by the sequence number: see write_operator
  } else if (is_api_call(kind)) {
    const EventId around = trace_.operator_of(event);
    add(Attribute::kExternalId, around);
    add(Attribute::kCorrelation, event);
    is_named |= cause == around;
  } else if (is_on_device(kind) && kind != Kind::kDeviceAnnotation && cause != kNoEvent) {
    add(Attribute::kExternalId, trace_.operator_of(event));
    if (is_api_call(trace_.events.kind[cause])) add(Attribute::kCorrelation, cause);
    is_named = is_api_call(trace_.events.kind[cause]) || trace_.events.kind[cause] == Kind::kOperator;
  }
  if (!is_named) ++unnamed_causes_;
}

void EventArguments::write_stream(EventId event, ObjectText& object) {
  const Track& track = trace_.tracks[trace_.events.track[event]];
  // On an annotation, which is no work, they would make readers count it as such.
  const bool is_work = trace_.events.kind[event] != Kind::kDeviceAnnotation;
  if (is_work || trace_.processes[track.process].native_id != track.device)
    text_.start(object, Attribute::kDevice) << track.device;
  if (is_work) text_.start(object, Attribute::kStream) << track.native_id;
}

}  // namespace telltale::kineto
