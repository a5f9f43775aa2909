#include "formats/kineto/places.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text_encoding.h"
#include "formats/kineto/event_parser.h"
#include "trace/categories.h"

namespace telltale::kineto {
namespace {

constexpr std::string_view kNumberZero = "0";
const std::string kEmptyText = "\"\"";

// Whether a reader takes the text for text; digits mean a number, nothing means 0.
bool is_taken_for_text(std::string_view text) {
  return !text.empty() && id_of({text.data(), text.data() + text.size(), false}).is_text;
}

// Different texts for different things that may have the same name.
class TextIds {
 public:
  std::string unused(std::string_view name) {
    std::string text(name);
    int& number = last_number_.try_emplace(text, 1).first->second;
    while (!is_taken_for_text(text) || !used_.insert(text).second)
      text = std::string(name) + " (" + std::to_string(++number) + ")";
    return json_string(text);
  }

 private:
  std::set<std::string> used_;
  std::map<std::string, int> last_number_;  // that was put behind a name
};

// How much speaks for the number 0 rather than for text, for each process without a number.
std::vector<int> claims_to_zero(const Trace& trace) {
  enum Claim : int { kNone, kHasWork, kHasLabels, kHasMarks, kHasNoName };
  std::vector<int> claims;
  for (const Process& process : trace.processes)
    claims.push_back(process.name == kEmptyString ? kHasNoName : process.labels != kEmptyString ? kHasLabels : kNone);
  for (const Track& track : trace.tracks) {
    int& claim = claims[track.process];
    if (trace.processes[track.process].native_id != 0 || track.kind == TrackKind::kRecording) continue;
    claim = std::max<int>(claim, kHasWork);
    if (track.kind == TrackKind::kAsync || claim >= kHasMarks) continue;
    const auto first = trace.events.kind.begin() + track.first_event, last = first + track.event_count;
    // In a process whose pid is text, a mark would be taken to be about the recording.
    if (std::find(first, last, Kind::kInstant) != last) claim = kHasMarks;
  }
  return claims;
}

std::vector<std::string> process_ids(const Trace& trace) {
  const std::vector<int> claims = claims_to_zero(trace);
  std::optional<ProcessId> zero;
  for (ProcessId id = 0; id < trace.processes.size(); ++id) {
    if (trace.processes[id].native_id != 0 || claims[id] == 0) continue;
    if (!zero || claims[id] > claims[*zero]) zero = id;
  }
  std::vector<std::string> ids;
  TextIds texts;
  for (ProcessId id = 0; id < trace.processes.size(); ++id) {
    const Process& process = trace.processes[id];
    const bool is_number = process.native_id != 0 || zero == id;
    ids.push_back(is_number ? std::to_string(process.native_id) : texts.unused(trace.strings[process.name]));
  }
  return ids;
}

bool has_default_name(const Trace& trace, const Track& track) {
  return trace.strings[track.name] == default_track_name(track);
}

// Spans that belong to no thread stand on a track of their category, in place of a tid.
std::string_view category_of_async(const Trace& trace, const Track& track) {
  if (track.kind != TrackKind::kAsync || track.event_count == 0) return {};
  if (const StringId* category = trace.categories.find(track.first_event)) return trace.strings[*category];
  bool is_known = false;
  kind_of(trace.strings[track.name], {}, is_known);
  return is_known ? trace.strings[track.name] : std::string_view();
}

// The tids of one process. Tracks without a number share the number 0 where they share their name or have none of
// their own, since what names a place names all its tracks.
class ThreadIds {
 public:
  // First all tracks are shown to it, then it is asked for their ids.
  void look_at(const Trace& trace, const Track& track) {
    if (track.native_id != 0 || !category_of_async(trace, track).empty()) return;
    has_several_names_ |= first_name_ && *first_name_ != track.name;
    first_name_ = track.name;
    has_default_names_ |= has_default_name(trace, track);
    is_only_about_recording_ &= track.kind == TrackKind::kRecording;
  }

  std::string id_of_track(const Trace& trace, const Track& track) {
    if (const auto category = category_of_async(trace, track); !category.empty()) return json_string(category);
    if (track.native_id != 0) return std::to_string(track.native_id);
    const bool is_named_alike = !has_several_names_ && !has_default_names_ && !is_only_about_recording_;
    const bool wants_zero = is_named_alike || has_default_name(trace, track);
    if (wants_zero && zeros_.emplace(track.kind, track.device).second) return std::string(kNumberZero);
    return texts_[{track.kind, track.device}].unused(trace.strings[track.name]);
  }

 private:
  using Key = std::pair<TrackKind, DeviceId>;

  std::optional<StringId> first_name_;
  bool has_several_names_ = false, has_default_names_ = false, is_only_about_recording_ = true;
  std::set<Key> zeros_;
  std::map<Key, TextIds> texts_;
};

}  // namespace

std::string default_track_name(const Track& track) {
  return (track.kind == TrackKind::kStream ? "stream " : "thread ") + std::to_string(track.native_id);
}

Places::Places(const Trace& trace) : pids_(process_ids(trace)) {
  std::vector<ThreadIds> threads(trace.processes.size());
  for (const Track& track : trace.tracks) threads[track.process].look_at(trace, track);
  std::map<std::pair<ProcessId, std::string>, std::size_t> known;
  for (TrackId id = 0; id < trace.tracks.size(); ++id) {
    const Track& track = trace.tracks[id];
    std::string tid = threads[track.process].id_of_track(trace, track);
    const auto [at, is_new] = known.emplace(std::pair{track.process, tid}, places_.size());
    if (is_new) places_.push_back({track.process, std::move(tid), {}});
    places_[at->second].tracks.push_back(id);
    place_of_track_.push_back(at->second);
  }
}

std::string_view Places::async_category(TrackId track) const {
  const std::string& tid = of(track).tid;
  return tid == kNumberZero ? kEmptyText : tid;
}

const std::string& Places::pid_of_recording(ProcessId process) const {
  return pids_[process] == kNumberZero ? kEmptyText : pids_[process];
}

}  // namespace telltale::kineto
