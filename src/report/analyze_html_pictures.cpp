#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/kernel_name.h"
#include "report/palette.h"

namespace telltale::html {
namespace {

constexpr double kWidth = 1000, kHeight = 100;  // of every drawing, stretched to its room
constexpr double kLeastWidth = 0.5;             // so that nothing vanishes
constexpr double kLeastForLabel = 8;            // percent of the lane that a label needs to be read
constexpr std::size_t kLongestName = 70;

class Scale {
 public:
  explicit Scale(Interval window) : window_(window) {}
  double percent(Nanoseconds time) const { return percent_of(time - window_.begin, window_.length()); }
  std::string x(Nanoseconds time) const { return html_number(percent(time) * kWidth / 100); }
  std::string width(Interval when) const {
    return html_number(std::max(kLeastWidth, percent_of(when.length(), window_.length()) * kWidth / 100));
  }
  Nanoseconds since_start(Nanoseconds time) const { return time - window_.begin; }

 private:
  Interval window_;
};

std::string event_label(const Trace& trace, EventId event) {
  if (event == kNoEvent) return {};
  const std::string_view name = trace.name(event);
  return trace.events.kind[event] == Kind::kKernel ? html_cut(short_kernel_name(name), kLongestName)
                                                   : html_cut(name, kLongestName);
}

template <typename Work>
std::string title_of(const StripSpan<Work>& span, const Trace& trace, const Scale& scale) {
  const std::string name = event_label(trace, span.event);
  const std::string head =
      name.empty() ? std::string(label_of(span.work)) : fmt::format("{}: {}", label_of(span.work), name);
  const std::string at = format_time(scale.since_start(span.when.begin));
  if (span.events == 1) return fmt::format("{}, {} at {}", head, format_time(span.busy), at);
  return fmt::format("{} and {} more, {} busy of {} at {}", head, span.events - 1, format_time(span.busy),
                     format_time(span.when.length()), at);
}

template <typename Work>
std::string rectangles(const std::vector<StripSpan<Work>>& spans, const Trace& trace, const Scale& scale) {
  std::string text;
  for (const StripSpan<Work>& span : spans) {
    const double height = std::max(4.0, kHeight * span.share_busy());
    text += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                        style_class(span.work), scale.x(span.when.begin), html_number(kHeight - height),
                        scale.width(span.when), html_number(height), title_of(span, trace, scale));
  }
  return text;
}

// What is wide enough is named where it stands.
template <typename Work>
std::string tags(const std::vector<StripSpan<Work>>& spans, const Scale& scale) {
  std::string text;
  for (const StripSpan<Work>& span : spans) {
    const double left = scale.percent(span.when.begin), width = scale.percent(span.when.end) - left;
    if (width < kLeastForLabel || span.share_busy() < 0.9) continue;
    text += fmt::format("<span class=\"{} tag\" style=\"left:{}%;width:{}%\">{}</span>\n", style_class(span.work),
                        html_number(left), html_number(width), label_of(span.work));
  }
  return text;
}

std::string lane(std::string_view kind, std::string_view name, std::string_view spoken, std::string_view drawing,
                 std::string_view above = {}) {
  return fmt::format(
      "<div class=\"lane {}\"><span class=\"name\" title=\"{}\">{}</span><div class=\"room\">"
      "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" "
      "aria-label=\"{}\">\n{}</svg>{}</div></div>\n",
      kind, name, name, kWidth, kHeight, spoken, drawing, above);
}

template <typename Work>
std::string track_lane(std::string_view kind, const StripLane<Work>& drawn, const Trace& trace, const Scale& scale,
                       Interval window) {
  const std::string name = html_cut(trace.strings[trace.tracks[drawn.track].name], kLongestName);
  const std::string spoken =
      fmt::format("{}, busy {} of the step", name, format_percent(percent_of(drawn.busy, window.length())));
  return lane(kind, name, spoken, rectangles(drawn.spans, trace, scale), tags(drawn.spans, scale));
}

// Round times, about six of them.
std::string axis(Interval window) {
  const double rough = static_cast<double>(window.length()) / 6;
  const double power = std::pow(10, std::floor(std::log10(std::max(1.0, rough))));
  const double digit = rough / power;
  const auto tick = static_cast<Nanoseconds>(power * (digit < 1.5 ? 1 : digit < 3.5 ? 2 : digit < 7.5 ? 5 : 10));
  std::string marks;
  for (Nanoseconds at = 0; at < window.length() - tick / 2; at += std::max<Nanoseconds>(1, tick)) {
    marks += fmt::format("<span style=\"left:{}%\">{}</span>\n", html_number(percent_of(at, window.length())),
                         at == 0 ? "0" : format_time(at));
  }
  return "<div class=\"lane axis\" aria-hidden=\"true\"><span class=\"name\"></span><div class=\"room\">\n" + marks +
         "</div></div>\n";
}

// The deepest of each of a few hundred columns, as an area.
std::string queue_lane(const LaunchQueue& queue, Interval window) {
  constexpr std::size_t kColumns = 400;
  std::array<std::int32_t, kColumns> deepest{};
  const auto column_of = [&](Nanoseconds time) {
    const double share = percent_of(time - window.begin, window.length()) / 100;
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * (kColumns - 1));
  };
  for (std::size_t i = 0; i < queue.points.size(); ++i) {
    const Nanoseconds end = i + 1 < queue.points.size() ? queue.points[i + 1].time : window.end;
    if (end <= window.begin || queue.points[i].time >= window.end) continue;
    for (std::size_t column = column_of(queue.points[i].time); column <= column_of(end); ++column) {
      deepest[column] = std::max(deepest[column], queue.points[i].depth);
    }
  }
  const std::int32_t most = std::ranges::max(deepest);
  if (most == 0) return {};
  std::string path = fmt::format("M0 {}", kHeight);
  for (std::size_t column = 0; column < kColumns; ++column) {
    const double y = kHeight * (1 - 0.95 * deepest[column] / most);
    path += fmt::format("V{}H{}", html_number(y), html_number(kWidth * static_cast<double>(column + 1) / kColumns));
  }
  const std::string name = fmt::format("queued, at most {}", format_count(most));
  return lane("queue", name, "launched work that waits for the GPU, at most " + format_count(most),
              fmt::format("<path class=\"depth\" d=\"{}V{}Z\"/>", path, kHeight));
}

