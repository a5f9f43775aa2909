#include "timeline/work_classes.h"

namespace telltale {

WorkClasses::WorkClasses(const Trace& trace) : trace_(trace), first_(trace.tracks.size()) {
  std::size_t events = 0;
  for (std::size_t track = 0; track < trace.tracks.size(); ++track) {
    first_[track] = events;
    if (trace.tracks[track].kind == TrackKind::kStream) events += trace.tracks[track].event_count;
  }
  if (events == 0) return;
  classes_.reserve(events);
  WorkClassifier class_of(trace);
  for (const Track& track : trace.tracks) {
    if (track.kind != TrackKind::kStream) continue;
    for (EventId event = track.first_event; event < track.first_event + track.event_count; ++event)
      classes_.push_back(is_device_work(trace.events.kind[event]) ? class_of(event) : WorkClass::kOther);
  }
}

WorkClass WorkClasses::of(EventId event) const {
  const TrackId track = trace_.events.track[event];
  if (trace_.tracks[track].kind != TrackKind::kStream) return WorkClass::kOther;
  return classes_[first_[track] + (event - trace_.tracks[track].first_event)];
}

}  // namespace telltale
