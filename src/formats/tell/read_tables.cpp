#include "formats/tell/read_tables.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <limits>

#include "base/json_text.h"
#include "base/parallel.h"
#include "base/text_encoding.h"
#include "formats/tell/column_codec.h"
#include "formats/tell/table_chunks.h"
#include "formats/tell/table_layout.h"
#include "trace/nesting.h"

namespace telltale::tell {
namespace {

bool is_span(Nanoseconds start, Nanoseconds duration) {
  Nanoseconds end = 0;
  return start >= 0 && duration >= 0 && !__builtin_add_overflow(start, duration, &end);
}

// The reading of one file, step by step: each member function is one step, in the order of run().
class TableReader {
 public:
  TableReader(const TableChunks& chunks, unsigned threads) : chunks_(chunks), threads_(threads) {}

  // Where in the file something cannot be; SIZE_MAX when all is well.
  std::uint64_t run() {
    read_texts();
    if (is_good()) read_tables();
    if (is_good()) place_events();
    if (is_good()) check_links();
    trace_.strings.shrink();
    return damage_;
  }
  Trace take() { return std::move(trace_); }

 private:
  bool is_good() const { return damage_ == kNoDamage; }
  void require(bool condition, std::uint64_t offset = 0) {
    if (condition) return;
    std::uint64_t known = damage_;
    while (offset < known && !damage_.compare_exchange_weak(known, offset)) {
    }
  }

  void read_texts();
  void read_tables();
  void read_events(const TableChunk& chunk);
  void read_memory();
  void read_counter_values();
  void read_anomalies();
  void read_header();
  void place_events();
  void place_track(TrackId track);
  void check_links();

  // Calls `take(columns, row)` for each row of a chunk or of a table. Flat, so that nothing of a row's description is
  // left in the loop.
  template <typename Take>
  TELLTALE_INLINE_CALLS void read_chunk(const TableChunk& chunk, Take take) {
    ColumnReader columns(chunk.columns, chunks_.counts());
    for (std::uint64_t i = 0; i < chunk.rows; ++i) {
      columns.begin_row();
      take(columns, static_cast<std::size_t>(chunk.first + i));
    }
    require(columns.is_good(), chunk.offset);
  }
  template <typename Take>
  void read_rows(TableId table, Take take) {
    for (const TableChunk& chunk : chunks_.of(table)) read_chunk(chunk, take);
  }
  template <typename Row>
  void read_list(TableId table, std::vector<Row>& rows) {
    rows.resize(chunks_.rows(table));
    read_rows(table, [&](ColumnReader& columns, std::size_t i) { columns_of(columns, rows[i]); });
  }
  template <typename Row>
  void read_side_table(TableId table, SideTable<Row>& rows, auto description) {
    rows.reserve(chunks_.rows(table));
    std::int64_t last = -1;
    read_rows(table, [&](ColumnReader& columns, std::size_t) {
      EventKey key;
      Row row{};
      columns_of(columns, key);
      columns_of(columns, row, description);
      columns.require(key.event > last && key.event < chunks_.rows(TableId::kEvents));
      last = key.event;
      rows.append(key.event, row);
    });
  }

  static constexpr std::uint64_t kNoDamage = std::numeric_limits<std::uint64_t>::max();

