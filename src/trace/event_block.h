// What a reader hands in at a time: rows for the builder, and the halves of spans whose other half may stand in another
// block.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/anomalies.h"
#include "trace/builder.h"
#include "trace/event_batch.h"

namespace telltale {

// Which begin and end belong together. Spans of a thread are told apart by their track alone, async ones by process,
// category and id.
struct SpanKey {
  TrackId track = 0;  // local
  NativeId id;        // of async events
  bool operator==(const SpanKey&) const = default;
};

// A begin that was written as a row whose duration is still unknown.
struct OpenSpan {
  BatchRow row = 0;
  SpanKey key;
};

// An end that looks for its begin.
struct SpanEnd {
  Nanoseconds time = 0;
  SpanKey key;
  std::uint64_t byte_offset = 0;
  StringId name = kEmptyString;
  bool is_async = false;
};

struct EventBlock {
  EventBatch batch;
  std::vector<OpenSpan> begins;
  std::vector<SpanEnd> ends;
  std::vector<TrackLabel> labels;
};

// Gives every begin its end, across blocks: sets the durations of the rows that were written for begins.
//
// Begins and ends match like brackets, in the order of time, within a thread or, async ones, within a process, category
// and id. An async begin without an end becomes an instant; another one lasts to the end of its track.
void pair_spans(std::span<EventBlock> blocks, Anomalies& anomalies);

}  // namespace telltale
