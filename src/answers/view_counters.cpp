#include "answers/view_counters.h"

#include <ranges>

#include "answers/view_tiles.h"
#include "report/compact_json.h"

namespace telltale::answers {

template <typename Fields>
void describe(Fields& fields, const ViewCurve& curve) {
  const auto all = [&](auto member) {
    return curve.points | std::views::transform([member](const CurvePoint& point) { return point.*member; });
  };
  const auto exact = [&](double CurvePoint::* member) {
    return curve.points | std::views::transform([member](const CurvePoint& point) { return Exact{point.*member}; });
  };
  fields.object("CounterTile", "A piece of a curve");
  fields.member("track", curve.track, "whose it is");
  fields.member("time_ns", all(&CurvePoint::time), "of each point");
  fields.member("minimum", exact(&CurvePoint::minimum), "of each point");
  fields.member("maximum", exact(&CurvePoint::maximum), "of each point");
  fields.member("last", exact(&CurvePoint::last), "of each point: it holds until the next");
}

template <typename Fields>
void describe(Fields& fields, const ViewCountersAnswer& answer) {
  fields.object("CounterTiles", "Pieces of curves");
  fields.member("counters", answer.counters, "as they were asked for");
}

std::string ViewCountersAnswer::json() const { return compact_json_of(*this); }

Result<ViewCountersAnswer> view_counters(const View& view, const ViewCountersRequest& request) {
  const auto place = tile_place(request.level, request.tile);
  if (!place) return std::unexpected(place.error());
  ViewCountersAnswer answer;
  for (const TrackId track : request.tracks)
    if (const CounterCurve* curve = view.timeline->curve(track))
      answer.counters.push_back({track, curve->draw(place->level, place->window())});
  return answer;
}

}  // namespace telltale::answers
