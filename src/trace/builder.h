// Joins what a reader found into a Trace: sorts, nests and links it.
//
// Used by one thread; build() spreads its own work over as many threads as it is given, and the result is the same
// for any number of them.
#pragma once

#include <optional>
#include <vector>

#include "base/error.h"
#include "trace/event_batch.h"

namespace telltale {

// What metadata events say of a process or a thread.
struct TrackLabel {
  NativeId process, thread;
  enum class What : std::uint8_t {
    kProcessName,
    kProcessLabels,
    kProcessSortIndex,
    kThreadName,
    kThreadSortIndex
  } what = What::kThreadName;
  StringId text = kEmptyString;
  std::int64_t number = 0;
};

struct NamedLabel {
  const LocalNames* names;
  TrackLabel label;
};

class TraceBuilder {
 public:
  // Batches come in the order of the file; their LocalNames must live until build() returns.
  void append(EventBatch batch) { batches_.push_back(std::move(batch)); }
  void append_label(const LocalNames& names, TrackLabel label) { labels_.push_back({&names, label}); }

  // `trace` holds what is known already: format, metadata, devices, distributed, anomalies. `clock_epoch_ns` is the
  // wall-clock time of time 0 of the file's own clock; without it, times that can be wall-clock times are taken as
  // such.
  Result<Trace> build(Trace trace, std::optional<std::int64_t> clock_epoch_ns, unsigned threads) &&;

 private:
  std::vector<EventBatch> batches_;
  std::vector<NamedLabel> labels_;
};

}  // namespace telltale
