#include "formats/collapsed/write.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "base/text_encoding.h"
#include "formats/collapsed/stack_tree.h"
#include "formats/output/left_out_of_trace.h"

namespace telltale::collapsed {
namespace {

constexpr std::size_t kStacksBetweenReports = 1 << 14;

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
      for (const Track& track : trace_.tracks)
        if ((track.kind == TrackKind::kStream) == is_on_stream) collect_track(track);
  }

  const StackTree& tree() const { return tree_; }
  std::uint64_t left_out() const { return left_out_; }

 private:
  bool has_frame(EventId event) const {
    const Kind kind = trace_.events.kind[event];
    return kind != Kind::kInstant && !only_covers(kind);
  }

  void collect_track(const Track& track) {
    for (EventId event = track.first_event; event != track.first_event + track.event_count; ++event) {
      if (!has_frame(event)) {
        ++left_out_;
        continue;
      }
      const EventId parent = parent_[event];
      const StackNode outer = parent == kNoEvent ? start_of(event) : node_[parent];
      node_[event] = tree_.inside(outer, trace_.events.name[event]);
      // Children that overlap each other can be longer than what they are in.
      tree_.add_time(node_[event], std::max<Nanoseconds>(0, self_[event]));
    }
  }

  // What an event stands in that no other one of its track contains: on a stream, the calls that launched it. A root is
  // named by its track instead of by a string.
  StackNode start_of(EventId event) {
    const StackNode root = tree_.inside(kNoNode, trace_.events.track[event]);
    const EventId launch = trace_.events.cause[event];
    const bool is_launched = is_on_device(trace_.events.kind[event]) && launch != kNoEvent && node_[launch] != kNoNode;
    return is_launched ? with_other_root(node_[launch], root) : root;
  }

  StackNode with_other_root(StackNode node, StackNode root) {
    const auto [known, is_new] = moved_.try_emplace({node, root}, root);
    if (!is_new) return known->second;
    std::vector<StringId> names;
    for (StackNode at = node; tree_[at].outer != kNoNode; at = tree_[at].outer) names.push_back(tree_[at].name);
    StackNode moved = root;
    for (std::size_t i = names.size(); i-- > 0;) moved = tree_.inside(moved, names[i]);
    return known->second = moved;
  }

  const Trace& trace_;
  StackTree tree_;
  std::vector<StackNode> node_;    // by event, likewise below
  std::vector<Nanoseconds> self_;  // duration without that of what is directly inside
  std::vector<EventId> parent_;    // the innermost one around it that has a frame of its own
  std::map<std::pair<StackNode, StackNode>, StackNode> moved_;
  std::uint64_t left_out_ = 0;
};

// The names of frames, made fit to stand in a line with separators.
class FrameNames {
 public:
  explicit FrameNames(const Trace& trace) : trace_(trace), states_(trace.strings.size(), State::kUnknown) {
    for (const Track& track : trace.tracks) roots_.push_back(cleaned(root_name(track)));
  }

  std::string_view of(const FrameInStack& frame) {
    if (frame.outer == kNoNode) return roots_[frame.name];
    const std::string_view name = trace_.strings[frame.name];
    State& state = states_[frame.name];
    if (state == State::kUnknown) {
      std::string clean = cleaned(name);
      state = clean == name ? State::kClean : State::kCleaned;
      if (state == State::kCleaned) cleaned_.emplace(frame.name, std::move(clean));
    }
    return state == State::kClean ? name : std::string_view(cleaned_.at(frame.name));
  }

 private:
  enum class State : std::uint8_t { kUnknown, kClean, kCleaned };

  std::string root_name(const Track& track) const {
    const std::string name(trace_.strings[track.name]);
    if (track.kind == TrackKind::kStream) return "GPU " + std::to_string(track.device) + " " + name;
    const std::string_view process = trace_.strings[trace_.processes[track.process].name];
    return process.empty() ? name : std::string(process) + " " + name;
  }

  static std::string cleaned(std::string_view name) {
    std::string text = repaired_utf8(name);
    for (char& c : text) {
      if (c == ';') c = ',';
      if (static_cast<unsigned char>(c) < ' ') c = ' ';
    }
    return text;
  }

  const Trace& trace_;
  std::vector<std::string> roots_;  // by track
  std::vector<State> states_;       // by string
  std::map<StringId, std::string> cleaned_;
};

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  StackCollector stacks(trace);
  stacks.collect();
  const StackTree& tree = stacks.tree();
  FrameNames names(trace);
  std::vector<std::string_view> frames;  // innermost first
  for (StackNode node = 0; node < tree.size() && !out.has_failed(); ++node) {
    if (tree.self_time(node) == 0) continue;
    frames.clear();
    for (StackNode at = node; at != kNoNode; at = tree[at].outer) frames.push_back(names.of(tree[at]));
    for (std::size_t i = frames.size(); i-- > 0;) out << frames[i] << (i == 0 ? ' ' : ';');
    out << tree.self_time(node) << '\n';
    if (progress && node % kStacksBetweenReports == 0)
      progress(static_cast<double>(node) / static_cast<double>(tree.size()));
  }
  LeftOutList left_out;
  constexpr std::string_view kWhy = "collapsed stacks have only names and times";
  left_out.add(stacks.left_out(), "mark or span that only covers others", "marks and spans that only cover others",
               "no time is spent in them alone");
  leave_out_details(trace, left_out, kWhy);
  left_out.add(trace.sources.size(), "place in the source", "places in the source", kWhy);
  leave_out_all_but_events(trace, left_out, kWhy);
  leave_out_anomalies(trace, left_out);
  return left_out;
}

}  // namespace telltale::collapsed
