#include "trace/anomalies.h"

#include "base/text_encoding.h"

namespace telltale {
namespace {

constexpr std::size_t kLongestQuote = 80;

struct Declaration {
  std::string_view name;
  std::string_view description;
};

constexpr std::array<Declaration, kAnomalyCount> kDeclarations = {{
    {"truncated", "The file ends in the middle; every complete event before the cut was read."},
    {"malformed_event", "An event is not valid JSON (an unescaped quote, for example); it was skipped."},
    {"not_an_event", "An element of the event list is not an object; it was skipped."},
    {"missing_phase", "An event has no \"ph\"; it was skipped."},
    {"unknown_phase", "An event has a \"ph\" that the format does not define; it was skipped."},
    {"missing_time", "An event has no usable \"ts\"; it was skipped."},
    {"missing_duration", "A complete event has no usable \"dur\"; it was kept with duration 0."},
    {"negative_duration", "An event ends before it starts; it was kept with duration 0."},
    {"number_out_of_range", "A number is too large for its field; the field was left out."},
    {"invalid_escape", "A string holds a backslash sequence that JSON does not define; it was kept."},
    {"invalid_utf8", "A string is not valid UTF-8; the bad bytes were replaced by U+FFFD."},
    {"control_character", "A string holds a raw control character; it was kept."},
    {"unmatched_begin", "A begin event has no end; it was closed at the end of its track."},
    {"unmatched_end", "An end event has no begin; it was skipped."},
    {"end_arguments", "An end event has arguments of its own; only those of its begin were kept."},
    {"unmatched_async", "An async begin has no end; it was kept as an instant."},
    {"flow_without_start", "A flow ends that never started; no link was made."},
    {"flow_without_end", "A flow starts that never ends; no link was made."},
    {"flow_unbound", "A flow points at a moment where no event stands; no link was made."},
    {"duplicate_correlation",
     "Several launches share one correlation id; the last one before the device event was taken."},
    {"device_without_launch", "Device work has no launch in the trace, so its cause is unknown."},
    {"backward_without_forward", "A backward operator's forward one is not in the trace."},
    {"incomplete_memory_event", "A memory event lacks its address or size; it was skipped."},
    {"unusable_counter", "A counter value is not a finite number; it was skipped."},
    {"unknown_metadata", "A metadata event has a name that we do not interpret; it was skipped."},
    {"unreadable_header", "A top-level value could not be read; it was left out."},
    {"repeated_event_list", "A second list of events was found in the file; it was skipped."},
    {"trailing_text", "There is text after the end of the document; it was ignored."},
    {"too_many_lanes", "Too many events overlap on one track; they share the last lane."},
    {"unfinished_recording", "The recording has no end: it still goes on, or its process was killed."},
    {"dropped_events", "The recorder had to leave an event out."},
    {"damaged_chunk", "A part of the file is damaged; what it held is missing."},
    {"unknown_chunk", "A part of the file can only be read by a later version; it was skipped."},
    {"open_scope", "A scope had not ended when the recording did; it is drawn to the end."},
}};

}  // namespace

std::string_view name_of(Anomaly anomaly) { return kDeclarations[static_cast<std::size_t>(anomaly)].name; }

std::optional<Anomaly> anomaly_named(std::string_view name) {
  for (std::size_t i = 0; i < kDeclarations.size(); ++i)
    if (kDeclarations[i].name == name) return static_cast<Anomaly>(i);
  return std::nullopt;
}

std::string_view description_of(Anomaly anomaly) {
  return kDeclarations[static_cast<std::size_t>(anomaly)].description;
}

bool has_telling_example(Anomaly anomaly) {
  return anomaly == Anomaly::kUnfinishedRecording || anomaly == Anomaly::kDroppedEvents ||
         anomaly == Anomaly::kDamagedChunk;
}

void Anomalies::add(Anomaly anomaly, std::uint64_t byte_offset, std::string_view text) {
  add_many(anomaly, 1, byte_offset, text);
}

void Anomalies::add_many(Anomaly anomaly, std::uint64_t times, std::uint64_t byte_offset, std::string_view text) {
  Entry& entry = entries_[static_cast<std::size_t>(anomaly)];
  if (entry.count == 0 || byte_offset < entry.example.byte_offset)
    entry.example = {byte_offset, repaired_utf8(text.substr(0, kLongestQuote))};
  entry.count += times;
}

void Anomalies::merge(const Anomalies& other) {
  for (const AnomalyCount& entry : other.list())
    add_many(entry.anomaly, entry.count, entry.example.byte_offset, entry.example.text);
}

std::uint64_t Anomalies::total() const {
  std::uint64_t sum = 0;
  for (const Entry& entry : entries_) sum += entry.count;
  return sum;
}

std::vector<AnomalyCount> Anomalies::list() const {
  std::vector<AnomalyCount> found;
  for (std::size_t i = 0; i < entries_.size(); ++i)
    if (entries_[i].count > 0) found.push_back({static_cast<Anomaly>(i), entries_[i].count, entries_[i].example});
  return found;
}

}  // namespace telltale
