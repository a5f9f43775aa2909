// The colors of kinds, of device work, of what the host does and of idle causes, the same in every view: computing is
// cool, waiting warm;
// told apart by the color-blind too, since neighbors differ in lightness, and readable on light and dark grounds.
// Views that cannot show colors lose nothing but the colors.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "analysis/breakdown.h"
#include "analysis/host_work.h"
#include "analysis/work_class.h"
#include "trace/kind.h"

namespace telltale {

struct Color {
  std::uint8_t red, green, blue;
  std::uint8_t terminal;  // the nearest of the 256 colors of terminals
};

constexpr Color color_of(Kind kind) {
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

constexpr Color color_of(WorkClass work) {
  switch (work) {
    case WorkClass::kMatmul:
      return {0x1f, 0x5f, 0xae, 25};
    case WorkClass::kConvolution:
      return {0x3d, 0x8b, 0xe0, 33};
    case WorkClass::kAttention:
      return {0x75, 0x5b, 0xcf, 98};
    case WorkClass::kNormalization:
      return {0x2a, 0x9d, 0x8f, 36};
    case WorkClass::kElementwise:
      return {0x6c, 0xc0, 0xe8, 74};
    case WorkClass::kReduction:
      return {0x0f, 0x76, 0x7f, 30};
    case WorkClass::kOptimizer:
      return {0x8f, 0xd0, 0xb0, 115};
    case WorkClass::kCopy:
      return {0xa9, 0xb9, 0xe6, 146};
    case WorkClass::kCommunication:
      return {0x43, 0x38, 0x8f, 61};
    case WorkClass::kOther:
      break;
  }
  return {0x8a, 0x9a, 0xab, 103};
}

// As the cause for which a device idles.
constexpr Color color_of(HostWork work) {
  switch (work) {
    case HostWork::kDataLoading:
      return {0xc2, 0x4a, 0x10, 130};
    case HostWork::kSync:
      return {0xd9, 0x2f, 0x3a, 160};
    case HostWork::kLaunching:
      return {0xf0, 0x9a, 0x2a, 214};
    case HostWork::kPython:
      return {0xf2, 0xd0, 0x54, 221};
    case HostWork::kOperators:
      return {0xdb, 0xb0, 0x8a, 180};
    case HostWork::kCopies:
      return {0x8f, 0x5a, 0x2b, 94};
    case HostWork::kAllocator:
      return {0xa8, 0x32, 0x6b, 125};
    case HostWork::kCompilation:
      return {0xee, 0x8a, 0xa8, 211};
    case HostWork::kGarbageCollection:
      return {0x7a, 0x22, 0x22, 88};
    case HostWork::kWaiting:
      return {0xb0, 0x3a, 0x8c, 133};
    case HostWork::kCommunication:
      return {0x43, 0x38, 0x8f, 61};
    case HostWork::kScopes:
      return {0xb5, 0x89, 0x00, 136};
    case HostWork::kUnknown:
      break;
  }
  return {0xbd, 0xb2, 0xa6, 248};
}

// What the host does while nobody needs to wait for it: what computes is cool there, too.
struct HostDoing {
  HostWork work;
};

// The kind of calls that such work is done in; kOther where it is none of its own: then the work tells more.
constexpr Kind kind_of(HostDoing doing) {
  switch (doing.work) {
    case HostWork::kOperators:
      return Kind::kOperator;
    case HostWork::kPython:
      return Kind::kPython;
    case HostWork::kScopes:
      return Kind::kAnnotation;
    default:
      return Kind::kOther;
  }
}
constexpr bool is_told_by_kind(HostDoing doing) {
  return kind_of(doing) != Kind::kOther || doing.work == HostWork::kUnknown;
}
constexpr Color color_of(HostDoing doing) {
  return is_told_by_kind(doing) ? color_of(kind_of(doing)) : color_of(doing.work);
}

// A device's work, a cause, or what the host does.
template <typename Take>
auto taken_as_drawn(const BreakdownPart& part, Take take) {
  if (const auto* work = std::get_if<HostWork>(&part.what); work && !part.is_idle) return take(HostDoing{*work});
  return std::visit(take, part.what);
}

inline Color color_of(const BreakdownPart& part) {
  return taken_as_drawn(part, [](auto what) { return color_of(what); });
}

constexpr double luminance_of(Color color) { return 0.2126 * color.red + 0.7152 * color.green + 0.0722 * color.blue; }

// Dark colors would drown on a dark ground: they get a quarter of white.
constexpr Color on_dark_ground(Color color) {
  constexpr double kDark = 100;
  if (luminance_of(color) >= kDark) return color;
  const auto lighter = [](std::uint8_t part) { return static_cast<std::uint8_t>(part + (255 - part) / 4); };
  return {lighter(color.red), lighter(color.green), lighter(color.blue), color.terminal};
}

// The class of the report's style sheet that has the color: "w0", "w1", … for work, "h0", "h1", … for causes, "d0",
// "d1", … for what the host does, "k0", "k1", … for kinds.
inline std::string style_class(WorkClass work) {
  return std::string("w").append(std::to_string(static_cast<int>(work)));
}
inline std::string style_class(HostWork work) {
  return std::string("h").append(std::to_string(static_cast<int>(work)));
}
inline std::string style_class(HostDoing doing) {
  return std::string("d").append(std::to_string(static_cast<int>(doing.work)));
}
inline std::string style_class(Kind kind) { return std::string("k").append(std::to_string(static_cast<int>(kind))); }
inline std::string style_class(const BreakdownPart& part) {
  return taken_as_drawn(part, [](auto what) { return style_class(what); });
}

// How text is made for a terminal or a pipe.
struct TextStyle {
  std::size_t width = 80;
  bool has_color = false;

  std::string colored(std::string_view text, Color color) const {
    return wrapped(text, "38;5;" + std::to_string(color.terminal));
  }
  std::string bold(std::string_view text) const { return wrapped(text, "1"); }
  std::string faint(std::string_view text) const { return wrapped(text, "2"); }

 private:
  std::string wrapped(std::string_view text, std::string_view code) const {
    if (!has_color || text.empty()) return std::string(text);
    return std::string("\x1b[").append(code).append("m").append(text).append("\x1b[0m");
  }
};

}  // namespace telltale
