#include "trace/track_list.h"

#include <string>
#include <string_view>
#include <vector>

namespace telltale {
namespace {

void apply_to_process(const TrackLabel& label, Translator& translator, Process& process) {
  using What = TrackLabel::What;
  if (label.what == What::kProcessName) process.name = translator.string(label.text);
  if (label.what == What::kProcessLabels) process.labels = translator.string(label.text);
  if (label.what == What::kProcessSortIndex) process.sort_index = label.number;
}

void apply_to_track(const TrackLabel& label, Translator& translator, InternedStrings& strings, Track& track) {
  using What = TrackLabel::What;
  if (label.what == What::kThreadSortIndex) track.sort_index = label.number;
  if (label.what != What::kThreadName) return;
  std::string_view text = strings[translator.string(label.text)];
  while (text.ends_with(' ')) text.remove_suffix(1);
  track.name = strings.intern(text);
}

StringId default_name(const TrackKey& key, InternedStrings& strings) {
  if (key.thread.text != kEmptyString) return key.thread.text;
  const std::string_view kind = key.kind == TrackKind::kStream ? "stream" : "thread";
  return strings.intern(std::string(kind) + " " + std::to_string(key.thread.number));
}

}  // namespace

TracksByPlace::TracksByPlace(const InternedValues<TrackKey>& keys) {
  for (TrackId track = 0; track < keys.size(); ++track) {
    const std::uint32_t place = places_.intern({keys[track].process, keys[track].thread});
    if (place == tracks_.size()) tracks_.emplace_back();
    tracks_[place].push_back(track);
  }
}

const std::vector<TrackId>& TracksByPlace::operator()(const FlowPlace& place) {
  const std::uint32_t known = places_.intern(place);
  if (known == tracks_.size()) tracks_.emplace_back();
  return tracks_[known];
}

void make_tracks(Translator& translator, std::span<const NamedLabel> labels, Trace& trace) {
  InternedValues<FlowPlace> process_ids;  // each as a place without a thread
  const auto process_of = [&](const NativeId& id) {
    const ProcessId process = process_ids.intern({id, {}});
    if (process == trace.processes.size()) trace.processes.emplace_back().native_id = id.number;
    return process;
  };
  const InternedValues<TrackKey>& keys = translator.tracks();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const TrackKey& key = keys[i];
    Track track;
    track.kind = key.kind;
    track.process = process_of(key.process);
    track.device = key.device;
    track.native_id = key.thread.number;
    trace.tracks.push_back(track);
  }
  TracksByPlace tracks_at(keys);
  const std::size_t process_count = trace.processes.size();
  for (const NamedLabel& named : labels) {
    translator.select(*named.names);
    const TrackLabel& label = named.label;
    const NativeId process = translator.native_id(label.process), thread = translator.native_id(label.thread);
    const ProcessId id = process_ids.intern({process, {}});
    if (id < process_count) apply_to_process(label, translator, trace.processes[id]);
    for (const TrackId track : tracks_at({process, thread}))
      apply_to_track(label, translator, trace.strings, trace.tracks[track]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (trace.tracks[i].name == kEmptyString) trace.tracks[i].name = default_name(keys[i], trace.strings);
  for (std::size_t i = 0; i < process_count; ++i)
    if (trace.processes[i].name == kEmptyString) trace.processes[i].name = process_ids[i].process.text;
}

}  // namespace telltale
