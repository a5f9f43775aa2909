#include "formats/tell/write.h"

#include <algorithm>
#include <concepts>
#include <functional>
#include <string>
#include <vector>

#include "base/interned_values.h"
#include "base/text_encoding.h"
#include "formats/tell/chunk_writer.h"
#include "formats/tell/column_codec.h"
#include "formats/tell/table_layout.h"

namespace telltale::tell {
namespace {

// A chunk is what one thread decodes at a time; more rows compress no better.
constexpr std::size_t kMostRows = std::size_t{1} << 16;
constexpr std::size_t kMostBytes = std::size_t{4} << 20;
constexpr std::size_t kLongestText = std::size_t{32} << 20;

void append_varint(std::string& bytes, std::uint64_t value) {
  unsigned char buffer[kMaxVarintBytes];
  const unsigned char* end = put_varint(buffer, value);
  bytes.append(reinterpret_cast<const char*>(buffer), static_cast<std::size_t>(end - buffer));
}

class TableWriter {
 public:
  TableWriter(const Trace& trace, TextWriter& out, const WriteProgress& progress)
      : trace_(trace), out_(out), chunks_(out), progress_(progress) {}

  LeftOutList run() {
    choose_metadata();
    number_labels();
    list_own_tables();
    list_described_tables();
    write_listed_tables();
    chunks_.end();
    LeftOutList left_out;
    constexpr std::string_view kWhy = "a .tell file holds texts of up to 32 MiB";
    left_out.add(cut_texts_, "text, from its 32nd MiB on", "texts, from their 32nd MiB on", kWhy);
    left_out.add(trace_.metadata.size() - metadata_.size(), "value of the file's header", "values of the file's header",
                 kWhy);
    return left_out;
  }

 private:
  std::uint32_t label_of(std::size_t event) {
    return labels_.intern({trace_.events.name[event], trace_.events.kind[event]});
  }
  void number_labels() {
    for (std::size_t event = 0; event < trace_.events.size(); ++event) label_of(event);
  }

  // JSON is not cut.
  void choose_metadata() {
    for (const auto& pair : trace_.metadata)
      if (pair.first.size() + pair.second.size() <= kLongestText) metadata_.push_back(&pair);
  }
  std::string_view text_of(StringId id);

  void list_own_tables();
  void list_described_tables();
  void write_listed_tables();
  void put_event(ColumnWriter& columns, std::size_t event);
  void put_memory_event(ColumnWriter& columns, std::size_t i);
  void put_counter_value(ColumnWriter& columns, std::size_t i);
  std::vector<AnomalyRow> anomalies() const;

  // A table that will be written: `put(columns, row)` puts a row into columns. `begin_chunk` is for what `put`
  // remembers from row to row.
  struct ListedTable {
    TableId id;
    std::size_t rows = 0;
    std::function<void(TableWriter&)> write;
  };
  template <typename Put, typename BeginChunk>
  void list(TableId table, std::size_t rows, Put put, BeginChunk begin_chunk) {
    if (rows == 0) return;
    tables_.push_back({table, rows, [=](TableWriter& self) { self.write_rows(table, rows, put, begin_chunk); }});
  }
  template <typename Put>
  void list(TableId table, std::size_t rows, Put put) {
    list(table, rows, put, [] {});
  }