std::string keys_of(const StepStrip& strip) {
  std::set<std::pair<std::string, std::string_view>> works;
  for (const auto& stream : strip.streams) {
    for (const auto& span : stream.spans) works.emplace(style_class(span.work), label_of(span.work));
  }
  std::set<std::pair<std::string, std::string_view>> causes;
  for (const auto& span : strip.gaps) causes.emplace(style_class(span.work), label_of(span.work));
  for (const auto& thread : strip.threads) {
    for (const auto& span : thread.spans) causes.emplace(style_class(span.work), label_of(span.work));
  }
  std::string items;
  for (const auto* group : {&works, &causes}) {
    for (const auto& [style, words] : *group) items += fmt::format("<li>{}{}</li>\n", key_mark(style), words);
  }
  return "<ul class=\"keys\">\n" + items + "</ul>\n";
}

std::string left_out(const StepStrip& strip) {
  std::vector<std::string> less;
  if (strip.streams_left_out > 0) less.push_back(counted(static_cast<double>(strip.streams_left_out), "more stream"));
  if (strip.threads_left_out > 0) less.push_back(counted(static_cast<double>(strip.threads_left_out), "more thread"));
  return less.empty() ? std::string() : fmt::format(" Not shown, because less happens there: {}.", listed(less));
}

constexpr double kHeadroom = 0.92;  // of the height that the highest value takes
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

  std::string drawing(const StepTiming& timing) const {
    std::string text = fmt::format(
        "<svg viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"memory over time, peak "
        "{}\">\n",
        kWidth, kHeight, format_bytes(memory_.peak_allocated));
    if (timing.steps.size() <= kMostStepLines) {
      for (const StepSpan& step : timing.steps) {
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

std::string caption_of(const MemorySummary& memory, const MemoryPicture& picture) {
  std::string text = fmt::format("{}, over {}; lines mark the starts of steps.",
                                 memory.device == kHost ? "Tensors on the host" : fmt::format("GPU {}", memory.device),
                                 format_time(picture.length()));
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

std::string strip_section(const Diagnosis& diagnosis, const Trace& trace) {
  const StepStrip& strip = diagnosis.strip;
  if (strip.window.length() <= 0 || (strip.streams.empty() && strip.threads.empty())) return {};
  const Scale scale(strip.window);
  std::string body = axis(strip.window);
  for (const auto& stream : strip.streams) body += track_lane("stream", stream, trace, scale, strip.window);
  if (!strip.gaps.empty()) {
    body += lane("gaps", "idle, by cause", "idle time of the GPU by cause", rectangles(strip.gaps, trace, scale),
                 tags(strip.gaps, scale));
  }
  if (!strip.streams.empty()) body += queue_lane(diagnosis.queue, strip.window);
  for (const auto& thread : strip.threads) body += track_lane("thread", thread, trace, scale, strip.window);

  const bool is_all = diagnosis.timing.source == StepSource::kWhole;
  const std::string caption = fmt::format(
      "{}, {}. Events too short to be told apart are drawn as one; its height shows how much of that time they fill.{}",
      is_all ? "All of it" : "A typical " + std::string(diagnosis.is_about_steps ? "step" : "stretch"),
      format_time(strip.window.length()), left_out(strip));
  const std::string_view title = diagnosis.is_about_steps ? "One step as it ran" : "How it ran";
  return section("strip", title, caption, body + keys_of(strip));
}

std::string memory_section(const Diagnosis& diagnosis) {
  if (!diagnosis.memory || diagnosis.memory->curve.empty()) return {};
  const MemorySummary& memory = *diagnosis.memory;
  const MemoryPicture picture(memory);
  return section(
      "memory", "Memory over time", caption_of(memory, picture),
      "<div class=\"curve\">\n" + picture.drawing(diagnosis.timing) + labels_of(memory, picture) + "</div>\n");
}

}  // namespace telltale::html
