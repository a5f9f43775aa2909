#include "answers/view_range.h"

#include <fmt/format.h>

#include <algorithm>

#include "answers/event_place.h"
#include "report/analyze_words.h"
#include "report/compact_json.h"

namespace telltale::answers {

template <typename Fields>
void describe(Fields& fields, const RangeThread& thread) {
  fields.object("RangeThread", "A thread in the range");
  fields.member("track", thread.track, "its track");
  fields.member("name", thread.name, "its name");
  fields.member("busy_ns", thread.busy, "in its outermost events");
}

template <typename Fields>
void describe(Fields& fields, const RangeCause& cause) {
  fields.object("CauseTime", "Idle time of one cause");
  fields.member("word", cause.word, "the cause");
  fields.member("ns", cause.time, "how long");
  fields.member("color", cause.color, "of the list of colors");
}

template <typename Fields>
void describe(Fields& fields, const RangeDevice& device) {
  fields.object("RangeDevice", "A device in the range");
  fields.member("id", device.id, "as the recorder numbers it");
  fields.member("name", device.name, "its model");
  fields.member("busy_ns", device.busy, "how long it works");
  fields.member("idle_ns", device.idle, "how long it does not");
  fields.member("idle", device.causes, "why");
}

template <typename Fields>
void describe(Fields& fields, const RangeName& name) {
  fields.object("NamedTime", "All of one name in the range");
  fields.member("name", name.name, "as it is shown");
  fields.member("calls", name.calls, "that reach into the range");
  fields.member("ns", name.time, "without what is called within");
  fields.member("color", name.color, "of the list of colors");
  fields.member("example", name.example, "the longest one");
}

template <typename Fields>
void describe(Fields& fields, const ViewRangeAnswer& answer) {
  fields.object("RangeAnswer", "What happens in a range");
  fields.member("start_ns", answer.start, "its begin");
  fields.member("end_ns", answer.end, "its end");
  fields.member("events", answer.events, "that reach into it");
  fields.member("threads", answer.threads, "with events in it");
  fields.member("devices", answer.devices, "by id");
  fields.member("operators", answer.operators, "by falling time");
  fields.member("kernels", answer.kernels, "likewise");
  fields.member("python", answer.python, "likewise");
}

namespace {

std::vector<RangeCause> causes_of(const RangeSummary::DeviceTime& time) {
  std::vector<RangeCause> causes;
  for (int i = 0; i < kHostWorkCount; ++i) {
    const auto cause = static_cast<HostWork>(i);
    const Nanoseconds ns = time.by_cause[static_cast<std::size_t>(i)];
    if (ns > 0) causes.push_back({std::string(label_of(cause)), ns, color_index(cause)});
  }
  std::ranges::stable_sort(causes, std::ranges::greater{}, &RangeCause::time);
  return causes;
}

std::vector<RangeName> named(const View& view, const std::vector<NamedTime>& times) {
  std::vector<RangeName> names;
  for (const NamedTime& time : times)
    names.push_back(
        {view.names->shown(time.name), time.calls, time.time, color_of_event(view, time.example), time.example});
  return names;
}

}  // namespace

std::string ViewRangeAnswer::json() const { return compact_json_of(*this); }

Result<ViewRangeAnswer> view_range(const View& view, const ViewRangeRequest& request) {
  if (request.start > request.end)
    return failure(fmt::format("the range ends at {} ns, before it starts at {} ns", request.end, request.start));
  const RangeSummary summary = range_summary(*view.timeline, {request.start, request.end}, request.tracks);
  ViewRangeAnswer answer{.start = request.start,
                         .end = request.end,
                         .events = summary.events,
                         .operators = named(view, summary.operators),
                         .kernels = named(view, summary.kernels),
                         .python = named(view, summary.python)};
  for (const RangeSummary::Thread& thread : summary.threads)
    answer.threads.push_back({thread.track, view.timeline->track(thread.track)->name, thread.busy});
  for (const RangeSummary::DeviceTime& time : summary.devices)
    answer.devices.push_back(
        {time.device, device_name(*view.trace, time.device), time.busy, time.idle, causes_of(time)});
  return answer;
}

}  // namespace telltale::answers
