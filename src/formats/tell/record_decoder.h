// One chunk of records to rows for the builder.
//
// One decoder a thread. Rows of all chunks it decodes share its LocalNames; definitions and places are only read.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "formats/tell/definitions.h"
#include "formats/tell/field_values.h"
#include "formats/tell/frames.h"
#include "formats/tell/local_sites.h"
#include "formats/tell/places.h"
#include "formats/tell/samples.h"
#include "trace/attribute_values.h"
#include "trace/event_block.h"
#include "trace/event_details.h"

namespace telltale::tell {

// Of a row whose call stack stands in the batch: how many of its outermost frames are the very calls that its thread's
// row before had.
struct KeptFrames {
  BatchRow row = 0;
  std::int32_t count = 0;
};

struct DecodedRecords {
  bool is_sound = false;     // nothing below is set otherwise
  bool lacks_sites = false;  // some records are about sites that no chunk describes
  std::uint64_t track = 0;
  std::uint64_t records = 0;
  std::uint64_t records_before = 0;  // of this track in the file
  EventBlock block;
  std::vector<Sample> samples;
  std::vector<KeptFrames> kept_frames;  // by row
  std::vector<OpenScope> ended;         // those of the track's open scopes that a record completes
};

class RecordDecoder {
 public:
  RecordDecoder(const Definitions& definitions, const Places& places, LocalNames& names);

  DecodedRecords decode(const Frame& frame);

  // A scope that never ended, as a row of `into`.
  void add_open_scope(std::uint64_t track, const OpenScope& scope, Nanoseconds end, EventBatch& into);

 private:
  struct LocalTrack {
    TrackId id = 0;
    TrackClock clock = TrackClock::kTicks;
    bool is_on_device = false;
  };
  struct LocalCounter {
    TrackId track = 0;
    StringId name = kEmptyString, series = kEmptyString;
  };
  struct Span {
    Nanoseconds start = 0, duration = 0;
  };
  struct Columns {
    ByteReader types, sites, times, durations, extras, values;
  };
  // What is carried from record to record of a chunk.
  struct Chunk {
    Columns columns;
    DecodedRecords decoded;
    LocalTrack track;
    const OpenScopes* open = nullptr;
    std::uint64_t own_time = 0, other_time = 0;
    std::uint64_t address = 0;
    std::uint64_t offset = 0;  // of the record at hand, for anomalies: the chunk's and the record's number
    bool has_values = true;    // false behind a record whose fields nobody knows
    bool is_sound = true;
  };

  void decode_record(Chunk& chunk);
  void decode_span(Chunk& chunk, const LocalSite& site, std::uint64_t site_number);
  void decode_instant(Chunk& chunk, const LocalSite& site);
  void decode_counter(Chunk& chunk, const LocalSite& site);
  void decode_allocation(Chunk& chunk, std::uint64_t pool);
  void decode_flow(Chunk& chunk, const LocalSite& site, FlowRole role);
  void decode_async(Chunk& chunk, const LocalSite& site, bool is_begin);
  void decode_step(Chunk& chunk);
  void decode_elsewhere(Chunk& chunk, const LocalSite& site, RecordType type);

  void decode_sample(Chunk& chunk, const LocalSite& site, std::optional<Span> span);
  void decode_captured_node(Chunk& chunk, const LocalSite& site, std::optional<Span> when);
  void decode_memory_record(Chunk& chunk, const LocalSite& site, std::optional<Span> when);

  // Nothing when no clock shows such a time.
  std::optional<Span> span_at(Chunk& chunk, TrackClock clock, std::uint64_t start, std::uint64_t duration);
  // Takes the record's values out of their column whether or not it has a usable time.
  std::optional<BatchRow> add_row(Chunk& chunk, const LocalSite& site, const LocalSite::Side& side, TrackId track,
                                  std::optional<Span> span);
  void note(Chunk& chunk, Anomaly anomaly, StringId name) {
    chunk.decoded.block.batch.anomalies.add(anomaly, chunk.offset, names_.strings[name]);
  }

  LocalTrack local_track(std::uint64_t number);
  LocalCounter counter_of(const LocalSite& site);

  const Definitions& definitions_;
  const Places& places_;
  LocalNames& names_;
  EventDetails details_;
  AttributeValues values_;
  LocalSites sites_;
  FieldReader fields_;
  NativeId process_;
  std::optional<TrackId> counter_track_;
  StringId only_series_ = kEmptyString;
  std::unordered_map<std::uint64_t, LocalTrack> tracks_;
};

}  // namespace telltale::tell
