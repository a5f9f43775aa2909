// Enough of an event to draw it, name it and go there, the same in all answers about an opened trace.
//
// Pure and thread-safe.
#pragma once

#include <cstddef>
#include <string>

#include "answers/view.h"
#include "answers/view_colors.h"
#include "trace/trace.h"

namespace telltale::answers {

struct EventPlace {
  EventId id = kNoEvent;
  std::string name;  // as it is shown
  Kind kind = Kind::kOther;
  TrackId track = 0;
  std::size_t lane = 0;
  Nanoseconds start_ns = 0, duration_ns = 0;  // on the clock of the recording
  ColorIndex color = 0;
};

template <typename Fields>
void describe(Fields& fields, const EventPlace& place) {
  fields.object("EventPlace", "Enough of an event to draw it, name it and go there");
  fields.member("id", place.id, "its number");
  fields.member("name", place.name, "what it is called");
  fields.member("kind", place.kind, "what it is");
  fields.member("track", place.track, "where it stands");
  fields.member("lane", place.lane, "how deep it stands there");
  fields.member("start_ns", place.start_ns, "when it starts");
  fields.member("duration_ns", place.duration_ns, "how long it takes");
  fields.member("color", place.color, "its place among the colors");
}

// The event must be one of the trace's, likewise below.
EventPlace place_of(const View& view, EventId event);
const std::string& shown_name(const View& view, EventId event);
// By class for device work, by kind for all else.
ColorIndex color_of_event(const View& view, EventId event);

// Its model, or "GPU 0" where the file does not say.
std::string device_name(const Trace& trace, DeviceId device);

}  // namespace telltale::answers
