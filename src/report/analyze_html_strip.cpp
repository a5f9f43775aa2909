#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/amounts.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/html_text.h"
#include "report/palette.h"
#include "report/shown_names.h"

namespace telltale::html {
namespace {

constexpr double kWidth = 1000, kHeight = 100;  // of every drawing, stretched to its room
constexpr double kLeastWidth = 0.5;             // so that nothing vanishes
constexpr double kLeastForLabel = 8;            // percent of the lane that a label needs to be read
constexpr std::size_t kLongestName = 60;

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

// Names of events, each made once however often it is drawn: a file may have names of megabytes.
class Labels {
 public:
  explicit Labels(const Trace& trace) : trace_(trace) {}

  std::string_view of(EventId event) {
    if (event == kNoEvent) return {};
    const Kind kind = trace_.events.kind[event];
    const auto [found, is_new] = labels_.try_emplace({kind, trace_.events.name[event]});
    if (is_new) found->second = html_cut(shortened_name(kind, trace_.name(event)), kLongestName);
    return found->second;
  }

 private:
  const Trace& trace_;
  std::map<std::pair<Kind, StringId>, std::string> labels_;
};

template <typename Work>
std::string title_of(const StripSpan<Work>& span, Labels& labels, const Scale& scale) {
  const std::string_view name = labels.of(span.event);
  const std::string head =
      name.empty() ? std::string(label_of(span.work)) : fmt::format("{}: {}", label_of(span.work), name);
  const std::string at = format_time(scale.since_start(span.when.begin));
  if (span.events == 1) return fmt::format("{}, {} at {}", head, format_time(span.busy), at);
  return fmt::format("{} and {} more, {} busy of {} at {}", head, span.events - 1, format_time(span.busy),
                     format_time(span.when.length()), at);
}

// `drawn_as` tells what a work has its color of.
template <typename Work, typename Drawn>
std::string rectangles(const std::vector<StripSpan<Work>>& spans, Labels& labels, const Scale& scale, Drawn drawn_as) {
  std::string text;
  for (const StripSpan<Work>& span : spans) {
    const double height = std::max(4.0, kHeight * span.share_busy());
    text += fmt::format("<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>\n",
                        style_class(drawn_as(span.work)), scale.x(span.when.begin), html_number(kHeight - height),
                        scale.width(span.when), html_number(height), title_of(span, labels, scale));
  }
  return text;
}

// What is wide enough is named where it stands.
template <typename Work, typename Drawn>
std::string tags(const std::vector<StripSpan<Work>>& spans, const Scale& scale, Drawn drawn_as) {
  std::string text;
  for (const StripSpan<Work>& span : spans) {
    const double left = scale.percent(span.when.begin), width = scale.percent(span.when.end) - left;
    if (width < kLeastForLabel || span.share_busy() < 0.9) continue;
    text += fmt::format("<span class=\"{} tag\" style=\"left:{}%;width:{}%\">{}</span>\n",
                        style_class(drawn_as(span.work)), html_number(left), html_number(width), label_of(span.work));
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

WorkClass as_work(WorkClass work) { return work; }
HostDoing as_doing(HostWork work) { return {work}; }
HostWork as_cause(HostWork work) { return work; }

template <typename Work, typename Drawn>
std::string track_lane(std::string_view kind, const StripLane<Work>& drawn, const Trace& trace, Labels& labels,
                       const Scale& scale, Interval window, Drawn drawn_as) {
  const std::string name = html_cut(trace.strings[trace.tracks[drawn.track].name], kLongestName);
  const std::string spoken =
      fmt::format("{}, busy {} of the step", name, format_percent(percent_of(drawn.busy, window.length())));
  return lane(kind, name, spoken, rectangles(drawn.spans, labels, scale, drawn_as), tags(drawn.spans, scale, drawn_as));
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

std::string queue_lane(const LaunchQueue& queue, Interval window, std::string_view device_word) {
  constexpr std::size_t kColumns = 400;
  const std::vector<std::int32_t> deepest = deepest_by_column(queue, window, kColumns);
  const std::int32_t most = std::ranges::max(deepest);
  if (most == 0) return {};
  std::string path = fmt::format("M0 {}", kHeight);
  for (std::size_t column = 0; column < kColumns; ++column) {
    const double y = kHeight * (1 - 0.95 * deepest[column] / most);
    path += fmt::format("V{}H{}", html_number(y), html_number(kWidth * static_cast<double>(column + 1) / kColumns));
  }
  const std::string name = fmt::format("queued, at most {}", format_count(most));
  return lane("queue", name,
              fmt::format("launched work that waits for the {}, at most {}", device_word, format_count(most)),
              fmt::format("<path class=\"depth\" d=\"{}V{}Z\"/>", path, kHeight));
}

std::string keys_of(const StepStrip& strip) {
  std::set<std::pair<std::string, std::string_view>> works;
  for (const auto& stream : strip.streams) {
    for (const auto& span : stream.spans) works.emplace(style_class(span.work), label_of(span.work));
  }
  std::set<std::pair<std::string, std::string_view>> doings, causes;
  for (const auto& thread : strip.threads) {
    for (const auto& span : thread.spans) doings.emplace(style_class(HostDoing{span.work}), label_of(span.work));
  }
  for (const auto& span : strip.gaps) causes.emplace(style_class(span.work) + " idle", label_of(span.work));
  std::string items;
  const auto add = [&](const auto& keys, std::string_view before) {
    for (const auto& [style, words] : keys) items += fmt::format("<li>{}{}{}</li>\n", key_mark(style), before, words);
  };
  add(works, "");
  add(doings, "");
  add(causes, "idle: ");
  return "<ul class=\"keys\">\n" + items + "</ul>\n";
}

std::string left_out(const StepStrip& strip) {
  std::vector<std::string> less;
  if (strip.streams_left_out > 0) less.push_back(counted(static_cast<double>(strip.streams_left_out), "more stream"));
  if (strip.threads_left_out > 0) less.push_back(counted(static_cast<double>(strip.threads_left_out), "more thread"));
  return less.empty() ? std::string() : fmt::format(" Not shown, because less happens there: {}.", listed(less));
}

}  // namespace

std::vector<std::int32_t> deepest_by_column(const LaunchQueue& queue, Interval window, std::size_t columns) {
  std::vector<std::int32_t> deepest(columns, 0);
  const auto column_of = [&](Nanoseconds time) {
    const double share = percent_of(time - window.begin, window.length()) / 100;
    return static_cast<std::size_t>(std::clamp(share, 0.0, 1.0) * static_cast<double>(columns - 1));
  };
  for (std::size_t i = 0; i < queue.points.size(); ++i) {
    const Nanoseconds end = i + 1 < queue.points.size() ? queue.points[i + 1].time : window.end;
    if (end <= window.begin || queue.points[i].time >= window.end) continue;
    for (std::size_t column = column_of(queue.points[i].time); column <= column_of(end); ++column)
      deepest[column] = std::max(deepest[column], queue.points[i].depth);
  }
  return deepest;
}

std::string strip_section(const Diagnosis& diagnosis, const Trace& trace) {
  const StepStrip& strip = diagnosis.strip;
  if (strip.window.length() <= 0 || (strip.streams.empty() && strip.threads.empty())) return {};
  const Scale scale(strip.window);
  Labels labels(trace);
  std::string body = axis(strip.window);
  for (const auto& stream : strip.streams)
    body += track_lane("stream", stream, trace, labels, scale, strip.window, as_work);
  if (!strip.gaps.empty()) {
    body += lane("gaps", "idle, by cause", "idle time of the " + diagnosis.device_word + " by cause",
                 rectangles(strip.gaps, labels, scale, as_cause), tags(strip.gaps, scale, as_cause));
  }
  if (!strip.streams.empty()) body += queue_lane(diagnosis.queue, strip.window, diagnosis.device_word);
  for (const auto& thread : strip.threads)
    body += track_lane("thread", thread, trace, labels, scale, strip.window, as_doing);

  const bool is_all = diagnosis.timing.source == StepSource::kWhole;
  const std::string caption = fmt::format(
      "{}, {}. Events too short to be told apart are drawn as one; its height shows how much of that time they fill.{}",
      is_all ? "All of it" : "A typical " + std::string(diagnosis.is_about_steps ? "step" : "stretch"),
      format_time(strip.window.length()), left_out(strip));
  const std::string_view title = diagnosis.is_about_steps ? "One step as it ran" : "How it ran";
  return section("strip", title, caption,
                 "<div id=\"strip-picture\">\n" + body + "</div>\n" + keys_of(strip) + timeline_data(diagnosis, trace));
}

}  // namespace telltale::html
