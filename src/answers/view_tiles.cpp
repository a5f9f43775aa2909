#include "answers/view_tiles.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>
#include <unordered_map>

#include "answers/event_place.h"
#include "answers/view_colors.h"
#include "report/compact_json.h"

namespace telltale::answers {
namespace {

constexpr std::uint32_t kMagic = 0x314c5454;  // "TTL1"

static_assert(std::endian::native == std::endian::little, "tiles are little-endian");

class Columns {
 public:
  explicit Columns(std::string& out) : out_(out) {}

  template <typename Number>
  void add(Number number) {
    char bytes[sizeof(Number)];
    std::memcpy(bytes, &number, sizeof(Number));
    out_.append(bytes, sizeof(Number));
  }
  void end_column() { out_.append((8 - out_.size() % 8) % 8, '\0'); }

  template <typename Rows, typename Value>
  void column(const Rows& rows, Value value) {
    for (const auto& row : rows) add(value(row));
    end_column();
  }

 private:
  std::string& out_;
};

}  // namespace

std::string ViewTilesAnswer::bytes() const {
  const std::string names_json = compact_json_of(texts);
  std::string out;
  out.reserve(64 + spans.size() * 40 + names_json.size());
  Columns columns(out);
  columns.add(kMagic);
  columns.add(static_cast<std::uint32_t>(spans.size()));
  columns.add(static_cast<std::uint32_t>(names_json.size()));
  columns.add(std::uint32_t{0});
  columns.column(spans, [](const TileSpan& span) { return static_cast<double>(span.start); });
  columns.column(spans, [](const TileSpan& span) { return static_cast<double>(span.duration); });
  columns.column(spans, [](const TileSpan& span) { return span.event; });
  columns.column(names, [](std::uint32_t name) { return name; });
  columns.column(spans, [](const TileSpan& span) { return span.events; });
  columns.column(spans, [](const TileSpan& span) { return span.track; });
  columns.column(spans, [](const TileSpan& span) { return span.busy; });
  columns.column(spans, [](const TileSpan& span) { return span.lane; });
  columns.column(colors, [](std::uint8_t color) { return color; });
  return out + names_json;
}

Result<TilePlace> tile_place(std::int64_t level, std::int64_t tile) {
  if (level < 0 || level > TilePlace::kMostLevel)
    return failure(fmt::format("level is {}: it must be from 0 to {}", level, TilePlace::kMostLevel));
  const TilePlace place{static_cast<unsigned>(level), tile};
  if (!place.is_valid()) return failure(fmt::format("tile {} of level {} lies outside of all times", tile, level));
  return place;
}

Result<ViewTilesAnswer> view_tiles(const View& view, const ViewTilesRequest& request) {
  const auto place = tile_place(request.level, request.tile);
  if (!place) return std::unexpected(place.error());
  ViewTilesAnswer answer{.spans = tile_spans(*view.timeline, *place, request.tracks)};
  answer.names.reserve(answer.spans.size());
  answer.colors.reserve(answer.spans.size());

  std::unordered_map<const std::string*, std::uint32_t> place_of_text;
  for (const TileSpan& span : answer.spans) {
    const std::uint8_t color = span.cause ? color_index(*span.cause) : color_of_event(view, span.event);
    const std::string& text = span.cause ? view_colors()[color].word : shown_name(view, span.event);
    const auto [at, is_new] = place_of_text.try_emplace(&text, static_cast<std::uint32_t>(answer.texts.size()));
    if (is_new) answer.texts.push_back(text);
    answer.names.push_back(at->second);
    answer.colors.push_back(color);
  }
  return answer;
}

}  // namespace telltale::answers
