// Text in pieces that stay together, as the labels under a bar: measured without its colors, and broken only between
// pieces.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace telltale {

class PieceLines {
 public:
  explicit PieceLines(std::size_t width) : width_(width) {}

  // `painted` is `plain` with its colors.
  void add(std::string_view separator, std::string_view plain, std::string_view painted);
  void break_line();

  bool has_broken() const { return has_broken_; }
  std::string finished() const { return "  " + text_ + '\n'; }

 private:
  std::size_t width_;
  std::size_t columns_ = 0;
  bool has_broken_ = false;
  std::string text_;
};

}  // namespace telltale
