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

// Listed with its severity and its sentence in anomalies.inc, and nowhere else.
enum class Anomaly : std::uint8_t {
#define TELLTALE_ANOMALY(enumerator, name, severity, description) enumerator,
#include "trace/anomalies.inc"
#undef TELLTALE_ANOMALY
};

inline constexpr int kAnomalyCount = 0
#define TELLTALE_ANOMALY(enumerator, name, severity, description) +1
#include "trace/anomalies.inc"
#undef TELLTALE_ANOMALY
    ;

// How much an anomaly matters to someone who reads a report, the worst one first.
enum class Severity : std::uint8_t {
  kLost,      // something that the file holds, or should hold, is not in the trace
  kRepaired,  // the file is wrong, and was read as it was probably meant
  kNote,      // normal for its writer; reports are silent about it
};
inline constexpr Severity kSeverities[] = {Severity::kLost, Severity::kRepaired, Severity::kNote};
std::string_view name_of(Severity severity);  // "lost", "repaired", "note"

// "truncated", "malformed_event", …: the word in JSON output.
std::string_view name_of(Anomaly anomaly);
std::optional<Anomaly> anomaly_named(std::string_view name);
// One sentence: what it is and what was done about it.
std::string_view description_of(Anomaly anomaly);
Severity severity_of(Anomaly anomaly);
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
  std::uint64_t count(Severity severity) const;  // of all its kinds
  std::uint64_t total() const;
  // Those that occurred, in the order of the enumeration.
  std::vector<AnomalyCount> list() const;
  // Likewise, without the notes: what reports speak of.
  std::vector<AnomalyCount> troubles() const;

 private:
  struct Entry {
    std::uint64_t count = 0;
    AnomalyExample example;
  };
  std::array<Entry, kAnomalyCount> entries_;
};

}  // namespace telltale
