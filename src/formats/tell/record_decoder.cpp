#include "formats/tell/record_decoder.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "trace/gauges.h"
#include "trace/resident_memory.h"
#include "trace/step_marks.h"

namespace telltale::tell {
namespace {

// 31 years: sums of a few of them cannot overflow.
constexpr Nanoseconds kLongestDuration = 1'000'000'000'000'000'000;

bool has_own_time(RecordType type) { return type < RecordType::kSpanOnTrack; }

bool has_fields(RecordType type) {
  return type == RecordType::kSpan || type == RecordType::kInstant || type == RecordType::kAsyncBegin ||
         type == RecordType::kSpanOnTrack || type == RecordType::kBeginOnTrack;
}

bool has_site(RecordType type) {
  return type != RecordType::kAllocation && type != RecordType::kStep && type != RecordType::kEndOnTrack;
}

}  // namespace

RecordDecoder::RecordDecoder(const Definitions& definitions, const Places& places, LocalNames& names)
    : definitions_(definitions),
      places_(places),
      names_(names),
      details_(names),
      values_(details_),
      sites_(definitions.sites, names),
      fields_(definitions.sites, sites_.texts(), names),
      process_(local_id(places.process(), names)) {}

DecodedRecords RecordDecoder::decode(const Frame& frame) {
  const auto payload = Payload::open(frame);
  if (!payload) return {};
  ByteReader reader = payload->reader();
  Chunk chunk;
  chunk.decoded.track = reader.varint();
  chunk.decoded.records = reader.varint();
  chunk.decoded.records_before = reader.varint();
  Columns& columns = chunk.columns;
  for (ByteReader* column :
       {&columns.types, &columns.sites, &columns.times, &columns.durations, &columns.extras, &columns.values})
    *column = reader.bytes(reader.varint());
  if (!reader.is_good() || columns.types.left() != chunk.decoded.records) return {};

  chunk.track = local_track(chunk.decoded.track);
  if (const auto open = definitions_.open_scopes.find(chunk.decoded.track); open != definitions_.open_scopes.end())
    chunk.open = &open->second;
  chunk.offset = frame.offset;
  chunk.decoded.block.batch.names = &names_;
  chunk.decoded.block.batch.events.reserve(chunk.decoded.records);
  chunk.decoded.block.batch.offsets.reserve(chunk.decoded.records);
  for (; !columns.types.is_at_end() && chunk.is_sound; ++chunk.offset) decode_record(chunk);

  const bool is_whole = columns.sites.is_good() && columns.times.is_good() && columns.durations.is_good() &&
                        columns.extras.is_good() && (columns.values.is_good() || !chunk.has_values);
  if (!is_whole || !chunk.is_sound) return {};
  chunk.decoded.is_sound = true;
  return std::move(chunk.decoded);
}

void RecordDecoder::decode_record(Chunk& chunk) {
  const auto type = static_cast<RecordType>(chunk.columns.types.byte());
  const std::uint64_t number = chunk.columns.sites.varint();
  const std::uint64_t difference = chunk.columns.times.varint();
  std::uint64_t& time = has_own_time(type) ? chunk.own_time : chunk.other_time;
  time += static_cast<std::uint64_t>(unzigzag(difference));
  const LocalSite& site = has_site(type) ? sites_.of(number) : sites_.none();
  if (!site.is_known && has_site(type)) {
    chunk.decoded.lacks_sites = true;
    if (has_fields(type)) chunk.has_values = false;
  }
  switch (type) {
    case RecordType::kSpan:
      return decode_span(chunk, site, number);
    case RecordType::kInstant:
      return decode_instant(chunk, site);
    case RecordType::kCounter:
      return decode_counter(chunk, site);
    case RecordType::kAllocation:
      return decode_allocation(chunk, number);
    case RecordType::kFlowStart:
      return decode_flow(chunk, site, FlowRole::kStart);
    case RecordType::kFlowStep:
      return decode_flow(chunk, site, FlowRole::kStep);
    case RecordType::kFlowEnd:
      return decode_flow(chunk, site, FlowRole::kEnd);
    case RecordType::kAsyncBegin:
      return decode_async(chunk, site, true);
    case RecordType::kAsyncEnd:
      return decode_async(chunk, site, false);
    case RecordType::kStep:
      return decode_step(chunk);
    case RecordType::kSpanOnTrack:
    case RecordType::kBeginOnTrack:
    case RecordType::kEndOnTrack:
      return decode_elsewhere(chunk, site, type);
  }
  chunk.is_sound = false;  // what it carries in the other columns is anyone's guess
}

void RecordDecoder::decode_span(Chunk& chunk, const LocalSite& site, std::uint64_t site_number) {
  const std::uint64_t ticks = chunk.own_time, duration = chunk.columns.durations.varint();
  const LocalSite::Side& side = chunk.track.is_on_device ? site.device : site.host;
  add_row(chunk, site, side, chunk.track.id, span_at(chunk, chunk.track.clock, ticks, duration));
  if (chunk.open == nullptr) return;
  const OpenScope scope{ticks, site_number};
  if (std::ranges::binary_search(chunk.open->scopes, scope)) chunk.decoded.ended.push_back(scope);
}

void RecordDecoder::decode_instant(Chunk& chunk, const LocalSite& site) {
  const auto when = span_at(chunk, chunk.track.clock, chunk.own_time, 0);
  if (site.captured_node.is_of_nodes()) return decode_captured_node(chunk, site, when);
  if (site.memory_record.is_known()) return decode_memory_record(chunk, site, when);
  add_row(chunk, site, site.instant, chunk.track.id, when);
}

void RecordDecoder::decode_counter(Chunk& chunk, const LocalSite& site) {
  const double value = chunk.columns.extras.float64();
  const auto time = places_.time(chunk.track.clock, chunk.own_time);
  if (!time) return note(chunk, Anomaly::kMissingTime, site.name);
  if (!std::isfinite(value)) return note(chunk, Anomaly::kUnusableCounter, site.name);
  const auto [track, name, series] = counter_of(site);
  chunk.decoded.block.batch.counters.push_back({*time, track, name, series, value});
}

// Where a counter stands and what it is called: see trace/gauges.h for those of devices, trace/resident_memory.h for
// those of processes.
RecordDecoder::LocalCounter RecordDecoder::counter_of(const LocalSite& site) {
  if (only_series_ == kEmptyString) only_series_ = names_.strings.intern(kOwnProcess);
  if (site.category != kEmptyString) {
    if (const auto gauge = gauge_of(names_.strings[site.category], names_.strings[site.name])) {
      const std::string name = counter_name(*gauge), place = std::string(gauge->device) + " gauges";
      const NativeId id{0, names_.strings.intern(place)};
      const TrackId track = names_.tracks.intern({process_, id, TrackKind::kCounter, gauge->device_id});
      return {track, names_.strings.intern(name), only_series_};
    }
  }
  if (!counter_track_) {
    const NativeId counters{0, names_.strings.intern("counters")};
    counter_track_ = names_.tracks.intern({process_, counters, TrackKind::kCounter, kHost});
  }
  const bool is_of_process = is_process_series(names_.strings[site.category]);
  return {*counter_track_, site.name, is_of_process ? site.category : only_series_};
}

void RecordDecoder::decode_allocation(Chunk& chunk, std::uint64_t pool) {
  ByteReader& extras = chunk.columns.extras;
  BatchMemoryEvent event;
  chunk.address += static_cast<std::uint64_t>(extras.signed_varint());
  event.address = chunk.address;
  event.bytes = extras.signed_varint();
  const std::int64_t device = extras.signed_varint();
  if (extras.varint() != 0) {
    event.total_allocated = extras.signed_varint();
    event.total_reserved = extras.signed_varint();
  }
  event.track = chunk.track.id;
  event.pool = sites_.texts().of(definitions_.sites.text(pool));
  if (std::in_range<DeviceId>(device))
    event.device = static_cast<DeviceId>(device);
  else
    note(chunk, Anomaly::kNumberOutOfRange, event.pool);
  const auto time = places_.time(chunk.track.clock, chunk.own_time);
  if (!time) return note(chunk, Anomaly::kMissingTime, event.pool);
  event.time = *time;
  chunk.decoded.block.batch.memory.push_back(event);
}

void RecordDecoder::decode_flow(Chunk& chunk, const LocalSite& site, FlowRole role) {
  BatchFlowPoint point;
  point.id_number = static_cast<std::int64_t>(chunk.columns.extras.varint());
  const auto time = places_.time(chunk.track.clock, chunk.own_time);
  if (!time) return note(chunk, Anomaly::kMissingTime, site.name);
  point.time = *time;
  point.byte_offset = chunk.offset;
  point.kind = names_.flow_kinds.intern({site.category, site.name});
  const TrackKey& own = names_.tracks[chunk.track.id];
  point.place = names_.flow_places.intern({own.process, own.thread});
  point.role = role;
  chunk.decoded.block.batch.flows.push_back(point);
}

void RecordDecoder::decode_async(Chunk& chunk, const LocalSite& site, bool is_begin) {
  const auto id = static_cast<std::int64_t>(chunk.columns.extras.varint());
  const StringId category = site.category != kEmptyString ? site.category : names_.strings.intern("async");
  const TrackId track = names_.tracks.intern({process_, {0, category}, TrackKind::kAsync, kHost});
  // Begin and end may stand at different places of the program, so that only their name makes them belong together.
  const SpanKey key{track, {id, site.name}};
  const auto span = span_at(chunk, chunk.track.clock, chunk.own_time, 0);
  if (is_begin) {
    if (const auto row = add_row(chunk, site, site.async, track, span))
      chunk.decoded.block.begins.push_back({*row, key});
  } else if (span) {
    chunk.decoded.block.ends.push_back({span->start, key, chunk.offset, site.name, true});
  } else {
    note(chunk, Anomaly::kMissingTime, site.name);
  }
}

void RecordDecoder::decode_step(Chunk& chunk) {
  const std::uint64_t duration = chunk.columns.durations.varint();
  LocalSite site;
  site.name = names_.strings.intern(step_name(chunk.columns.extras.signed_varint()));
  site.host.kind = chunk.track.is_on_device ? Kind::kDeviceAnnotation : Kind::kAnnotation;
  add_row(chunk, site, site.host, chunk.track.id, span_at(chunk, chunk.track.clock, chunk.own_time, duration));
}

void RecordDecoder::decode_elsewhere(Chunk& chunk, const LocalSite& site, RecordType type) {
  const std::uint64_t duration = type == RecordType::kSpanOnTrack ? chunk.columns.durations.varint() : 0;
  const LocalTrack track = local_track(chunk.columns.extras.varint());
  const auto span = span_at(chunk, track.clock, chunk.other_time, duration);
  EventBlock& block = chunk.decoded.block;
  if (type == RecordType::kEndOnTrack) {
    if (span)
      block.ends.push_back({span->start, {track.id, {}}, chunk.offset, kEmptyString, false});
    else
      note(chunk, Anomaly::kMissingTime, kEmptyString);
    return;
  }
  const auto correlation = static_cast<std::int64_t>(chunk.columns.extras.varint());
  if (site.sample.is_of_samples() && type == RecordType::kSpanOnTrack) return decode_sample(chunk, site, span);
  const auto row = add_row(chunk, site, track.is_on_device ? site.device : site.host, track.id, span);
  if (!row) return;
  if (type == RecordType::kBeginOnTrack) block.begins.push_back({*row, {track.id, {}}});
  if (correlation == 0) return;
  std::vector<BatchLink>& links = block.batch.links;
  if (links.empty() || links.back().row != *row) links.push_back({*row, 0, 0});
  links.back().correlation = correlation;
}

void RecordDecoder::decode_sample(Chunk& chunk, const LocalSite& site, std::optional<Span> span) {
  if (!chunk.has_values) return;
  Sample sample = site.sample.read(chunk.columns.values, definitions_.sites);
  if (!span) return note(chunk, Anomaly::kMissingTime, site.name);
  sample.time = span->start;
  chunk.decoded.samples.push_back(sample);
}

void RecordDecoder::decode_captured_node(Chunk& chunk, const LocalSite& site, std::optional<Span> when) {
  if (!chunk.has_values) return;
  BatchCapturedNode node = site.captured_node.read(chunk.columns.values, definitions_.sites, sites_.texts());
  if (!when) return note(chunk, Anomaly::kMissingTime, site.name);
  node.time = when->start;
  node.track = chunk.track.id;
  chunk.decoded.block.batch.captured_nodes.push_back(node);
}

void RecordDecoder::decode_memory_record(Chunk& chunk, const LocalSite& site, std::optional<Span> when) {
  if (!chunk.has_values) return;
  const MemoryRecord record = site.memory_record.read(chunk.columns.values, definitions_.sites, sites_.texts());
  if (!when) return note(chunk, Anomaly::kMissingTime, site.name);
  if (!site.memory_record.add(record, when->start, chunk.track.id, chunk.decoded.block.batch))
    note(chunk, Anomaly::kNumberOutOfRange, site.name);
}

std::optional<RecordDecoder::Span> RecordDecoder::span_at(Chunk& chunk, TrackClock clock, std::uint64_t start,
                                                          std::uint64_t duration) {
  const auto from = places_.time(clock, start);
  if (!from) return std::nullopt;
  if (duration == 0) return Span{*from, 0};
  const auto to = start + duration < start ? std::nullopt : places_.time(clock, start + duration);
  if (to && *to - *from <= kLongestDuration) return Span{*from, *to - *from};
  note(chunk, Anomaly::kMissingDuration, kEmptyString);
  return Span{*from, 0};
}

std::optional<BatchRow> RecordDecoder::add_row(Chunk& chunk, const LocalSite& site, const LocalSite::Side& side,
                                               TrackId track, std::optional<Span> span) {
  EventBatch& batch = chunk.decoded.block.batch;
  const bool has_values = side.has_values && chunk.has_values;
  if (has_values || side.has_details) values_.clear();
  if (has_values) fields_.read(side.plan, chunk.columns.values, values_);
  if (!span) {
    note(chunk, Anomaly::kMissingTime, site.name);
    return std::nullopt;
  }
  const auto row = static_cast<BatchRow>(batch.events.size());
  batch.events.push_back({span->start, span->duration, site.name, track, side.kind});
  batch.offsets.push_back(chunk.offset);
  if (site.source) batch.sources.push_back({row, *site.source});
  if (side.category != kEmptyString) batch.categories.push_back({row, side.category});
  if (side.has_details) {
    details_.select(batch, chunk.offset, site.name);
    details_.write(values_, side.kind, row);
  } else if (has_values) {
    batch.other_arguments.push_back({row, values_.others()});
  }
  if (has_values && side.plan.tells_kept_frames()) chunk.decoded.kept_frames.push_back({row, fields_.kept_frames()});
  return row;
}

void RecordDecoder::add_open_scope(std::uint64_t track, const OpenScope& scope, Nanoseconds end, EventBatch& into) {
  const LocalSite& site = sites_.of(scope.site);
  const LocalTrack place = local_track(track);
  const auto start = places_.time(place.clock, scope.start);
  if (!start) return into.anomalies.add(Anomaly::kMissingTime, 0, names_.strings[site.name]);
  const auto row = static_cast<BatchRow>(into.events.size());
  const Nanoseconds duration = std::clamp<Nanoseconds>(end - *start, 0, kLongestDuration);
  into.events.push_back({*start, duration, site.name, place.id, site.host.kind});
  into.offsets.push_back(0);
  if (site.source) into.sources.push_back({row, *site.source});
  if (site.host.category != kEmptyString) into.categories.push_back({row, site.host.category});
  into.anomalies.add(Anomaly::kOpenScope, 0, names_.strings[site.name]);
}

RecordDecoder::LocalTrack RecordDecoder::local_track(std::uint64_t number) {
  const auto [known, is_new] = tracks_.try_emplace(number);
  if (is_new) {
    const Place place = places_.place(number);
    known->second = {names_.tracks.intern(local_key(place, names_)), place.clock, place.kind == TrackKind::kStream};
  }
  return known->second;
}

}  // namespace telltale::tell
