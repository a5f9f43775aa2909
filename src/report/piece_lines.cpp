#include "report/piece_lines.h"

#include "report/text_width.h"

namespace telltale {

void PieceLines::add(std::string_view separator, std::string_view plain, std::string_view painted) {
  const std::size_t needed = display_width(separator) + display_width(plain) + 1;  // and a comma
  if (columns_ > 0 && columns_ + needed > width_) {
    text_ += separator.starts_with(',') ? "," : "";
    break_line();
  } else if (columns_ > 0) {
    text_ += separator;
    columns_ += display_width(separator);
  }
  text_ += painted;
  columns_ += display_width(plain);
}

void PieceLines::break_line() {
  if (columns_ == 0) return;
  text_ += "\n  ";
  columns_ = 0;
  has_broken_ = true;
}

}  // namespace telltale
