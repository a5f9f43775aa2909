#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "report/html_text.h"
#include "report/memory_html_parts.h"
#include "report/memory_words.h"

namespace telltale::html {
namespace {

constexpr double kWidth = 1000, kHeight = 240;  // of the drawings, stretched to their room
constexpr std::size_t kMostStretches = 300, kMostSegments = 200;
constexpr std::size_t kMostNamed = 6;
constexpr std::size_t kMostModules = 40;

std::string rectangle(double x, double y, double width, double height, std::string_view style, std::string_view hint) {
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                     style, html_number(x), html_number(y), html_number(width), html_number(height),
                     html_escaped(hint));
}

std::string svg(double height, std::string_view label, std::string_view body) {
  return fmt::format(
      "<svg class=\"memory\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      kWidth, html_number(height), label, body);
}

// "1.20 s: 3.00 GiB; activations kept for backward 2.00 GiB, …"
std::string stretch_hint(const UsesAt& point, std::int64_t allocated) {
  std::vector<std::pair<std::int64_t, MemoryUse>> rows;
  for (const MemoryUse use : stacked_uses())
    if (const std::int64_t bytes = point.bytes[static_cast<std::size_t>(use)]; bytes > 0) rows.emplace_back(bytes, use);
  std::ranges::stable_sort(rows, std::ranges::greater{}, [](const auto& row) { return row.first; });
  std::string text = fmt::format("{}: {} allocated", format_time(point.time), format_bytes(allocated));
  for (const auto& [bytes, use] : rows | std::views::take(kMostNamed))
    text += fmt::format("\n{} {}", format_bytes(bytes), words_for(use));
  return text;
}

// The largest that stand at the peak, for the stretch of the peak.
std::string peak_hint(const DeviceCauses& device) {
  std::string text = "\nlargest:";
  for (const PeakTensor& tensor : device.peak.tensors | std::views::take(kMostNamed))
    text += fmt::format("\n{} {}", format_bytes(tensor.bytes), maker_text(tensor));
  return device.peak.tensors.empty() ? std::string() : text;
}

// Splits a rectangle among rows by falling size: each takes its share of the longer side of what is left.
struct Room {
  double x = 0, y = 0, width = kWidth, height = kHeight;
};

}  // namespace

std::string style_class(MemoryUse use) { return fmt::format("m{}", static_cast<int>(use)); }

std::string memory_style_sheet() {
  std::string css =
      "svg.memory { display: block; width: 100%; border-radius: 4px; background: var(--raised); }\n"
      "svg.memory rect { shape-rendering: crispEdges; }\nsvg.memory rect:hover { opacity: .75; }\n"
      "svg.memory .free { fill: var(--ground); stroke: var(--line); stroke-width: .5; }\n"
      "svg.memory .probe { fill: transparent; }\nsvg.memory .probe:hover { fill: var(--ink); opacity: .12; }\n"
      "svg.memory .tile { stroke: var(--ground); stroke-width: 2; }\n"
      ".map { display: grid; grid-template-columns: 7rem 1fr 7rem; gap: .25rem .75rem; align-items: center; }\n"
      ".map svg { height: 1rem; }\n.map span { font-size: .82rem; color: var(--soft); }\n";
  const auto colors = [&](bool is_dark) {
    std::string rules;
    for (std::size_t i = 0; i < kMemoryUseCount; ++i) {
      const Color plain = color_of(static_cast<MemoryUse>(i));
      const Color color = is_dark ? on_dark_ground(plain) : plain;
      rules += fmt::format(".m{0} {{ fill: rgb({1} {2} {3}); background: rgb({1} {2} {3}); }}\n", i, color.red,
                           color.green, color.blue);
    }
    return rules;
  };
  return css + colors(false) + "@media (prefers-color-scheme: dark) {\n" + colors(true) + "}\n";
}

std::string stacked_curve(const DeviceCauses& device) {
  const MemoryTimeline& timeline = device.timeline;
  if (timeline.uses.empty()) return {};
  const Nanoseconds begin = timeline.uses.front().time;
  const auto length = static_cast<double>(std::max<Nanoseconds>(1, timeline.uses.back().time - begin));
  const auto most = static_cast<double>(std::max<std::int64_t>({1, device.peak.allocated, device.peak.reserved}));
  const auto x_of = [&](Nanoseconds time) { return static_cast<double>(time - begin) / length * kWidth; };
  const auto height_of = [&](std::int64_t bytes) { return static_cast<double>(bytes) / most * kHeight; };

  std::string body;
  std::vector<double> below(timeline.uses.size(), 0);
  for (const MemoryUse use : stacked_uses()) {
    const auto column = static_cast<std::size_t>(use);
    if (std::ranges::none_of(timeline.uses, [&](const UsesAt& point) { return point.bytes[column] > 0; })) continue;
    std::string upper, lower;
    for (std::size_t i = 0; i < timeline.uses.size(); ++i) {
      const double from = x_of(timeline.uses[i].time);
      const double to = i + 1 < timeline.uses.size() ? x_of(timeline.uses[i + 1].time) : kWidth;
      const double top = below[i] + height_of(std::max<std::int64_t>(0, timeline.uses[i].bytes[column]));
      const std::string low = html_number(kHeight - below[i]), high = html_number(kHeight - top);
      upper += fmt::format("{}{} {}L{} {}", upper.empty() ? "M" : "L", html_number(from), high, html_number(to), high);
      lower = fmt::format("L{} {}L{} {}", html_number(to), low, html_number(from), low) + lower;
      below[i] = top;
    }
    body += fmt::format("<path class=\"{}\" d=\"{}{}Z\"/>\n", style_class(use), upper, lower);
  }
  const std::size_t stride = timeline.uses.size() / kMostStretches + 1;
  bool has_peak = false;
  for (std::size_t i = 0; i < timeline.uses.size(); i += stride) {
    const std::size_t next = std::min(i + stride, timeline.uses.size() - 1);
    const double from = x_of(timeline.uses[i].time), to = std::max(from + 0.5, x_of(timeline.uses[next].time));
    std::string hint = stretch_hint(timeline.uses[i], timeline.levels[i].allocated);
    if (!has_peak && timeline.uses[next].time >= device.peak.time) {
      has_peak = true;
      hint += peak_hint(device);
    }
    body += rectangle(from, 0, to - from, kHeight, "probe", hint);
  }
  return svg(kHeight, "memory over time by use", body);
}

std::string address_map(const std::vector<MappedSegment>& segments, const Trace& trace) {
  std::vector<const MappedSegment*> shown;
  for (const MappedSegment& segment : segments) shown.push_back(&segment);
  std::ranges::stable_sort(shown, std::ranges::greater{}, [](const MappedSegment* each) { return each->bytes; });
  if (shown.size() > kMostSegments) shown.resize(kMostSegments);
  std::string rows;
  for (const MappedSegment* const segment : shown) {
    std::string body;
    const double scale = kWidth / static_cast<double>(std::max<std::int64_t>(1, segment->bytes));
    for (const MappedBlock& block : segment->blocks) {
      const double width = static_cast<double>(block.bytes) * scale;
      if (width < 0.2) continue;  // nobody could see it
      body += rectangle(static_cast<double>(block.offset) * scale, 0, width, 10,
                        block.use ? style_class(*block.use) : "free",
                        fmt::format("{} {}", format_bytes(block.bytes), block.use ? words_for(*block.use) : "free"));
    }
    const std::string_view pool = trace.strings[segment->pool];
    rows += fmt::format("<span>{}{}</span>{}<span>{} free</span>\n", format_bytes(segment->bytes),
                        pool.empty() ? "" : html_escaped(fmt::format(", pool {}", pool)), svg(10, "a segment", body),
                        format_bytes(segment->bytes - segment->used));
  }
  return rows.empty() ? rows : "<div class=\"map\">\n" + rows + "</div>\n";
}

std::string module_treemap(const DeviceCauses& device) {
  const auto modules = device.peak.modules | std::views::take(kMostModules);
  double left = 0;
  for (const NamedBytes& module : modules) left += static_cast<double>(module.bytes);
  if (left <= 0 || (device.peak.modules.size() == 1 && device.peak.modules.front().name.empty())) return {};
  Room room;
  std::string body;
  std::size_t number = 0;
  for (const NamedBytes& module : modules) {
    const auto bytes = static_cast<double>(module.bytes);
    const double share = left <= 0 ? 1 : bytes / left;
    Room tile = room;
    // The drawing is as wide as a page and a quarter as high.
    if (room.width > room.height) {
      tile.width = room.width * share;
      room.x += tile.width;
      room.width -= tile.width;
    } else {
      tile.height = room.height * share;
      room.y += tile.height;
      room.height -= tile.height;
    }
    left -= bytes;
    const std::string name = module.name.empty() ? "outside of modules" : module.name;
    body += rectangle(tile.x, tile.y, tile.width, tile.height,
                      fmt::format("tile {}", style_class(stacked_uses()[number++ % stacked_uses().size()])),
                      fmt::format("{} {}", format_bytes(module.bytes), name));
    if (tile.width > 90 && tile.height > 18)
      body += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#fff\" pointer-events=\"none\">{}</text>\n",
                          html_number(tile.x + 5), html_number(tile.y + 14),
                          html_cut(name, static_cast<std::size_t>(tile.width / 7)));
  }
  return svg(kHeight, "what stands at the peak, by module", body);
}

}  // namespace telltale::html
