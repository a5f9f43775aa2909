#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "analysis/host_work.h"
#include "base/text_encoding.h"
#include "report/analyze_html_parts.h"
#include "report/analyze_words.h"
#include "report/kind_words.h"
#include "report/palette.h"
#include "report/shown_names.h"
#include "report/text_width.h"

namespace telltale::html {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestName = 100;
constexpr std::size_t kMostNameBytes = 120'000;  // of all names, as they are written; what comes later has none
constexpr std::size_t kMostFindings = 12;
constexpr std::size_t kMostPlaces = 300;  // of a finding
constexpr std::size_t kQueueColumns = 1000;
constexpr std::size_t kMostBytesToUnderstand = 20'000;  // of a name

// No "<" may stand in a script element. In this text it can only stand in strings.
constexpr std::string_view kLessThan = "\\u003c";

std::string without_markup(std::string_view text) {
  std::string clean;
  for (const char each : text) {
    if (each == '<') {
      clean += kLessThan;
    } else {
      clean += each;
    }
  }
  return clean;
}

// Each name once.
class Names {
 public:
  explicit Names(const Trace& trace) : trace_(trace) {}

  // Its place in the list; that of the empty one for no event.
  std::size_t place_of(EventId event) {
    if (event == kNoEvent) return 0;
    const Kind kind = trace_.events.kind[event];
    const auto [found, is_new] = places_.try_emplace({kind, trace_.events.name[event]}, 0);
    if (!is_new) return found->second;
    std::string name = cut_to_width(repaired_utf8(shortened_name(kind, trace_.name(event))), kLongestName);
    bytes_ += name.size() + (kLessThan.size() - 1) * static_cast<std::size_t>(std::ranges::count(name, '<'));
    if (bytes_ > kMostNameBytes) return 0;
    found->second = names_.size();
    names_.push_back(std::move(name));
    return found->second;
  }

  const std::vector<std::string>& all() const { return names_; }

