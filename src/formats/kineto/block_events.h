// What one block of the file's text holds: rows for the builder, and the halves of events whose other half may stand in
// another block.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/builder.h"
#include "trace/event_batch.h"

namespace telltale::kineto {

// Which begin and end belong together. Duration events (B, E) are told apart by their track alone, async ones by
// process, category and id.
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

struct BlockEvents {
  EventBatch batch;
  std::vector<OpenSpan> begins;
  std::vector<SpanEnd> ends;
  std::vector<TrackLabel> labels;
};

}  // namespace telltale::kineto
