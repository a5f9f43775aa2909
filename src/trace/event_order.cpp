#include "trace/event_order.h"

#include "base/merge_runs.h"
#include "base/parallel.h"
#include "base/release.h"

namespace telltale {
namespace {

// Among rows with the same times, what is outside comes first: Python, then operators, then the device's API.
int nesting_rank(Kind kind) {
  switch (kind) {
    case Kind::kAnnotation:
    case Kind::kModule:
    case Kind::kPython:
      return 0;
    case Kind::kOperator:
      return 1;
    case Kind::kRuntime:
    case Kind::kDriver:
      return 2;
    default:
      return 3;
  }
}

struct Row {
  Nanoseconds start;
  Nanoseconds duration;
  StringId name;
  std::uint32_t file_row;
  Kind kind;
};

bool is_before(const Row& a, const Row& b) {
  if (a.start != b.start) return a.start < b.start;
  if (a.duration != b.duration) return a.duration > b.duration;
  const int rank_a = nesting_rank(a.kind), rank_b = nesting_rank(b.kind);
  return rank_a != rank_b ? rank_a < rank_b : a.file_row < b.file_row;
}

}  // namespace

std::vector<EventId> order_events(std::span<EventBatch> batches, Nanoseconds origin, Trace& trace, unsigned threads) {
  std::size_t count = 0;
  for (const EventBatch& batch : batches) {
    for (const BatchEvent& event : batch.events) ++trace.tracks[event.track].event_count;
    count += batch.events.size();
  }
  EventId first = 0;
  for (Track& track : trace.tracks) {
    track.first_event = first;
    first += track.event_count;
  }

  std::vector<Row> rows(count);
  std::vector<EventId> next;
  for (const Track& track : trace.tracks) next.push_back(track.first_event);
  std::uint32_t file_row = 0;
  for (EventBatch& batch : batches) {
    for (const BatchEvent& event : batch.events)
      rows[next[event.track]++] = {event.start - origin, event.duration, event.name, file_row++, event.kind};
    release(batch.events);
  }

  Events& events = trace.events;
  events.start.resize(count);
  events.duration.resize(count);
  events.name.resize(count);
  events.kind.resize(count);
  events.track.resize(count);
  std::vector<EventId> event_of_row(count);
  parallel_for(trace.tracks.size(), threads, [&](std::size_t track_id) {
    const Track& track = trace.tracks[track_id];
    const std::span<Row> mine(rows.data() + track.first_event, track.event_count);
    merge_runs(mine, is_before);
    for (EventId i = 0; i < track.event_count; ++i) {
      const EventId id = track.first_event + i;
      events.start[id] = mine[i].start;
      events.duration[id] = mine[i].duration;
      events.name[id] = mine[i].name;
      events.kind[id] = mine[i].kind;
      events.track[id] = static_cast<TrackId>(track_id);
      event_of_row[mine[i].file_row] = id;
    }
  });
  events.parent.assign(count, kNoEvent);
  events.cause.assign(count, kNoEvent);
  return event_of_row;
}

}  // namespace telltale
