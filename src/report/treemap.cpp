#include "report/treemap.h"

#include <algorithm>
#include <limits>
#include <numeric>

namespace telltale {
namespace {

// How many times as long as wide the narrowest of a row is, which has these areas and that length.
double narrowest(double largest, double smallest, double area, double length) {
  if (smallest <= 0) return std::numeric_limits<double>::infinity();
  const double depth = area / length;
  return std::max(largest / (depth * depth), depth * depth / smallest);
}

}  // namespace

std::vector<Tile> treemap(std::span<const double> amounts, double width, double height) {
  std::vector<Tile> tiles(amounts.size());
  const double all = std::accumulate(amounts.begin(), amounts.end(), 0.0);
  if (all <= 0) return tiles;
  const double scale = width * height / all;
  Tile room{.x = 0, .y = 0, .width = width, .height = height};
  for (std::size_t first = 0; first < amounts.size() && amounts[first] > 0;) {
    const bool is_upright = room.width > room.height;  // the row stands at the left
    const double length = is_upright ? room.height : room.width;
    double area = amounts[first] * scale;
    std::size_t end = first + 1;
    for (; end < amounts.size() && length > 0; ++end) {
      const double next = amounts[end] * scale, largest = amounts[first] * scale;
      if (narrowest(largest, next, area + next, length) > narrowest(largest, amounts[end - 1] * scale, area, length))
        break;
      area += next;
    }
    const double depth = length > 0 ? area / length : 0;
    double at = 0;
    for (std::size_t i = first; i < end; ++i) {
      const double part = area > 0 ? amounts[i] * scale / area * length : 0;
      tiles[i] = is_upright ? Tile{room.x, room.y + at, depth, part} : Tile{room.x + at, room.y, part, depth};
      at += part;
    }
    if (is_upright) {
      room.x += depth;
      room.width -= depth;
    } else {
      room.y += depth;
      room.height -= depth;
    }
    first = end;
  }
  return tiles;
}

}  // namespace telltale
