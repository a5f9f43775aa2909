// The colours of kinds, the same in every view: computing is cool, waiting warm; told apart by the colour-blind too
// and readable on light and dark grounds. Views that cannot show colours lose nothing but the colours.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "trace/kind.h"

namespace telltale {

struct Colour {
  std::uint8_t red, green, blue;
  std::uint8_t terminal;  // the nearest of the 256 colours of terminals
};

constexpr Colour colour_of(Kind kind) {
  switch (kind) {
    case Kind::kKernel:
      return {0x1f, 0x78, 0xb4, 32};
    case Kind::kOperator:
      return {0x2a, 0x9d, 0x8f, 36};
    case Kind::kModule:
    case Kind::kPython:
      return {0x7a, 0x6f, 0xc2, 98};
    case Kind::kAnnotation:
    case Kind::kDeviceAnnotation:
      return {0x5f, 0x87, 0xaf, 67};
    case Kind::kCollective:
      return {0x00, 0x87, 0xd7, 32};
    case Kind::kMemcpy:
    case Kind::kMemset:
      return {0x5f, 0xaf, 0xd7, 74};
    case Kind::kSync:
      return {0xe0, 0x7b, 0x39, 173};
    case Kind::kOverhead:
      return {0xc1, 0x44, 0x3c, 167};
    case Kind::kRuntime:
    case Kind::kDriver:
    case Kind::kDeviceOther:
    case Kind::kSpan:
    case Kind::kInstant:
    case Kind::kAsync:
    case Kind::kOther:
      break;
  }
  return {0x80, 0x80, 0x80, 244};
}

// How text is made for a terminal or a pipe.
struct TextStyle {
  std::size_t width = 80;
  bool has_colour = false;

  std::string coloured(std::string_view text, Colour colour) const {
    return wrapped(text, "38;5;" + std::to_string(colour.terminal));
  }
  std::string bold(std::string_view text) const { return wrapped(text, "1"); }
  std::string faint(std::string_view text) const { return wrapped(text, "2"); }

 private:
  std::string wrapped(std::string_view text, std::string_view code) const {
    if (!has_colour || text.empty()) return std::string(text);
    return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
  }
};

}  // namespace telltale