 private:
  const Trace& trace_;
  std::map<std::pair<Kind, StringId>, std::size_t> places_;
  std::vector<std::string> names_{""};
  std::size_t bytes_ = 0;
};

// Works of devices stand before causes of their idle time, then comes what the host does, then kinds of its calls.
std::size_t place_of(WorkClass work) { return static_cast<std::size_t>(work); }
std::size_t place_of(HostWork cause) { return kWorkClassCount + static_cast<std::size_t>(cause); }
std::size_t place_of(HostDoing doing) {
  return place_of(static_cast<HostWork>(kHostWorkCount)) + static_cast<std::size_t>(doing.work);
}
std::size_t place_of(Kind kind) {
  return place_of(HostDoing{static_cast<HostWork>(kHostWorkCount)}) + static_cast<std::size_t>(kind);
}

Json all_works() {
  Json works = Json::array();
  const auto add = [&](auto work, std::string_view label) {
    works.push_back({{"style", style_class(work)}, {"label", label}});
  };
  for (int i = 0; i < kWorkClassCount; ++i) add(static_cast<WorkClass>(i), label_of(static_cast<WorkClass>(i)));
  for (int i = 0; i < kHostWorkCount; ++i) add(static_cast<HostWork>(i), label_of(static_cast<HostWork>(i)));
  for (int i = 0; i < kHostWorkCount; ++i) add(HostDoing{static_cast<HostWork>(i)}, label_of(static_cast<HostWork>(i)));
  for (const Kind kind : kKinds) add(kind, label_of(kind));
  return works;
}

std::size_t place_of_call(const Trace& trace, const StripSpan<HostWork>& span) {
  const Kind kind = trace.events.kind[span.event];
  const HostDoing doing{work_of_call(kind, trace.name(span.event).substr(0, kMostBytesToUnderstand))};
  return is_told_by_kind(doing) ? place_of(kind) : place_of(doing);
}

// Six numbers a span: how long after the start of the one before it begins, how long it takes, its work, its name, of
// how many events it is, and how long they take.
template <typename Work, typename Place>
Json spans_of(const std::vector<StripSpan<Work>>& spans, Interval window, Names& names, Place place_of_span) {
  Json numbers = Json::array();
  Nanoseconds before = window.begin;
  for (const StripSpan<Work>& span : spans) {
    numbers.insert(numbers.end(), {span.when.begin - before, span.when.length(), place_of_span(span),
                                   names.place_of(span.event), span.events, span.busy});
    before = span.when.begin;
  }
  return numbers;
}

template <typename Work, typename Place>
Json lane_of(std::string_view kind, std::string_view name, const std::vector<StripSpan<Work>>& spans, Interval window,
             Names& names, Place place_of_span) {
  return {{"kind", kind},
          {"name", repaired_utf8(cut_to_width(printable(name), kLongestName))},
          {"spans", spans_of(spans, window, names, place_of_span)}};
}

Json all_lanes(const StepStrip& strip, const Trace& trace, Names& names) {
  const auto name_of_track = [&](TrackId track) -> std::string_view { return trace.strings[trace.tracks[track].name]; };
  const auto as_work = [](const auto& span) { return place_of(span.work); };
  const auto as_doing = [](const auto& span) { return place_of(HostDoing{span.work}); };
  const auto as_call = [&](const auto& span) { return place_of_call(trace, span); };
  Json lanes = Json::array();
  for (const auto& stream : strip.streams)
    lanes.push_back(lane_of("stream", name_of_track(stream.track), stream.spans, strip.window, names, as_work));
  if (!strip.gaps.empty()) lanes.push_back(lane_of("gaps", "idle, by cause", strip.gaps, strip.window, names, as_work));
  for (const auto& thread : strip.threads) {
    lanes.push_back(lane_of("thread", name_of_track(thread.track), thread.spans, strip.window, names, as_doing));
    for (const auto& calls : strip.calls) {
      if (calls.track == thread.track) lanes.push_back(lane_of("calls", "", calls.spans, strip.window, names, as_call));
    }
  }
  return lanes;
}

// When the events are, as few stretches: what lies close together becomes one.
std::vector<Interval> stretches_of(const std::vector<EventId>& events, const Trace& trace, Interval window) {
  std::vector<Interval> spans;
  for (const EventId event : events) {
    if (event >= trace.events.size()) continue;
    const Interval when{std::max(trace.events.start[event], window.begin),
                        std::min(trace.events.end(event), window.end)};
    if (when.length() > 0) spans.push_back(when);
  }
  std::ranges::sort(spans, {}, &Interval::begin);
  std::vector<Interval> places;
  for (Nanoseconds room = window.length() / 4000;; room = 2 * room + 1) {
    places.clear();
    for (const Interval& span : spans) {
      if (!places.empty() && span.begin <= places.back().end + room) {
        places.back().end = std::max(places.back().end, span.end);
      } else {
        places.push_back(span);
      }
    }
    if (places.size() <= kMostPlaces) return places;
  }
}

// All that the fix of a finding reaches. Where that is most of the step, it tells less than the evidence.
std::vector<Interval> places_of(const Finding& finding, const Trace& trace, Interval window) {
  std::vector<Interval> evidence = stretches_of(finding.evidence, trace, window);
  std::vector<Interval> all = stretches_of(finding.reach, trace, window);
  Nanoseconds covered = 0;
  for (const Interval& place : all) covered += place.length();
  const bool is_everywhere = 2 * covered > window.length();
  return all.empty() || (is_everywhere && !evidence.empty()) ? evidence : all;
}

Json all_findings(const Diagnosis& diagnosis, const Trace& trace, Interval window) {
  Json findings = Json::array();
  for (std::size_t i = 0; i < std::min(diagnosis.findings.size(), kMostFindings); ++i) {
    const Finding& finding = diagnosis.findings[i];
    Json numbers = Json::array();
    for (const Interval& place : places_of(finding, trace, window))
      numbers.insert(numbers.end(), {place.begin - window.begin, place.length()});
    if (numbers.empty()) continue;
    findings.push_back({{"number", i + 1},
                        {"title", repaired_utf8(cut_to_width(printable(finding.title), kLongestName))},
                        {"places", std::move(numbers)}});
  }
  return findings;
}

}  // namespace

std::string timeline_data(const Diagnosis& diagnosis, const Trace& trace) {
  const StepStrip& strip = diagnosis.strip_to_zoom_into;
  Names names(trace);
  Json data{{"window_ns", strip.window.length()},
            {"works", all_works()},
            {"lanes", all_lanes(strip, trace, names)},
            {"queue", strip.streams.empty() ? std::vector<std::int32_t>()
                                            : deepest_by_column(diagnosis.queue, strip.window, kQueueColumns)},
            {"findings", all_findings(diagnosis, trace, strip.window)}};
  data["names"] = names.all();
  return "<script type=\"application/json\" id=\"timeline-data\">" + without_markup(data.dump()) + "</script>\n";
}

}  // namespace telltale::html