  // Rows 0 to `rows`, in as many chunks as it takes. Flat, so that nothing of a row's description is left in the loop.
  template <typename Put, typename BeginChunk>
  TELLTALE_INLINE_CALLS void write_rows(TableId table, std::size_t rows, Put put, BeginChunk begin_chunk) {
    std::size_t first = 0;
    while (first < rows && !out_.has_failed()) {
      std::size_t row = first;
      begin_chunk();
      while (row < rows && row - first < kMostRows && columns_.bytes() < kMostBytes) {
        columns_.begin_row();
        put(columns_, row++);
      }
      payload_.clear();
      append_varint(payload_, static_cast<std::uint64_t>(table));
      append_varint(payload_, first);
      append_varint(payload_, row - first);
      columns_.take(payload_);
      chunks_.write(ChunkKind::kTable, payload_);
      first = row;
      if (progress_ && table == TableId::kEvents) progress_(static_cast<double>(row) / static_cast<double>(rows));
    }
    columns_ = {};
  }
  const Trace& trace_;
  TextWriter& out_;
  ChunkWriter chunks_;
  const WriteProgress& progress_;
  ColumnWriter columns_;
  std::string payload_;
  std::vector<const MetadataValue*> metadata_;
  std::uint64_t cut_texts_ = 0;
  std::string cut_text_;
  InternedValues<Label> labels_;
  MemoryTotals totals_;
  std::vector<ListedTable> tables_;
};

// A text that is too long is cut, and stays different from all others.
std::string_view TableWriter::text_of(StringId id) {
  const std::string_view text = trace_.strings[id];
  if (text.size() <= kLongestText) return text;
  ++cut_texts_;
  cut_text_ = repaired_utf8(text.substr(0, kLongestText)) + "… (" + std::to_string(id) + ')';
  return cut_text_;
}

// Those that a file holds in another way than the trace does.
void TableWriter::list_own_tables() {
  list(TableId::kTrace, 1, [this](ColumnWriter& columns, std::size_t) {
    columns_of(columns, trace_);
    columns_of(columns, trace_.recorded);
  });
  list(TableId::kStrings, trace_.strings.size() - 1,
       [this](ColumnWriter& columns, std::size_t i) { columns.words(text_of(static_cast<StringId>(i + 1))); });
  list(TableId::kLabels, labels_.size(),
       [this](ColumnWriter& columns, std::size_t i) { columns_of(columns, labels_[i]); });
  list(TableId::kEvents, trace_.events.size(), [this](ColumnWriter& columns, std::size_t i) { put_event(columns, i); });
  list(
      TableId::kMemory, trace_.memory.size(),
      [this](ColumnWriter& columns, std::size_t i) { put_memory_event(columns, i); }, [this] { totals_ = {}; });
  list(TableId::kCounterValues, trace_.counters.size(),
       [this](ColumnWriter& columns, std::size_t i) { put_counter_value(columns, i); });
  if (trace_.distributed) {
    list(TableId::kDistributed, 1,
         [this](ColumnWriter& columns, std::size_t) { columns_of(columns, *trace_.distributed); });
    list(TableId::kProcessGroups, trace_.distributed->groups.size(),
         [this](ColumnWriter& columns, std::size_t i) { columns_of(columns, trace_.distributed->groups[i]); });
  }
  list(TableId::kAnomalies, anomalies().size(),
       [rows = anomalies()](ColumnWriter& columns, std::size_t i) { columns_of(columns, rows[i]); });
}

void TableWriter::list_described_tables() {
  for_each_list([this]<typename Row>(const TableInfo& info, auto rows_in, RowOf<Row>) {
    if constexpr (std::same_as<Row, MetadataValue>)
      list(TableId{info.number}, metadata_.size(),
           [this](ColumnWriter& columns, std::size_t i) { columns_of(columns, *metadata_[i]); });
    else
      list(TableId{info.number}, rows_in(trace_).size(),
           [this, rows_in](ColumnWriter& columns, std::size_t i) { columns_of(columns, rows_in(trace_)[i]); });
  });
  for_each_side_table([this](const TableInfo& info, auto table_of, auto description) {
    list(TableId{info.number}, table_of(trace_).size(),
         [this, table_of, description](ColumnWriter& columns, std::size_t i) {
           const EventKey key{table_of(trace_).event(i)};
           columns_of(columns, key);
           columns_of(columns, table_of(trace_).row(i), description);
         });
  });
}

// In the order of their numbers, behind how many rows each has.
void TableWriter::write_listed_tables() {
  std::ranges::sort(tables_, {}, &ListedTable::id);
  std::vector<RowCount> counts;
  for (const ListedTable& table : tables_) counts.push_back({static_cast<std::uint64_t>(table.id), table.rows});
  write_rows(
      TableId::kRowCounts, counts.size(), [&](ColumnWriter& columns, std::size_t i) { columns_of(columns, counts[i]); },
      [] {});
  for (const ListedTable& table : tables_) table.write(*this);
}

void TableWriter::put_event(ColumnWriter& columns, std::size_t event) {
  const Events& events = trace_.events;
  const EventRow row{label_of(event), events.start[event], events.duration[event], events.cause[event]};
  columns_of(columns, row);
}

void TableWriter::put_memory_event(ColumnWriter& columns, std::size_t i) {
  const MemoryEvents& memory = trace_.memory;
  MemoryTotals::Totals& expected = totals_.expected(memory.device[i], memory.bytes[i]);
  const auto allocated = static_cast<std::uint64_t>(memory.total_allocated[i]);
  const auto reserved = static_cast<std::uint64_t>(memory.total_reserved[i]);
  const MemoryRow row{memory.time[i],
                      memory.address[i],
                      memory.bytes[i],
                      memory.device[i],
                      static_cast<std::int64_t>(allocated - expected.allocated),
                      static_cast<std::int64_t>(reserved - expected.reserved),
                      memory.track[i],
                      memory.event[i],
                      memory.pool.empty() ? kEmptyString : memory.pool[i]};
  expected = {allocated, reserved};
  columns_of(columns, row);
}

void TableWriter::put_counter_value(ColumnWriter& columns, std::size_t i) {
  const CounterRow row{trace_.counters.time[i], trace_.counters.value[i]};
  columns_of(columns, row);
}

std::vector<AnomalyRow> TableWriter::anomalies() const {
  std::vector<AnomalyRow> rows;
  for (const AnomalyCount& each : trace_.anomalies.list())
    rows.push_back({std::string(name_of(each.anomaly)), each.count, each.example.byte_offset, each.example.text});
  return rows;
}

}  // namespace

LeftOutList write(const Trace& trace, TextWriter& out, const WriteProgress& progress) {
  return TableWriter(trace, out, progress).run();
}

}  // namespace telltale::tell
