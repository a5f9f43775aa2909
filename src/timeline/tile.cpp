#include "timeline/tile.h"

#include <algorithm>

namespace telltale {
namespace {

float busy_share(const DrawnSpan& drawn) {
  const auto length = static_cast<double>(drawn.end - drawn.start);
  return length > 0 ? static_cast<float>(std::min(1.0, drawn.busy / length)) : 1;
}

TileSpan span_of(const DrawnSpan& drawn, TrackId track) {
  return {.start = drawn.start,
          .duration = drawn.end - drawn.start,
          .events = drawn.count,
          .track = track,
          .busy = busy_share(drawn)};
}

void add_events(const Timeline& timeline, const ShownTrack& track, TilePlace place, std::vector<TileSpan>& spans) {
  for (std::size_t lane = 0; lane < track.lanes; ++lane) {
    timeline.lanes().draw(track.id, lane, place.level, place.window(), [&](const DrawnSpan& drawn, EventId longest) {
      TileSpan& span = spans.emplace_back(span_of(drawn, track.id));
      span.event = longest;
      span.lane = static_cast<std::uint16_t>(lane);
    });
  }
}

void add_gaps(const Timeline& timeline, const ShownTrack& track, TilePlace place, std::vector<TileSpan>& spans) {
  timeline.idle_times().draw(*track.device, place.level, place.window(),
                             [&](const DrawnSpan& drawn, HostWork cause, EventId blamed) {
                               TileSpan& span = spans.emplace_back(span_of(drawn, track.id));
                               span.event = blamed;
                               span.cause = cause;
                             });
}

}  // namespace

std::vector<TileSpan> tile_spans(const Timeline& timeline, TilePlace place, std::span<const TrackId> tracks) {
  std::vector<TileSpan> spans;
  for (const TrackId id : tracks) {
    const ShownTrack* track = timeline.track(id);
    if (track == nullptr || track->kind == ShownTrackKind::kCounter) continue;
    if (track->kind == ShownTrackKind::kGaps)
      add_gaps(timeline, *track, place, spans);
    else
      add_events(timeline, *track, place, spans);
  }
  return spans;
}

}  // namespace telltale
