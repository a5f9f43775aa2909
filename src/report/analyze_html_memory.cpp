#include <fmt/format.h>

#include <algorithm>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/html_text.h"

namespace telltale::html {
namespace {

constexpr double kWidth = 1000, kHeight = 100;  // of the drawing, stretched to its room
constexpr double kHeadroom = 0.92;              // of the height that the highest value takes
constexpr std::size_t kMostPoints = 2000;

// Of each run of neighbors the lowest and the highest, in their order: what is left out lies between.
std::vector<MemoryPoint> thinned(const std::vector<MemoryPoint>& curve) {
  if (curve.size() <= kMostPoints) return curve;
  const std::size_t run = (2 * curve.size() + kMostPoints - 1) / kMostPoints;
  std::vector<MemoryPoint> kept;
  for (std::size_t first = 0; first < curve.size(); first += run) {
    const auto begin = curve.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = curve.begin() + static_cast<std::ptrdiff_t>(std::min(first + run, curve.size()));
    auto [low, high] = std::ranges::minmax_element(begin, end, {}, &MemoryPoint::allocated);
    if (high < low) std::swap(low, high);
    kept.push_back(*low);
    if (low != high) kept.push_back(*high);
  }
  return kept;
}

class MemoryPicture {
 public:
  explicit MemoryPicture(const MemorySummary& memory)
      : memory_(memory),
        curve_(thinned(memory.curve)),
        begin_(curve_.front().time),
        length_(std::max<Nanoseconds>(1, curve_.back().time - begin_)),
        most_(static_cast<double>(std::max<std::int64_t>({1, memory.peak_allocated, memory.peak_reserved}))) {}

  double percent(Nanoseconds time) const { return std::clamp(percent_of(time - begin_, length_), 0.0, 100.0); }
  double top_percent(std::int64_t bytes) const { return 100 * (1 - kHeadroom * static_cast<double>(bytes) / most_); }
  Nanoseconds length() const { return length_; }

  // Steps of which there are none, or too many to be told apart, have no lines.
  static bool has_step_lines(const Diagnosis& diagnosis) {
    return diagnosis.is_about_steps && diagnosis.timing.steps.size() <= kMostStepLines;
  }

  std::string drawing(const Diagnosis& diagnosis) const {
    std::string text = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"memory over time, peak "
        "{}\">\n",
        kWidth, kHeight, format_bytes(memory_.peak_allocated));
    if (has_step_lines(diagnosis)) {
      for (const StepSpan& step : diagnosis.timing.steps) {
        const std::string x = html_number(percent(step.host.begin) * kWidth / 100);
        text += fmt::format("<line class=\"step-line\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/>", x, kHeight);
      }
    }
    const std::string line = steps_path(&MemoryPoint::allocated);
    text += fmt::format("<path class=\"allocated\" d=\"{}V{}H0Z\"/>\n<path class=\"allocated-line\" d=\"{}\"/>\n", line,
                        kHeight, line);
    if (memory_.peak_reserved > 0)
      text += fmt::format("<path class=\"reserved\" d=\"{}\"/>\n", steps_path(&MemoryPoint::reserved));
    const std::string peak = html_number(percent(memory_.peak_time) * kWidth / 100);
    text += fmt::format("<line class=\"peak-line\" x1=\"{0}\" x2=\"{0}\" y1=\"0\" y2=\"{1}\"/>\n", peak,
                        html_number(top_percent(memory_.peak_allocated) * kHeight / 100));
    return text + "</svg>\n";
  }

 private:
  static constexpr std::size_t kMostStepLines = 60;

  std::string steps_path(std::int64_t MemoryPoint::* value) const {
    std::string path;
    for (const MemoryPoint& point : curve_) {
      const std::string x = html_number(percent(point.time) * kWidth / 100);
      const std::string y = html_number(top_percent(std::max<std::int64_t>(0, point.*value)) * kHeight / 100);
      path += path.empty() ? fmt::format("M{} {}", x, y) : fmt::format("H{}V{}", x, y);
    }
    return path + fmt::format("H{}", kWidth);
  }

  const MemorySummary& memory_;
  std::vector<MemoryPoint> curve_;
  Nanoseconds begin_, length_;
  double most_;
};

std::string labels_of(const MemorySummary& memory, const MemoryPicture& picture) {
  const double at = picture.percent(memory.peak_time);
  std::string text = fmt::format(
      "<span class=\"at peak{}\" style=\"left:{}%;bottom:100%\">peak {} allocated, at {}</span>\n",
      at > 50 ? " left" : "", html_number(at), format_bytes(memory.peak_allocated), format_time(memory.peak_time));
  if (memory.peak_reserved > 0) {
    text +=
        fmt::format("<span class=\"at\" style=\"{}:.4rem;top:{}%\">reserved {}</span>\n", at > 50 ? "left" : "right",
                    html_number(picture.top_percent(memory.peak_reserved) + 1), format_bytes(memory.peak_reserved));
  }
  return text;
}

std::string caption_of(const MemorySummary& memory, const MemoryPicture& picture, const Diagnosis& diagnosis) {
  std::string text = fmt::format(
      "{}, over {}{}.",
      memory.device == kHost ? "Tensors on the host" : fmt::format("{} {}", diagnosis.device_word, memory.device),
      format_time(picture.length()),
      MemoryPicture::has_step_lines(diagnosis) ? "; lines mark the starts of steps" : "");
  constexpr double kLeastGrowth = 0.001;  // of the peak
  if (memory.growth_per_step.value_or(0) > kLeastGrowth * static_cast<double>(memory.peak_allocated)) {
    text += fmt::format(" What stays from step to step grows by {} per step.",
                        format_bytes(static_cast<std::int64_t>(*memory.growth_per_step)));
  }
  if (memory.device_allocations + memory.device_frees > 0) {
    text +=
        fmt::format(" A step calls cudaMalloc {} and cudaFree {}, for {} in all.", how_often(memory.device_allocations),
                    how_often(memory.device_frees), format_time(memory.allocator_call_ns));
  }
  return text;
}

}  // namespace

std::string memory_section(const Diagnosis& diagnosis) {
  if (!diagnosis.memory || diagnosis.memory->curve.empty()) return {};
  const MemorySummary& memory = *diagnosis.memory;
  const MemoryPicture picture(memory);
  return section("memory", "Memory over time", caption_of(memory, picture, diagnosis),
                 "<div class=\"curve\">\n" + picture.drawing(diagnosis) + labels_of(memory, picture) + "</div>\n");
}

}  // namespace telltale::html
