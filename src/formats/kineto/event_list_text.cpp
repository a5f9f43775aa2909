#include "formats/kineto/event_list_text.h"

#include <algorithm>

#include "formats/kineto/header_text.h"

namespace telltale::kineto {
namespace {

constexpr EventId kEventsBetweenReports = 1 << 14;

// The category that stands for a kind today; empty for a kind that none stands for.
std::string_view category_of(Kind kind) {
  switch (kind) {
    case Kind::kOperator:
      return "cpu_op";
    case Kind::kAnnotation:
      return "user_annotation";
    case Kind::kPython:
    case Kind::kModule:
      return "python_function";
    case Kind::kRuntime:
      return "cuda_runtime";
    case Kind::kDriver:
      return "cuda_driver";
    case Kind::kKernel:
      return "kernel";
    case Kind::kMemcpy:
      return "gpu_memcpy";
    case Kind::kMemset:
      return "gpu_memset";
    case Kind::kSync:
      return "cuda_sync";
    case Kind::kCollective:
      return "collective_comm";
    case Kind::kDeviceAnnotation:
      return "gpu_user_annotation";
    case Kind::kDeviceOther:
      return "gpu_work";
    case Kind::kOverhead:
      return "overhead";
    case Kind::kSpan:
      return "Trace";
    case Kind::kInstant:
    case Kind::kAsync:
    case Kind::kOther:
      return {};
  }
  return {};
}

}  // namespace

EventListText::EventListText(const Trace& trace, TextWriter& out)
    : trace_(trace),
      out_(out),
      places_(trace),
      json_(trace.strings),
      arguments_(trace, json_),
      categories_(trace.categories),
      has_arrow_(trace.events.size()),
      shift_(trace.origin_epoch_ns - base_time(trace)) {
  for (TrackId id = 0; id < trace.tracks.size(); ++id)
    place_texts_.push_back(",\"pid\":" + places_.pid(trace.tracks[id].process) + ",\"tid\":" + places_.of(id).tid +
                           ",\"ts\":");
}

void EventListText::write(const WriteProgress& progress, LeftOutList& left_out) {
  write_process_labels();
  write_place_labels();
  write_rows(progress);
  write_forward_backward();
  write_memory();
  write_counters();
  write_flows();
  left_out.add(lost_labels_, "name or place in the order of a track", "names or places in the order of tracks",
               "tracks with the same pid and tid share them");
  left_out.add(arguments_.unwritable(), "argument", "arguments", "not JSON");
  left_out.add(arguments_.unnamed_causes(), "link to a cause", "links to a cause",
               "Kineto links only device work, its launches and operators");
  left_out.add(trace_.graph_origins.size(), "origin of the work of a CUDA graph", "origins of the work of CUDA graphs",
               "Kineto has no place for them");
  left_out.add(lost_values_, "value of a counter", "values of counters", "not finite");
  left_out.add(lost_flows_, "flow", "flows", "nothing in the file would tell their events from others");
}

void EventListText::write_window() {
  constexpr Nanoseconds kMargin = 1000;  // whoever adds a time and a duration in floating point stays inside
  const InMicroseconds start{shift_}, end{shift_ + trace_.duration + kMargin};
  next() << R"_({"ph":"X","cat":"Trace","name":"PyTorch Profiler (0)","pid":"Spans","tid":"PyTorch Profiler","ts":)_"
         << start << R"(,"dur":)" << InMicroseconds{trace_.duration} << R"(,"args":{"Op count":0}})";
  next() << R"({"ph":"M","name":"process_sort_index","pid":"Spans","tid":0,"args":{"sort_index":536870912}})";
  next() << R"({"ph":"i","s":"g","name":"Iteration Start: PyTorch Profiler","pid":"Traces",)"
         << R"("tid":"Trace PyTorch Profiler","ts":)" << start << '}';
  next() << R"({"ph":"i","s":"g","name":"Record Window End","pid":"","tid":"","ts":)" << end << '}';
}

TextWriter& EventListText::next() {
  out_ << (is_first_ ? "\n" : ",\n");
  is_first_ = false;
  return out_;
}

void EventListText::write_place_and_time(TrackId track, Nanoseconds time) {
  out_ << place_texts_[track] << InMicroseconds{time + shift_};
}

void EventListText::write_rows(const WriteProgress& progress) {
  for (const Track& track : trace_.tracks) {
    for (EventId event = track.first_event; event != track.first_event + track.event_count; ++event) {
      if (out_.has_failed()) return;
      write_row(event, track);
      if (progress && event % kEventsBetweenReports == 0)
        progress(static_cast<double>(event) / static_cast<double>(trace_.events.size()));
    }
  }
}

void EventListText::write_row(EventId event, const Track& track) {
  const Kind kind = trace_.events.kind[event];
  if (kind == Kind::kAsync || (kind == Kind::kInstant && track.kind == TrackKind::kAsync))
    write_async(event);
  else if (kind == Kind::kInstant)
    write_instant(event, track);
  else
    write_span(event);
  if (trace_.launch_of(event) != kNoEvent) write_launch_arrow(event);
}

void EventListText::write_category(EventId event) {
  const StringId* kept = categories_.find(event);
  if (kept != nullptr)
    out_ << R"(,"cat":)" << InJson{trace_.strings[*kept]};
  else if (const std::string_view category = category_of(trace_.events.kind[event]); !category.empty())
    out_ << R"(,"cat":")" << category << '"';
}

