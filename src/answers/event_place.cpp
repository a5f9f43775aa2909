#include "answers/event_place.h"

#include <fmt/format.h>

#include <algorithm>

#include "analysis/device_maker.h"

namespace telltale::answers {

EventPlace place_of(const View& view, EventId event) {
  const Events& events = view.trace->events;
  return {.id = event,
          .name = shown_name(view, event),
          .kind = events.kind[event],
          .track = events.track[event],
          .lane = view.timeline->lanes().lane_of(event),
          .start_ns = events.start[event],
          .duration_ns = events.duration[event],
          .color = color_of_event(view, event)};
}

const std::string& shown_name(const View& view, EventId event) {
  return view.names->shown(view.trace->events.name[event]);
}

ColorIndex color_of_event(const View& view, EventId event) {
  const Events& events = view.trace->events;
  const Kind kind = events.kind[event];
  if (is_device_work(kind)) return color_index(view.timeline->classes().of(event));
  return view.names->color_of_call(kind, events.name[event]);
}

std::string device_name(const Trace& trace, DeviceId device) {
  const auto found = std::ranges::find(trace.devices, device, &Device::id);
  if (found != trace.devices.end() && !found->name.empty()) return found->name;
  return fmt::format("{} {}", device_word(trace), device);
}

}  // namespace telltale::answers
