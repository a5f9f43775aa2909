#include "formats/collapsed/frame_text.h"

#include "base/text_encoding.h"

namespace telltale::collapsed {

std::string frame_text(std::string_view name) {
  std::string text = repaired_utf8(name);
  for (char& c : text) {
    if (c == ';') c = ',';
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

}  // namespace telltale::collapsed
