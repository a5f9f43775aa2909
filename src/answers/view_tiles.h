// Pieces of the timeline's picture, as bytes that the page can draw without looking at each.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/view.h"
#include "base/error.h"
#include "timeline/tile.h"

namespace telltale::answers {

struct ViewTilesRequest {
  std::int64_t level = 0, tile = 0;
  std::vector<TrackId> tracks;  // those that are not there have no spans
};

struct ViewTilesAnswer {
  std::vector<TileSpan> spans;
  std::vector<std::uint32_t> names;  // by span: an index of `texts`
  std::vector<std::uint8_t> colors;  // by span: an index of view_colors()
  std::vector<std::string> texts;

  std::string bytes() const;  // as api/tiles in web/src/protocol.ts has it
};

// An error where no time is that far away.
Result<TilePlace> tile_place(std::int64_t level, std::int64_t tile);

Result<ViewTilesAnswer> view_tiles(const View& view, const ViewTilesRequest& request);

}  // namespace telltale::answers
