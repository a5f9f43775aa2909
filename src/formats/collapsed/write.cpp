#include "formats/collapsed/write.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "formats/collapsed/frame_text.h"
#include "formats/collapsed/stack_tree.h"
#include "formats/output/left_out_of_trace.h"

namespace telltale::collapsed {
namespace {

constexpr std::size_t kStacksBetweenReports = 1 << 14;

// How much text there may be. Traces of real programs stay far below it.
constexpr std::uint64_t kLeastText = std::uint64_t{64} << 20, kTextPerEvent = 1024;

// Covers work and is none itself: Kineto's span over the whole recording, and annotations drawn on the device.
bool only_covers(Kind kind) { return kind == Kind::kSpan || kind == Kind::kDeviceAnnotation; }

class StackCollector {
 public:
  explicit StackCollector(const Trace& trace)
      : trace_(trace),
        node_(trace.events.size(), kNoNode),
        self_(trace.events.duration),
        parent_(trace.events.parent) {}

  // The host first: device work is put inside of what launched it.
  void collect() {
    for (EventId event = 0; event < trace_.events.size(); ++event) {
      EventId& parent = parent_[event];
      if (parent != kNoEvent && !has_frame(parent)) parent = parent_[parent];  // which is settled: it comes before
      if (parent != kNoEvent && has_frame(event)) self_[parent] -= trace_.events.duration[event];
    }
    for (const bool is_on_stream : {false, true})
      for (TrackId track = 0; track < trace_.tracks.size(); ++track)
        if ((trace_.tracks[track].kind == TrackKind::kStream) == is_on_stream) collect_track(track);
  }

  const StackTree& tree() const { return tree_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  bool has_frame(EventId event) const {
    const Kind kind = trace_.events.kind[event];
    return kind != Kind::kInstant && !only_covers(kind);
  }

  void collect_track(TrackId id) {
    const Track& track = trace_.tracks[id];
    for (EventId event = track.first_event; event != track.first_event + track.event_count; ++event) {
      if (!has_frame(event)) {
        ++left_out_;
        continue;
      }
      const EventId parent = parent_[event];
      const StackNode outer = parent == kNoEvent ? calls_around(event) : node_[parent];
      node_[event] = tree_.inside(outer, trace_.events.name[event]);
      // Children that overlap each other can be longer than what they are in.
      tree_.add_time({id, node_[event]}, std::max<Nanoseconds>(0, self_[event]));
    }
  }

  // What an event stands in that no other one of its track contains: on a stream, the calls that launched it.
  StackNode calls_around(EventId event) const {
    const EventId launch = trace_.events.cause[event];
    return is_on_device(trace_.events.kind[event]) && launch != kNoEvent ? node_[launch] : kNoNode;
  }

  const Trace& trace_;
  StackTree tree_;
  std::vector<StackNode> node_;    // by event, likewise below
  std::vector<Nanoseconds> self_;  // duration without that of what is directly inside
  std::vector<EventId> parent_;    // the innermost one around it that has a frame of its own
  std::uint64_t left_out_ = 0;
};

// The names of frames, made fit to stand in a line with separators.
class FrameNames {
 public:
  explicit FrameNames(const Trace& trace) : trace_(trace), states_(trace.strings.size(), State::kUnknown) {}

  std::string_view of_call(StringId name) {
    const std::string_view text = trace_.strings[name];
    State& state = states_[name];
    if (state == State::kUnknown) {
      std::string clean = frame_text(text);
      state = clean == text ? State::kClean : State::kCleaned;
      if (state == State::kCleaned) cleaned_.emplace(name, std::move(clean));
    }
    return state == State::kClean ? text : std::string_view(cleaned_.at(name));
  }

  std::string of_track(TrackId id) const {
    const Track& track = trace_.tracks[id];
    const std::string name(trace_.strings[track.name]);
    if (track.kind == TrackKind::kStream) return frame_text("GPU " + std::to_string(track.device) + " " + name);
    const std::string_view process = trace_.strings[trace_.processes[track.process].name];
    return frame_text(process.empty() ? name : std::string(process.substr(0, kMostOfProcess)) + " " + name);
  }

 private:
  enum class State : std::uint8_t { kUnknown, kClean, kCleaned };

  // It stands in front of all stacks of all threads.
  static constexpr std::size_t kMostOfProcess = 1000;

  const Trace& trace_;
  std::vector<State> states_;  // by string
  std::map<StringId, std::string> cleaned_;
};

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  StackCollector stacks(trace);
  stacks.collect();
  const StackTree& tree = stacks.tree();
  FrameNames names(trace);
  const auto [lines, shortened] =
      tree.stacks(std::max(kLeastText, kTextPerEvent * trace.events.size()),
                  {.of_call = [&](StringId name) { return names.of_call(name).size(); },
                   .of_track = [&](TrackId track) { return names.of_track(track).size(); }});
  std::vector<std::string_view> frames;  // innermost first
  for (std::size_t line = 0; line < lines.size() && !out.has_failed(); ++line) {
    frames.clear();
    for (StackNode at = lines[line].stack.innermost; at != kNoNode; at = tree[at].outer)
      frames.push_back(names.of_call(tree[at].name));
    out << names.of_track(lines[line].stack.track);
    for (std::size_t i = frames.size(); i-- > 0;) out << ';' << frames[i];
    out << ' ' << lines[line].time << '\n';
    if (progress && line % kStacksBetweenReports == 0)
      progress(static_cast<double>(line) / static_cast<double>(lines.size()));
  }
  LeftOutList left_out;
  constexpr std::string_view kWhy = "collapsed stacks have only names and times";
  left_out.add(shortened, "stack's innermost calls", "stacks' innermost calls",
               "the text would be too long; their time counts in the call around them");
  left_out.add(stacks.left_out(), "mark or span that only covers others", "marks and spans that only cover others",
               "no time is spent in them alone");
  leave_out_details(trace, left_out, kWhy);
  left_out.add(trace.sources.size(), "place in the source", "places in the source", kWhy);
  leave_out_all_but_events(trace, left_out, kWhy);
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace telltale::collapsed