void EventListText::write_span(EventId event) {
  const Events& events = trace_.events;
  next() << R"({"ph":"X")";
  write_category(event);
  out_ << R"(,"name":)" << InJson{trace_.name(event)};
  write_place_and_time(events.track[event], events.start[event]);
  out_ << R"(,"dur":)" << InMicroseconds{events.duration[event]};
  arguments_.write(event, out_);
  out_ << '}';
}

void EventListText::write_instant(EventId event, const Track& track) {
  const Events& events = trace_.events;
  next() << R"({"ph":"i")";
  write_category(event);
  out_ << R"(,"name":)" << InJson{trace_.name(event)};
  if (track.kind == TrackKind::kRecording) {
    out_ << R"(,"s":"g","pid":)" << places_.pid_of_recording(track.process) << R"(,"tid":)"
         << places_.of(events.track[event]).tid << R"(,"ts":)" << InMicroseconds{events.start[event] + shift_};
  } else {
    out_ << R"(,"s":"t")";
    write_place_and_time(events.track[event], events.start[event]);
  }
  arguments_.write(event, out_);
  out_ << '}';
}

void EventListText::write_async(EventId event) {
  const Events& events = trace_.events;
  const TrackId track = events.track[event];
  const auto write_point = [&](char phase, Nanoseconds time) {
    next() << R"({"ph":")" << phase << R"(","cat":)" << places_.async_category(track) << R"(,"id":)"
           << link_number(event) << R"(,"name":)" << InJson{trace_.name(event)};
    write_place_and_time(track, time);
  };
  const bool is_span = events.kind[event] == Kind::kAsync;
  write_point(is_span ? 'b' : 'n', events.start[event]);
  arguments_.write(event, out_);
  out_ << '}';
  if (!is_span) return;
  write_point('e', events.end(event));
  out_ << '}';
}

// From the launch to what it launched. The work of one launch shares its beginning.
void EventListText::write_launch_arrow(EventId event) {
  const EventId launch = trace_.events.cause[event];
  constexpr std::string_view kLaunch = R"("cat":"ac2g","name":"ac2g")";
  const auto write_point = [&](std::string_view phase, EventId at) {
    next() << R"({"ph":)" << phase << R"(,"id":)" << link_number(launch) << ',' << kLaunch;
    write_place_and_time(trace_.events.track[at], trace_.events.start[at]);
    out_ << '}';
  };
  if (!has_arrow_[launch]) write_point(R"("s")", launch);
  has_arrow_[launch] = true;
  write_point(R"("f","bp":"e")", event);
}

void EventListText::write_arrow(const Arrow& arrow, std::string_view category_and_name, std::uint64_t id) {
  next() << R"({"ph":"s","id":)" << id << ',' << category_and_name;
  write_place_and_time(trace_.events.track[arrow.from], arrow.from_time);
  out_ << "}";
  next() << (arrow.binds_to_next ? R"({"ph":"f","id":)" : R"({"ph":"f","bp":"e","id":)") << id << ','
         << category_and_name;
  write_place_and_time(trace_.events.track[arrow.to], arrow.to_time);
  out_ << "}";
}

void EventListText::write_forward_backward() {
  for (const Arrow& arrow : forward_backward_arrows(trace_, places_))
    write_arrow(arrow, R"("cat":"fwdbwd","name":"fwdbwd")", link_number(arrow.to));
}

// By name, since readers tell the arrows of different names apart.
void EventListText::write_flows() {
  std::vector<Flow> flows = trace_.flows;
  std::ranges::stable_sort(flows, {}, [&](const Flow& flow) { return trace_.strings[flow.name]; });
  const FlowArrows arrows(trace_, places_);
  std::uint64_t id = 0;
  for (const Flow& flow : flows) {
    if (out_.has_failed()) return;
    const auto arrow = arrows.arrow(flow.from, flow.to);
    if (arrow)
      write_arrow(*arrow, R"("cat":"flow","name":)" + json_string(trace_.strings[flow.name]), ++id);
    else
      ++lost_flows_;
  }
}

}  // namespace telltale::kineto
