// The kinds of trouble a trace can have, and how often each was met. Nothing is dropped in silence: whatever a
// reader could not take, had to repair or could not place is counted here, with the first example.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace telltale {

enum class Anomaly : std::uint8_t {
  kTruncated,               // the text ends in the middle
  kMalformedEvent,          // an event that is not valid JSON; skipped
  kNotAnEvent,              // an element of the event list that is no object; skipped
  kMissingPhase,            // an event without "ph"; skipped
  kUnknownPhase,            // an event whose "ph" nobody defined; skipped
  kMissingTime,             // an event without a usable "ts"; skipped
  kMissingDuration,         // a complete event without a usable "dur"; kept with duration 0
  kNegativeDuration,        // kept with duration 0
  kNumberOutOfRange,        // a number that its column cannot hold; the field is left out
  kInvalidEscape,           // a backslash sequence that JSON does not define; kept as it is
  kInvalidUtf8,             // bytes that are not UTF-8; replaced by U+FFFD
  kControlCharacter,        // a raw control character in a string; kept as it is
  kUnmatchedBegin,          // a B without its E; closed at the end of its track
  kUnmatchedEnd,            // an end (E, async e) without its begin; skipped
  kEndArguments,            // an end (E, async e) with arguments of its own; they are left out, the begin's count
  kUnmatchedAsync,          // an async begin without its end; kept as an instant
  kFlowWithoutStart,        // a flow end or step whose start is missing; no link made
  kFlowWithoutEnd,          // a flow start that nothing ends; no link made
  kFlowUnbound,             // a flow point where no event stands; no link made
  kDuplicateCorrelation,    // several launches share a correlation; the last one before the device event is taken
  kDeviceWithoutLaunch,     // device work whose launch is not in the trace
  kBackwardWithoutForward,  // a backward operator whose forward one is not in the trace
  kIncompleteMemoryEvent,   // a memory event without address or size; skipped
  kUnusableCounter,         // a counter value that is no finite number; skipped
  kUnknownMetadata,         // a metadata event that we do not interpret; skipped
  kUnreadableHeader,        // a top-level value that could not be read; left out
  kRepeatedEventList,       // a second "traceEvents" list; skipped
  kTrailingText,            // text after the end of the document; ignored
  kTooManyLanes,            // more events overlap on one track than we lay side by side; they share the last lane
  kUnfinishedRecording,     // a recording whose end is not in the file; the example says what may be missing
  kDroppedEvents,           // events that the recorder had to leave out; the example says why
  kDamagedChunk,            // a part of the file whose checksum or content is wrong; the example says what it took away
  kUnknownChunk,            // a part of the file that only a later version understands; skipped
  kOpenScope,               // a scope that had not ended when the recording did; drawn to the end
};
inline constexpr int kAnomalyCount = static_cast<int>(Anomaly::kOpenScope) + 1;

// "truncated", "malformed_event", …: the word in JSON output.
std::string_view name_of(Anomaly anomaly);
std::optional<Anomaly> anomaly_named(std::string_view name);
// One sentence: what it is and what was done about it.
std::string_view description_of(Anomaly anomaly);
// Whether the example completes that sentence, as "800 for want of memory" does, rather than being one of many.
bool has_telling_example(Anomaly anomaly);

struct AnomalyExample {
  std::uint64_t byte_offset = 0;  // in the decompressed text; the start of the event it concerns
  std::string text;               // a short quote or the event's name
};

struct AnomalyCount {
  Anomaly anomaly;
  std::uint64_t count;
  AnomalyExample example;
};

class Anomalies {
 public:
  // The example with the smallest byte offset is kept, so that the result does not depend on the order of work.
  void add(Anomaly anomaly, std::uint64_t byte_offset, std::string_view text = {});
  void add_many(Anomaly anomaly, std::uint64_t times, std::uint64_t byte_offset, std::string_view text);
  void merge(const Anomalies& other);

  std::uint64_t count(Anomaly anomaly) const { return entries_[static_cast<std::size_t>(anomaly)].count; }
  std::uint64_t total() const;
  // Those that occurred, in the order of the enumeration.
  std::vector<AnomalyCount> list() const;

 private:
  struct Entry {
    std::uint64_t count = 0;
    AnomalyExample example;
  };
  std::array<Entry, kAnomalyCount> entries_;
};

}  // namespace telltale
