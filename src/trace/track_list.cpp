#include "trace/track_list.h"

#include <algorithm>
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

void make_tracks(Translator& translator, std::span<const NamedLabel> labels, Trace& trace) {
  std::vector<NativeId> process_ids;
  const auto process_of = [&](const NativeId& id) {
    const auto known = std::find(process_ids.begin(), process_ids.end(), id);
    if (known != process_ids.end()) return static_cast<ProcessId>(known - process_ids.begin());
    process_ids.push_back(id);
    trace.processes.emplace_back().native_id = id.number;
    return static_cast<ProcessId>(process_ids.size() - 1);
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
  for (const NamedLabel& named : labels) {
    translator.select(*named.names);
    const TrackLabel& label = named.label;
    const NativeId process = translator.native_id(label.process), thread = translator.native_id(label.thread);
    const auto known = std::find(process_ids.begin(), process_ids.end(), process);
    if (known != process_ids.end())
      apply_to_process(label, translator, trace.processes[static_cast<std::size_t>(known - process_ids.begin())]);
    for (std::size_t i = 0; i < keys.size(); ++i)
      if (keys[i].process == process && keys[i].thread == thread)
        apply_to_track(label, translator, trace.strings, trace.tracks[i]);
  }
  for (std::size_t i = 0; i < keys.size(); ++i)
    if (trace.tracks[i].name == kEmptyString) trace.tracks[i].name = default_name(keys[i], trace.strings);
  for (std::size_t i = 0; i < process_ids.size(); ++i)
    if (trace.processes[i].name == kEmptyString) trace.processes[i].name = process_ids[i].text;
}

}  // namespace telltale
