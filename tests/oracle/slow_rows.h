// The events of a document as rows with a place, a kind and an end: begins joined to their ends.
#pragma once

#include <compare>
#include <string>
#include <vector>

#include "slow_document.h"
#include "trace/trace.h"

namespace telltale::oracle {

struct SlowTrackKey {
  SlowId process, thread;
  TrackKind kind = TrackKind::kThread;
  DeviceId device = kHost;  // of a stream
  auto operator<=>(const SlowTrackKey&) const = default;
};

struct SlowRow {
  const SlowEvent* event = nullptr;
  SlowTrackKey track;
  Kind kind = Kind::kOther;
  Nanoseconds start = 0, end = 0;  // in the file's clock
};

// In the order of the file.
std::vector<SlowRow> slow_rows(const SlowDocument& document, Anomalies& anomalies);

Kind slow_kind(const std::string& category, const std::string& name);
// Whether the kind says all that the category did.
bool is_told_by_kind(const std::string& category);
bool is_memory_event(const SlowEvent& event);

}  // namespace telltale::oracle
