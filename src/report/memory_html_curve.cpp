#include <fmt/format.h>

#include <algorithm>
#include <ranges>

#include "base/amounts.h"
#include "report/html_text.h"
#include "report/memory_html_parts.h"
#include "report/memory_words.h"
#include "report/text_width.h"

namespace telltale::html {
namespace {

constexpr std::size_t kMostStretches = 300;
constexpr std::size_t kMostNamed = 6;
constexpr std::size_t kWidestName = 90;
constexpr int kMostBytesMarks = 6, kTimeMarks = 5;

class Curve {
 public:
  explicit Curve(const DeviceCauses& device)
      : timeline_(device.timeline),
        begin_(timeline_.levels.front().time),
        length_(std::max<Nanoseconds>(1, timeline_.levels.back().time - begin_)),
        most_(std::max<std::int64_t>({1, device.peak.allocated, device.peak.reserved})) {}

  std::string drawn() const {
    return "<div class=\"axes\">\n" +
           drawing(kHeight, "memory over time by use", scale() + layers() + reserved() + probes()) + labels() +
           "</div>\n";
  }

 private:
  double x_of(Nanoseconds time) const {
    return static_cast<double>(time - begin_) / static_cast<double>(length_) * kWidth;
  }
  double height_of(std::int64_t bytes) const {
    return static_cast<double>(bytes) / static_cast<double>(most_) * kHeight;
  }
  bool has_reserved() const {
    return std::ranges::any_of(timeline_.levels, [](const MemoryPoint& level) { return level.reserved > 0; });
  }

  // A power of two, so that marks are round in the units in which bytes are told.
  std::int64_t bytes_between_marks() const {
    std::int64_t between = 1;
    while (most_ / between > kMostBytesMarks) between *= 2;
    return between;
  }

  std::string scale() const {
    std::string lines;
    for (std::int64_t bytes = 0; bytes <= most_; bytes += bytes_between_marks())
      lines += fmt::format("<line class=\"scale\" x1=\"0\" x2=\"{0}\" y1=\"{1}\" y2=\"{1}\"/>\n", kWidth,
                           html_number(kHeight - height_of(bytes)));
    return lines;
  }

  std::string layers() const {
    std::string body;
    std::vector<double> below(timeline_.uses.size(), 0);
    for (const MemoryUse use : stacked_uses()) {
      const auto column = static_cast<std::size_t>(use);
      if (std::ranges::none_of(timeline_.uses, [&](const UsesAt& point) { return point.bytes[column] > 0; })) continue;
      std::string upper, lower;
      for (std::size_t i = 0; i < timeline_.uses.size(); ++i) {
        const double from = x_of(timeline_.uses[i].time);
        const double to = i + 1 < timeline_.uses.size() ? x_of(timeline_.uses[i + 1].time) : kWidth;
        const double top = below[i] + height_of(std::max<std::int64_t>(0, timeline_.uses[i].bytes[column]));
        const std::string low = html_number(kHeight - below[i]), high = html_number(kHeight - top);
        upper +=
            fmt::format("{}{} {}L{} {}", upper.empty() ? "M" : "L", html_number(from), high, html_number(to), high);
        lower = fmt::format("L{} {}L{} {}", html_number(to), low, html_number(from), low) + lower;
        below[i] = top;
      }
      body += fmt::format("<path class=\"{}\" d=\"{}{}Z\"/>\n", style_class(use), upper, lower);
    }
    return body;
  }

  std::string reserved() const {
    if (!has_reserved()) return {};
    std::string path;
    for (const MemoryPoint& level : timeline_.levels) {
      const std::string x = html_number(x_of(level.time)), y = html_number(kHeight - height_of(level.reserved));
      path += path.empty() ? fmt::format("M{} {}", x, y) : fmt::format("H{}V{}", x, y);
    }
    return fmt::format("<path class=\"reserved\" d=\"{}H{}\"/>\n", path, kWidth);
  }

