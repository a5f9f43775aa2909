#include "formats/speedscope/write.h"

#include <algorithm>
#include <string>

#include "formats/output/left_out_of_trace.h"
#include "formats/speedscope/frames.h"
#include "trace/nesting.h"

namespace telltale::speedscope {
namespace {

class Profiles {
 public:
  Profiles(const Trace& trace, Frames& frames, TextWriter& out) : trace_(trace), frames_(frames), out_(out) {
    for (const Nanoseconds start : trace.events.start) first_ = std::min(first_, start);
    last_ = first_;
    for (EventId event = 0; event < trace.events.size(); ++event) last_ = std::max(last_, trace.events.end(event));
  }

  void write(const WriteProgress& progress) {
    out_ << "[";
    for (const Track& track : trace_.tracks) {
      if (out_.has_failed()) return;
      write_track(track);
      if (progress && !trace_.events.start.empty())
        progress(static_cast<double>(track.first_event) / static_cast<double>(trace_.events.size()));
    }
    out_ << "]";
  }

  std::uint64_t instants() const { return instants_; }
  std::uint64_t unplaced() const { return unplaced_; }

 private:
  struct OpenFrame {
    std::uint32_t frame = 0;
    Nanoseconds end = 0;
  };

  // A profile for each lane: in all but a few tracks there is one.
  void write_track(const Track& track) {
    bool has_too_many = false;
    const std::vector<std::uint8_t> lanes = lanes_of(trace_.events, track, has_too_many);
    const std::uint8_t last_lane = lanes.empty() ? std::uint8_t{0} : *std::ranges::max_element(lanes);
    for (unsigned lane = 0; lane <= last_lane; ++lane) write_lane(track, lanes, lane);
  }

  void write_lane(const Track& track, const std::vector<std::uint8_t>& lanes, unsigned lane) {
    const Events& events = trace_.events;
    std::vector<OpenFrame> open;
    has_events_ = false;
    for (EventId i = 0; i < track.event_count; ++i) {
      const EventId event = track.first_event + i;
      if (lanes[i] != lane) continue;
      if (events.kind[event] == Kind::kInstant) {
        ++instants_;
        continue;
      }
      for (; !open.empty() && open.back().end <= events.start[event]; open.pop_back()) write_end(open.back());
      // Only in the last lane that there is, which all that is too much shares.
      if (!open.empty() && open.back().end < events.end(event)) {
        ++unplaced_;
        continue;
      }
      if (!has_events_) start_profile(track, lane);
      open.push_back({frames_.of(event), events.end(event)});
      write_event('O', open.back().frame, events.start[event]);
    }
    for (; !open.empty(); open.pop_back()) write_end(open.back());
    if (has_events_) out_ << "\n]}";
  }

  void start_profile(const Track& track, unsigned lane) {
    out_ << (has_profiles_ ? ",\n" : "\n") << R"({"type":"evented","name":)" << InJson{name_of_profile(track, lane)}
         << R"(,"unit":"nanoseconds","startValue":)" << first_ << R"(,"endValue":)" << last_ << R"(,"events":[)";
    has_profiles_ = true;
  }

  std::string name_of_profile(const Track& track, unsigned lane) const {
    std::string name(trace_.strings[trace_.processes[track.process].name]);
    if (track.kind == TrackKind::kStream) name = "GPU " + std::to_string(track.device);
    if (!name.empty()) name += ' ';
    name += trace_.strings[track.name];
    if (lane > 0) name += ", overlapping " + std::to_string(lane);
    return name;
  }

  void write_event(char type, std::uint32_t frame, Nanoseconds time) {
    out_ << (has_events_ ? ",\n" : "\n") << R"({"type":")" << type << R"(","frame":)" << frame << R"(,"at":)" << time
         << '}';
    has_events_ = true;
  }
  void write_end(const OpenFrame& open) { write_event('C', open.frame, open.end); }

  const Trace& trace_;
  Frames& frames_;
  TextWriter& out_;
  Nanoseconds first_ = 0, last_ = 0;
  bool has_profiles_ = false, has_events_ = false;  // of the file, of the profile at hand
  std::uint64_t instants_ = 0, unplaced_ = 0;
};

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  Frames frames(trace);
  out << "{\n"
      << R"("$schema":"https://www.speedscope.app/file-format-schema.json",)" << "\n"
      << R"("exporter":"telltale",)" << "\n"
      << R"("shared":{"frames":)";
  frames.write(out);
  out << "},\n\"profiles\":";
  Profiles profiles(trace, frames, out);
  profiles.write(progress);
  out << "\n}\n";

  LeftOutList left_out;
  constexpr std::string_view kWhy = "speedscope has only names, lines and times";
  left_out.add(profiles.instants(), "mark", "marks", kWhy);
  left_out.add(profiles.unplaced(), "event", "events", "more than 255 others overlap");
  leave_out_details(trace, left_out, kWhy);
  leave_out_causes(trace, left_out, kWhy);
  leave_out_all_but_events(trace, left_out, kWhy);
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace telltale::speedscope
