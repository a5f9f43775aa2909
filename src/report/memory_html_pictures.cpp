#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "report/html_text.h"
#include "report/memory_html_parts.h"
#include "report/memory_words.h"
#include "report/treemap.h"

namespace telltale::html {
namespace {

constexpr std::size_t kMostSegments = 200;
constexpr std::size_t kMostModules = 40;
constexpr double kNarrowest = 4;  // of a segment's row, so that it can be seen

constexpr double kRowHeight = 10;  // of a segment

// As PyTorch names them: 0 is the default one, others are handles.
std::string stream_text(std::uint64_t stream) { return stream == 0 ? "default" : fmt::format("{:#x}", stream); }

}  // namespace

std::string rectangle(double x, double y, double width, double height, std::string_view style, std::string_view hint) {
  return fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                     style, html_number(x), html_number(y), html_number(width), html_number(height),
                     html_escaped(hint));
}

std::string drawing(double height, std::string_view label, std::string_view body) {
  return fmt::format(
      "<svg class=\"memory\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>\n",
      kWidth, html_number(height), label, body);
}

std::string style_class(MemoryUse use) { return fmt::format("m{}", static_cast<int>(use)); }

std::string memory_style_sheet() {
  std::string css =
      "svg.memory { display: block; width: 100%; border-radius: 4px; background: var(--raised); }\n"
      "svg.memory rect { shape-rendering: crispEdges; }\nsvg.memory rect:hover { opacity: .75; }\n"
      "svg.memory .free { fill: var(--line); }\n"
      "svg.memory .probe { fill: transparent; }\nsvg.memory .probe:hover { fill: var(--ink); opacity: .12; }\n"
      "svg.memory .tile { fill: #5b6773; stroke: var(--ground); stroke-width: 2; }\n"
      "svg.memory .other { fill: #707d8a; }\n"
      "svg.memory .scale { stroke: var(--line); vector-effect: non-scaling-stroke; }\n"
      "svg.memory .reserved { fill: none; stroke: var(--ink); stroke-dasharray: 4 3; "
      "vector-effect: non-scaling-stroke; }\n"
      ".axes { position: relative; margin: 0 0 1.6rem 5rem; }\n"
      ".axes span { position: absolute; font-size: .78rem; line-height: 1; color: var(--soft); white-space: nowrap; }\n"
      ".axes .bytes { right: 100%; margin-right: .5rem; transform: translateY(-50%); }\n"
      ".axes .time { top: 100%; margin-top: .4rem; transform: translateX(-50%); }\n"
      ".axes .first { transform: none; }\n.axes .last { transform: translateX(-100%); }\n"
      ".axes .line { right: .4rem; padding: .1rem .3rem; background: var(--ground); color: var(--ink); }\n"
      ".map { display: grid; grid-template-columns: auto auto 1fr auto auto; gap: .25rem .75rem; align-items: center; "
      "}\n"
      ".map svg { height: 1rem; background: none; }\n.map span { font-size: .82rem; color: var(--soft); }\n";
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

std::string address_map(const std::vector<MappedSegment>& segments, const Trace& trace) {
  std::vector<const MappedSegment*> shown;
  for (const MappedSegment& segment : segments) shown.push_back(&segment);
  if (shown.size() > kMostSegments) {
    std::ranges::stable_sort(shown, std::ranges::greater{}, [](const MappedSegment* each) { return each->bytes; });
    shown.resize(kMostSegments);
    std::ranges::sort(shown, {}, [](const MappedSegment* each) { return each->address; });
  }
  if (shown.empty()) return {};
  const std::int64_t largest =
      (*std::ranges::max_element(shown, {}, [](const MappedSegment* each) { return each->bytes; }))->bytes;
  std::string rows = "<span>address</span><span>stream</span><span></span><span>size</span><span>free</span>\n";
  for (const MappedSegment* const segment : shown) {
    const auto bytes = static_cast<double>(std::max<std::int64_t>(1, segment->bytes));
    const double width = std::max(kNarrowest, kWidth * bytes / static_cast<double>(std::max<std::int64_t>(1, largest)));
    std::string body;
    for (const MappedBlock& block : segment->blocks) {
      const double part = static_cast<double>(block.bytes) / bytes * width;
      if (part < 0.2) continue;  // nobody could see it
      body += rectangle(static_cast<double>(block.offset) / bytes * width, 0, part, kRowHeight,
                        block.use ? style_class(*block.use) : "free",
                        fmt::format("{} {}", format_bytes(block.bytes), block.use ? words_for(*block.use) : "free"));
    }
    const std::string_view pool = trace.strings[segment->pool];
    rows += fmt::format("<span>{:#x}</span><span>{}{}</span>{}<span>{}</span><span>{}</span>\n", segment->address,
                        stream_text(segment->stream), pool.empty() ? "" : html_escaped(fmt::format(", pool {}", pool)),
                        drawing(kRowHeight, "a segment", body), format_bytes(segment->bytes),
                        format_bytes(segment->bytes - segment->used));
  }
  return "<div class=\"map\">\n" + rows + "</div>\n";
}

std::string module_treemap(const DeviceCauses& device) {
  const auto modules = device.peak.modules | std::views::take(kMostModules);
  std::vector<double> bytes;
  for (const NamedBytes& module : modules) bytes.push_back(static_cast<double>(module.bytes));
  if (bytes.empty() || bytes.front() <= 0) return {};
  if (device.peak.modules.size() == 1 && device.peak.modules.front().name.empty()) return {};
  const std::vector<Tile> tiles = treemap(bytes, kWidth, kHeight);
  std::string body;
  std::size_t number = 0;
  for (const NamedBytes& module : modules) {
    const Tile& tile = tiles[number];
    const std::string name = module.name.empty() ? "outside of modules" : module.name;
    body += rectangle(tile.x, tile.y, tile.width, tile.height, number++ % 2 == 0 ? "tile" : "tile other",
                      fmt::format("{} {}", format_bytes(module.bytes), name));
    if (tile.width > 60 && tile.height > 18)
      body += fmt::format("<text x=\"{}\" y=\"{}\" font-size=\"11\" fill=\"#fff\" pointer-events=\"none\">{}</text>\n",
                          html_number(tile.x + 5), html_number(tile.y + 14),
                          html_cut(name, static_cast<std::size_t>(tile.width / 7)));
  }
  return drawing(kHeight, "what stands at the peak, by module", body);
}

}  // namespace telltale::html
