#include "formats/perfetto/slices.h"

#include <algorithm>
#include <string>

namespace telltale::perfetto {
namespace {

// Fields of TrackEvent.
enum Field : unsigned {
  kCategoryNumber = 3,
  kType = 9,
  kNameNumber = 10,
  kTrack = 11,
  kFlows = 47,
  kEndingFlows = 48,
};

// Where more events overlap, looking for a lane would take too long: each gets one of its own.
constexpr std::size_t kMostLanesSearched = 256;

}  // namespace

Slices::Slices(const Trace& trace, Nanoseconds shift, TrackUuids& uuids, Packets& packets, Interning& interning)
    : trace_(trace),
      shift_(shift),
      uuids_(uuids),
      packets_(packets),
      interning_(interning),
      annotations_(trace, interning),
      categories_(trace.categories) {
  // Each link is a flow of its own: events with the same flow would be joined one after the other.
  for (EventId event = 0; event < trace.events.size(); ++event)
    if (const EventId cause = trace.events.cause[event]; cause != kNoEvent)
      outgoing_.push_back({cause, event, outgoing_.size() + 1});
  for (const Flow& flow : trace.flows) outgoing_.push_back({flow.from, flow.to, outgoing_.size() + 1});
  incoming_ = outgoing_;
  std::ranges::stable_sort(outgoing_, {}, &Link::from);
  std::ranges::stable_sort(incoming_, {}, &Link::to);
}

void Slices::write(TrackId id) {
  const Track& track = trace_.tracks[id];
  lanes_.clear();
  lanes_.push_back({uuids_.of_track(id), {}});
  for (EventId event = track.first_event; event != track.first_event + track.event_count; ++event) {
    if (packets_.has_failed()) return;
    write_row(event, id);
  }
  for (Lane& lane : lanes_) {
    for (; !lane.open.empty(); lane.open.pop_back()) write_end(lane.open.back(), lane.uuid);
  }
}

void Slices::write_row(EventId event, TrackId track) {
  if (trace_.events.kind[event] == Kind::kInstant) return write_instant(event, lanes_.front().uuid);
  Lane& lane = lane_for(event, track);
  write_begin(event, lane.uuid);
  lane.open.push_back(event);
}

void Slices::close_before(EventId event, Lane& lane) {
  const Events& events = trace_.events;
  const bool is_moment = events.duration[event] == 0;
  while (!lane.open.empty()) {
    const EventId open = lane.open.back();
    const bool is_over = events.end(open) < events.start[event];
    const bool ends_here = events.end(open) == events.start[event];
    if (!is_over && !(ends_here && !(is_moment && events.parent[event] == open))) return;
    write_end(open, lane.uuid);
    lane.open.pop_back();
  }
}

Slices::Lane& Slices::lane_for(EventId event, TrackId track) {
  const Events& events = trace_.events;
  for (std::size_t i = 0; i < std::min(lanes_.size(), kMostLanesSearched); ++i) {
    close_before(event, lanes_[i]);
    if (lanes_[i].open.empty() || events.end(lanes_[i].open.back()) >= events.end(event)) return lanes_[i];
  }
  const Uuid uuid = uuids_.next();
  const std::string name = "overlapping " + std::to_string(lanes_.size());
  packets_.write_descriptor(TrackUuids::describe(uuid, uuids_.of_track(track), name));
  lanes_.push_back({uuid, {}});
  return lanes_.back();
}

void Slices::start_event(EventType type, Uuid uuid) {
  event_.clear();
  event_.add_unsigned(kType, static_cast<unsigned>(type));
  event_.add_unsigned(kTrack, uuid);
}

void Slices::add_name_and_category(EventId event) {
  event_.add_unsigned(kNameNumber, interning_.id(Table::kEventNames, trace_.events.name[event]));
  const StringId* category = categories_.find(event);
  event_.add_unsigned(kCategoryNumber, category != nullptr
                                           ? interning_.id(Table::kCategories, *category)
                                           : interning_.id(Table::kCategories, name_of(trace_.events.kind[event])));
}

void Slices::add_flows(EventId event) {
  for (; next_outgoing_ < outgoing_.size() && outgoing_[next_outgoing_].from == event; ++next_outgoing_)
    event_.add_fixed64(kFlows, outgoing_[next_outgoing_].id);
  for (; next_incoming_ < incoming_.size() && incoming_[next_incoming_].to == event; ++next_incoming_)
    event_.add_fixed64(kEndingFlows, incoming_[next_incoming_].id);
}

void Slices::write_begin(EventId event, Uuid uuid) {
  start_event(EventType::kSliceBegin, uuid);
  add_name_and_category(event);
  add_flows(event);
  annotations_.add(event, event_);
  packets_.write_event(time(trace_.events.start[event]), event_, interning_);
}

void Slices::write_end(EventId event, Uuid uuid) {
  start_event(EventType::kSliceEnd, uuid);
  packets_.write_event(time(trace_.events.end(event)), event_, interning_);
}

void Slices::write_instant(EventId event, Uuid uuid) {
  start_event(EventType::kInstant, uuid);
  add_name_and_category(event);
  add_flows(event);
  annotations_.add(event, event_);
  packets_.write_event(time(trace_.events.start[event]), event_, interning_);
}

}  // namespace telltale::perfetto
