// Rectangles as large as amounts, that fill another one and are as square as their sizes allow: each row stands at the
// shorter side of what is left, and takes amounts as long as its narrowest rectangle gets no narrower by that (Bruls,
// Huizing and van Wijk, 2000).
//
// Pure and thread-safe; linear in the amounts.
#pragma once

#include <span>
#include <vector>

namespace telltale {

struct Tile {
  double x = 0, y = 0, width = 0, height = 0;
};

// One for each amount, in their order; they must fall, and none may be negative.
std::vector<Tile> treemap(std::span<const double> amounts, double width, double height);

}  // namespace telltale
