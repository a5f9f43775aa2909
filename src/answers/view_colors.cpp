#include "answers/view_colors.h"

#include <fmt/format.h>

#include "report/analyze_words.h"
#include "report/kind_words.h"
#include "report/memory_words.h"
#include "report/palette.h"

namespace telltale::answers {
namespace {

std::string hex(Color color) { return fmt::format("#{:02x}{:02x}{:02x}", color.red, color.green, color.blue); }

// Others have that of a kind or, as nothing but parts of calls communicates, of a device's work.
constexpr bool has_own_color(HostDoing doing) {
  return !is_told_by_kind(doing) && doing.work != HostWork::kCommunication;
}

constexpr int kFirstDoing = kKindCount + kWorkClassCount;

// How many of those before it have a color of their own.
constexpr int place_among_doings(HostWork before) {
  int place = 0;
  for (int i = 0; i < static_cast<int>(before); ++i)
    place += has_own_color(HostDoing{static_cast<HostWork>(i)}) ? 1 : 0;
  return place;
}

constexpr int kFirstCause = kFirstDoing + place_among_doings(static_cast<HostWork>(kHostWorkCount));

std::vector<ViewColor> all_colors() {
  std::vector<ViewColor> colors;
  const auto add = [&](std::string word, Color color) {
    colors.push_back({std::move(word), hex(color), hex(on_dark_ground(color))});
  };
  for (const Kind kind : kKinds) add(std::string(telltale::label_of(kind)), color_of(kind));
  for (int i = 0; i < kWorkClassCount; ++i) {
    const auto work = static_cast<WorkClass>(i);
    add(std::string(telltale::label_of(work)), color_of(work));
  }
  for (int i = 0; i < kHostWorkCount; ++i) {
    const HostDoing doing{static_cast<HostWork>(i)};
    if (has_own_color(doing)) add(std::string(telltale::label_of(doing.work)), color_of(doing));
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
ColorIndex color_index(HostDoing doing) {
  if (doing.work == HostWork::kCommunication) return color_index(WorkClass::kCommunication);
  if (is_told_by_kind(doing)) return color_index(kind_of(doing));
  return static_cast<ColorIndex>(kFirstDoing + place_among_doings(doing.work));
}
ColorIndex color_index(Kind kind, HostWork work) {
  return is_told_by_kind(HostDoing{work}) ? color_index(kind) : color_index(HostDoing{work});
}
ColorIndex color_index(HostWork cause) { return static_cast<ColorIndex>(kFirstCause + static_cast<int>(cause)); }
ColorIndex color_index(MemoryUse use) {
  return static_cast<ColorIndex>(kFirstCause + kHostWorkCount + static_cast<int>(use));
}
ColorIndex color_index(const BreakdownPart& part) {
  return taken_as_drawn(part, [](auto what) { return color_index(what); });
}

}  // namespace telltale::answers