  std::string probes() const {
    std::string body;
    const std::size_t stride = timeline_.levels.size() / kMostStretches + 1;
    for (std::size_t i = 0; i < timeline_.levels.size(); i += stride) {
      // Of the levels of a stretch, the highest.
      const auto end = std::min(i + stride, timeline_.levels.size());
      const auto highest = std::ranges::max_element(timeline_.levels.begin() + static_cast<std::ptrdiff_t>(i),
                                                    timeline_.levels.begin() + static_cast<std::ptrdiff_t>(end), {},
                                                    &MemoryPoint::allocated);
      const double from = x_of(timeline_.levels[i].time);
      const double to = end < timeline_.levels.size() ? x_of(timeline_.levels[end].time) : kWidth;
      body += rectangle(from, 0, std::max(0.5, to - from), kHeight, "probe",
                        hint(static_cast<std::size_t>(highest - timeline_.levels.begin())));
    }
    return body;
  }

  // "1.20 s: 3.00 GiB allocated, 4.00 GiB reserved", what that is for, and the largest tensors, a line each.
  std::string hint(std::size_t at) const {
    const MemoryPoint& level = timeline_.levels[at];
    std::vector<std::pair<std::int64_t, MemoryUse>> rows;
    for (const MemoryUse use : stacked_uses())
      if (const std::int64_t bytes = timeline_.uses[at].bytes[static_cast<std::size_t>(use)]; bytes > 0)
        rows.emplace_back(bytes, use);
    std::ranges::stable_sort(rows, std::ranges::greater{}, [](const auto& row) { return row.first; });
    std::string text = fmt::format("{}: {} allocated", format_time(level.time), format_bytes(level.allocated));
    if (!timeline_.requested.empty()) text += fmt::format(", {} asked for", format_bytes(timeline_.requested[at]));
    if (level.reserved > 0) text += fmt::format(", {} reserved", format_bytes(level.reserved));
    if (!timeline_.device_used.empty())
      text += fmt::format(", {} in use on the device", format_bytes(timeline_.device_used[at]));
    for (const auto& [bytes, use] : rows | std::views::take(kMostNamed))
      text += fmt::format("\n{} {}", format_bytes(bytes), words_for(use));
    if (at >= timeline_.largest.size() || timeline_.largest[at].empty()) return text;
    text += "\nlargest:";
    for (const std::size_t place : timeline_.largest[at]) {
      const PeakTensor& tensor = timeline_.tensors[place];
      text += fmt::format("\n{} {}", format_bytes(tensor.bytes), cut_to_width(maker_text(tensor), kWidestName));
    }
    return text;
  }

  std::string labels() const {
    std::string text;
    for (std::int64_t bytes = 0; bytes <= most_; bytes += bytes_between_marks())
      text += fmt::format("<span class=\"bytes\" style=\"top:{}%\">{}</span>\n",
                          html_number(100 - 100 * height_of(bytes) / kHeight), format_bytes(bytes));
    for (int mark = 0; mark < kTimeMarks; ++mark) {
      const double share = static_cast<double>(mark) / (kTimeMarks - 1);
      const std::string_view place = mark == 0 ? " first" : mark == kTimeMarks - 1 ? " last" : "";
      const auto passed = static_cast<Nanoseconds>(share * static_cast<double>(length_));
      text += fmt::format("<span class=\"time{}\" style=\"left:{}%\">{}</span>\n", place, html_number(100 * share),
                          format_time(begin_ + passed));
    }
    if (has_reserved()) {
      const double height = height_of(timeline_.levels.back().reserved) / kHeight;
      text +=
          fmt::format("<span class=\"line\" style=\"top:{}%\">reserved</span>\n", html_number(100 - 100 * height + 1));
    }
    return text;
  }

  const MemoryTimeline& timeline_;
  Nanoseconds begin_, length_;
  std::int64_t most_;
};

}  // namespace

std::string stacked_curve(const DeviceCauses& device) {
  return device.has_history && !device.timeline.levels.empty() ? Curve(device).drawn() : std::string();
}

}  // namespace telltale::html