  const TableChunks& chunks_;
  unsigned threads_;
  Trace trace_;
  std::vector<Label> labels_;
  std::atomic<std::uint64_t> damage_ = kNoDamage;  // threads may find several; the first in the file counts
};

void TableReader::read_texts() {
  std::string text;
  read_rows(TableId::kStrings, [&](ColumnReader& columns, std::size_t i) {
    columns.words(text);
    columns.require(is_utf8(text) && trace_.strings.intern(text) == i + 1);
  });
  read_list(TableId::kLabels, labels_);
}

void TableReader::read_tables() {
  Events& events = trace_.events;
  const std::size_t rows = chunks_.rows(TableId::kEvents);
  events.start.resize(rows);
  events.duration.resize(rows);
  events.name.resize(rows);
  events.kind.resize(rows);
  events.track.resize(rows);
  events.parent.resize(rows);
  events.cause.resize(rows);
  std::vector<std::function<void()>> jobs;
  for (const TableChunk& chunk : chunks_.of(TableId::kEvents)) jobs.push_back([this, &chunk] { read_events(chunk); });
  jobs.push_back([&] { read_memory(); });
  for_each_side_table([&](const TableInfo& info, auto table_of, auto description) {
    jobs.push_back([=, this] { read_side_table(TableId{info.number}, table_of(trace_), description); });
  });
  for_each_list([&](const TableInfo& info, auto rows_in, auto) {
    jobs.push_back([=, this] { read_list(TableId{info.number}, rows_in(trace_)); });
  });
  jobs.push_back([&] { read_counter_values(); });
  jobs.push_back([&] { read_header(); });
  parallel_for(jobs.size(), threads_, [&](std::size_t i) { jobs[i](); });
}

// The tables of one row or few, that no list of the trace holds.
void TableReader::read_header() {
  read_rows(TableId::kTrace, [&](ColumnReader& columns, std::size_t) {
    columns_of(columns, trace_);
    columns_of(columns, trace_.recorded);
  });
  read_rows(TableId::kDistributed,
            [&](ColumnReader& columns, std::size_t) { columns_of(columns, trace_.distributed.emplace()); });
  if (trace_.distributed) read_list(TableId::kProcessGroups, trace_.distributed->groups);
  read_anomalies();
}

void TableReader::read_counter_values() {
  Counters& counters = trace_.counters;
  counters.time.resize(chunks_.rows(TableId::kCounterValues));
  counters.value.resize(counters.time.size());
  read_rows(TableId::kCounterValues, [&](ColumnReader& columns, std::size_t i) {
    CounterRow row;
    columns_of(columns, row);
    counters.time[i] = row.time;
    counters.value[i] = row.value;
  });
}

void TableReader::read_anomalies() {
  trace_.anomalies = chunks_.anomalies();
  std::vector<AnomalyRow> rows;
  read_list(TableId::kAnomalies, rows);
  for (const AnomalyRow& row : rows) {
    // One of a later version is at least counted.
    const Anomaly anomaly = anomaly_named(row.name).value_or(Anomaly::kUnknownChunk);
    trace_.anomalies.add_many(anomaly, row.count, row.byte_offset, row.text);
  }
}

void TableReader::read_events(const TableChunk& chunk) {
  Events& events = trace_.events;
  read_chunk(chunk, [&](ColumnReader& columns, std::size_t i) {
    EventRow row;
    columns_of(columns, row);
    columns.require(is_span(row.start, row.duration));
    events.start[i] = row.start;
    events.duration[i] = row.duration;
    events.cause[i] = row.cause;
    events.name[i] = labels_[row.label].name;
    events.kind[i] = labels_[row.label].kind;
  });
}

void TableReader::read_memory() {
  MemoryEvents& memory = trace_.memory;
  memory.reserve(chunks_.rows(TableId::kMemory));
  std::vector<StringId> pools;
  bool has_pools = false;
  Nanoseconds last = 0;
  for (const TableChunk& chunk : chunks_.of(TableId::kMemory)) {
    MemoryTotals totals;
    read_chunk(chunk, [&](ColumnReader& columns, std::size_t) {
      MemoryRow row;
      columns_of(columns, row);
      columns.require(row.time >= last);
      last = row.time;
      MemoryTotals::Totals& expected = totals.expected(row.device, row.bytes);
      expected.allocated += static_cast<std::uint64_t>(row.allocated_beyond);
      expected.reserved += static_cast<std::uint64_t>(row.reserved_beyond);
      memory.time.push_back(row.time);
      memory.address.push_back(row.address);
      memory.bytes.push_back(row.bytes);
      memory.total_allocated.push_back(static_cast<std::int64_t>(expected.allocated));
      memory.total_reserved.push_back(static_cast<std::int64_t>(expected.reserved));
      memory.device.push_back(row.device);
      memory.track.push_back(row.track);
      memory.event.push_back(row.event);
      pools.push_back(row.pool);
      has_pools |= row.pool != kEmptyString;
    });
  }
  if (has_pools) memory.pool = std::move(pools);
}

void TableReader::place_events() {
  // The tracks' ranges must be all rows, each once.
  std::vector<TrackId> order(trace_.tracks.size());
  for (TrackId i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(
      order, {}, [&](TrackId id) { return std::pair(trace_.tracks[id].first_event, trace_.tracks[id].event_count); });
  std::uint64_t next = 0;
  for (const TrackId id : order) {
    require(trace_.tracks[id].first_event == next || trace_.tracks[id].event_count == 0);
    next += trace_.tracks[id].event_count;
  }
  require(next == trace_.events.size());
  if (!is_good()) return;
  parallel_for(trace_.tracks.size(), threads_, [&](std::size_t id) { place_track(static_cast<TrackId>(id)); });
}

void TableReader::place_track(TrackId id) {
  const Track& track = trace_.tracks[id];
  Events& events = trace_.events;
  const EventId end = track.first_event + track.event_count;
  for (EventId event = track.first_event; event < end; ++event) {
    events.track[event] = id;
    if (event == track.first_event) continue;
    const bool is_in_order =
        events.start[event] > events.start[event - 1] ||
        (events.start[event] == events.start[event - 1] && events.duration[event] <= events.duration[event - 1]);
    require(is_in_order);
  }
  nest(events, track);
}

// What rows of different tables say of one another, and what later readers take for granted.
void TableReader::check_links() {
  Nanoseconds last = 0;
  for (const Step& step : trace_.steps) {
    require(is_span(step.start, step.duration) && step.start >= last);
    last = step.start;
  }
  for (const Flow& flow : trace_.flows) require(flow.from != kNoEvent && flow.to != kNoEvent);
  for (const CounterSeries& series : trace_.counters.series)
    require(std::uint64_t{series.first} + series.count <= trace_.counters.size());
  require(trace_.duration >= 0 && is_utf8(trace_.format));
  for (const Device& device : trace_.devices) require(is_utf8(device.name));
  for (const auto& [key, value] : trace_.metadata) require(is_utf8(key) && compact_json(value) == value);
  if (!trace_.distributed) return;
  require(is_utf8(trace_.distributed->backend) && is_utf8(trace_.distributed->nccl_version));
  for (const ProcessGroup& group : trace_.distributed->groups)
    require(is_utf8(group.name) && is_utf8(group.description) && is_utf8(group.backend));
}

}  // namespace

bool has_tables(const FrameScan& scan) {
  return !scan.frames.empty() && scan.frames.front().kind() == ChunkKind::kTable;
}

Result<Trace> read_tables(const FrameScan& scan, const std::string& path, unsigned threads) {
  const auto chunks = TableChunks::open(scan, path, threads);
  if (!chunks) return std::unexpected(chunks.error());
  TableReader reader(*chunks, threads);
  const std::uint64_t damage = reader.run();
  if (damage != std::numeric_limits<std::uint64_t>::max()) return damaged(path, damage);
  return reader.take();
}

}  // namespace telltale::tell
