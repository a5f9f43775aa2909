#include "answers/view_colors.h"

#include <fmt/format.h>

#include "report/analyze_words.h"
#include "report/memory_words.h"
#include "report/palette.h"

namespace telltale::answers {
namespace {

std::string hex(Color color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

std::string_view label_of(Kind kind) {
  switch (kind) {
    case Kind::kPython:
      return "Python";
    case Kind::kRuntime:
      return "runtime call";
    case Kind::kDriver:
      return "driver call";
    case Kind::kDeviceAnnotation:
      return "annotation on the device";
    case Kind::kDeviceOther:
      return "other device work";
    case Kind::kSync:
      return "synchronization";
    case Kind::kMemcpy:
      return "memory copy";
    case Kind::kMemset:
      return "memory fill";
    case Kind::kAsync:
      return "span of no thread";
    case Kind::kOther:
      return "other host work";
    default:
      return name_of(kind);
  }
}

std::vector<ViewColor> all_colors() {
  std::vector<ViewColor> colors;
  const auto add = [&](std::string word, Color color) {
    colors.push_back({std::move(word), hex(color), hex(on_dark_ground(color))});
  };
  for (const Kind kind : kKinds) add(std::string(label_of(kind)), color_of(kind));
  for (int i = 0; i < kWorkClassCount; ++i) {
    const auto work = static_cast<WorkClass>(i);
    add(std::string(telltale::label_of(work)), color_of(work));
  }
  for (int i = 0; i < kHostWorkCount; ++i) {
    const auto cause = static_cast<HostWork>(i);
    add(std::string("idle: ").append(telltale::label_of(cause)), color_of(cause));
  }
  for (std::size_t i = 0; i < kMemoryUseCount; ++i) {
    const auto use = static_cast<MemoryUse>(i);
    add(std::string("memory: ").append(words_for(use)), color_of(use));
  }
  return colors;
}

}  // namespace

const std::vector<ViewColor>& view_colors() {
  static const std::vector<ViewColor> colors = all_colors();
  return colors;
}

ColorIndex color_index(Kind kind) { return static_cast<ColorIndex>(kind); }
ColorIndex color_index(WorkClass work) { return static_cast<ColorIndex>(kKindCount + static_cast<int>(work)); }
ColorIndex color_index(HostWork cause) {
  return static_cast<ColorIndex>(kKindCount + kWorkClassCount + static_cast<int>(cause));
}
ColorIndex color_index(MemoryUse use) {
  return static_cast<ColorIndex>(kKindCount + kWorkClassCount + kHostWorkCount + static_cast<int>(use));
}

}  // namespace telltale::answers
