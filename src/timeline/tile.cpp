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

// What is drawn together is a span for each cause, each with its share: the longest gap says little about the others.
// The largest share comes last.
void add_gaps(const Timeline& timeline, const ShownTrack& track, TilePlace place, std::vector<TileSpan>& spans) {
  timeline.idle_times().draw(*track.device, place.level, place.window(), [&](const DrawnGaps& gaps) {
    const std::size_t first = spans.size();
    for (std::size_t i = 0; i < gaps.by_cause.size(); ++i) {
      const auto cause = static_cast<HostWork>(i);
      if (gaps.by_cause[i] == 0 && cause != gaps.cause) continue;
      TileSpan& span = spans.emplace_back(span_of(gaps.span, track.id));
      if (span.duration > 0)
        span.busy = static_cast<float>(static_cast<double>(gaps.by_cause[i]) / static_cast<double>(span.duration));
      span.event = cause == gaps.cause ? gaps.blamed : kNoEvent;
      span.cause = cause;
    }
    std::ranges::sort(spans.begin() + static_cast<std::ptrdiff_t>(first), spans.end(), {}, &TileSpan::busy);
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
