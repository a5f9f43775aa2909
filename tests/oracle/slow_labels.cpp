#include "slow_labels.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "slow_arguments.h"

namespace telltale::oracle {
namespace {

std::string without_trailing_spaces(std::string text) {
  while (text.ends_with(' ')) text.pop_back();
  return text;
}

std::string made_up_name(const SlowTrackKey& key) {
  if (!key.thread.text.empty()) return key.thread.text;
  return (key.kind == TrackKind::kStream ? "stream " : "thread ") + std::to_string(key.thread.number);
}

}  // namespace

void name_places(const SlowDocument& document, const std::vector<SlowTrackKey>& tracks,
                 const std::vector<SlowId>& processes, Trace& trace) {
  // The last word on each matter counts.
  std::map<SlowId, std::string> process_names, process_labels;
  std::map<SlowId, std::int64_t> process_order;
  std::map<std::pair<SlowId, SlowId>, std::string> thread_names;
  std::map<std::pair<SlowId, SlowId>, std::int64_t> thread_order;
  for (const SlowEvent& event : document.events) {
    if (event.phase != 'M') continue;
    const auto& arguments = event.arguments;
    const auto name = find(arguments, "name"), labels = find(arguments, "labels"),
               order = find(arguments, "sort_index");
    const std::int64_t place = integer_in(arguments, "sort_index").value_or(0);
    const std::pair thread{event.process, event.thread};
    if (event.name == "process_name" && name)
      process_names[event.process] = text_of(*name);
    else if (event.name == "process_labels" && labels)
      process_labels[event.process] = text_of(*labels);
    else if (event.name == "process_sort_index" && order)
      process_order[event.process] = place;
    else if (event.name == "thread_name" && name)
      thread_names[thread] = without_trailing_spaces(text_of(*name));
    else if (event.name == "thread_sort_index" && order)
      thread_order[thread] = place;
    else
      trace.anomalies.add(Anomaly::kUnknownMetadata, event.byte_offset);
  }

  for (const SlowId& id : processes) {
    const std::string& name = process_names[id].empty() ? id.text : process_names[id];
    trace.processes.push_back(
        {trace.strings.intern(name), trace.strings.intern(process_labels[id]), id.number, process_order[id]});
  }
  for (std::size_t i = 0; i < tracks.size(); ++i) {
    const SlowTrackKey& key = tracks[i];
    const std::string& given = thread_names[{key.process, key.thread}];
    Track& track = trace.tracks[i];
    track.name = trace.strings.intern(given.empty() ? made_up_name(key) : given);
    track.kind = key.kind;
    track.process = static_cast<ProcessId>(std::ranges::find(processes, key.process) - processes.begin());
    track.device = key.device;
    track.native_id = key.thread.number;
    track.sort_index = thread_order[{key.process, key.thread}];
  }
}

}  // namespace telltale::oracle
