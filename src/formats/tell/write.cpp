#include "formats/tell/write.h"

#include <string>
#include <vector>

#include "base/interned_values.h"
#include "base/text_encoding.h"
#include "formats/tell/chunk_writer.h"
#include "formats/tell/column_writer.h"
#include "formats/tell/table_events.h"
#include "formats/tell/table_rows.h"

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
    write_counts();
    write_places();
    write_events();
    write_host_details();
    write_device_details();
    write_other_tables();
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

  void write_counts();
  void write_places();
  void write_events();
  void write_host_details();
  void write_device_details();
  void write_other_tables();
  std::vector<AnomalyRow> anomalies() const;

  // Rows 0 to `rows`, each put into columns by `put(columns, row)`, in as many chunks as it takes. `begin_chunk` is for
  // what `put` remembers from row to row.
  template <typename Put, typename BeginChunk>
  void write_rows(TableId table, std::size_t rows, Put put, BeginChunk begin_chunk) {
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
  template <typename Put>
  void write_rows(TableId table, std::size_t rows, Put put) {
    write_rows(table, rows, put, [] {});
  }
  template <typename Row>
  void write_list(TableId table, const std::vector<Row>& rows) {
    write_rows(table, rows.size(), [&](ColumnWriter& columns, std::size_t i) { columns_of(columns, rows[i]); });
  }
  template <typename Row, typename Put>
  void write_side_table(TableId table, const SideTable<Row>& rows, Put put) {
    write_rows(table, rows.size(), [&](ColumnWriter& columns, std::size_t i) {
      const EventKey key{rows.event(i)};
      columns_of(columns, key);
      put(columns, rows.row(i));
    });
  }
  template <typename Row>
  void write_side_table(TableId table, const SideTable<Row>& rows) {
    write_side_table(table, rows, [](ColumnWriter& columns, const Row& row) { columns_of(columns, row); });
  }
  void write_number_table(TableId table, const SideTable<std::uint32_t>& rows) {
    write_side_table(table, rows,
                     [table](ColumnWriter& columns, const std::uint32_t& row) { number_of(columns, row, table); });
  }

  const Trace& trace_;
  TextWriter& out_;
  ChunkWriter chunks_;
  const WriteProgress& progress_;
  ColumnWriter columns_;
  std::string payload_;
  std::vector<const std::pair<std::string, std::string>*> metadata_;
  std::uint64_t cut_texts_ = 0;
  std::string cut_text_;
  InternedValues<Label> labels_;
};

void TableWriter::write_counts() {
  const Trace& t = trace_;
  const std::pair<TableId, std::size_t> counts[] = {
      {TableId::kTrace, 1},
      {TableId::kStrings, t.strings.size() - 1},
      {TableId::kProcesses, t.processes.size()},
      {TableId::kTracks, t.tracks.size()},
      {TableId::kDevices, t.devices.size()},
      {TableId::kLabels, labels_.size()},
      {TableId::kEvents, t.events.size()},
      {TableId::kSteps, t.steps.size()},
      {TableId::kOperatorInputs, t.operator_inputs.size()},
      {TableId::kOperators, t.operators.size()},
      {TableId::kOperatorStacks, t.operator_stacks.size()},
      {TableId::kSourceLocations, t.source_locations.size()},
      {TableId::kSources, t.sources.size()},
      {TableId::kKernelLaunches, t.kernel_launches.size()},
      {TableId::kKernels, t.kernels.size()},
      {TableId::kGraphNodes, t.graph_nodes.size()},
      {TableId::kCopies, t.copies.size()},
      {TableId::kSyncs, t.syncs.size()},
      {TableId::kCollectives, t.collectives.size()},
      {TableId::kLanes, t.lanes.size()},
      {TableId::kCategories, t.categories.size()},
      {TableId::kOtherArguments, t.other_arguments.size()},
      {TableId::kMemory, t.memory.size()},
      {TableId::kCounterValues, t.counters.size()},
      {TableId::kCounterSeries, t.counters.series.size()},
      {TableId::kFlows, t.flows.size()},
      {TableId::kMetadata, metadata_.size()},
      {TableId::kDistributed, t.distributed ? 1 : 0},
      {TableId::kProcessGroups, t.distributed ? t.distributed->groups.size() : 0},
      {TableId::kAnomalies, t.anomalies.list().size()},
  };
  std::vector<RowCount> rows;
  for (const auto& [table, count] : counts)
    if (count > 0) rows.push_back({static_cast<std::uint64_t>(table), count});
  write_list(TableId::kRowCounts, rows);
}

// A text that is too long is cut, and stays different from all others.
std::string_view TableWriter::text_of(StringId id) {
  const std::string_view text = trace_.strings[id];
  if (text.size() <= kLongestText) return text;
  ++cut_texts_;
  cut_text_ = repaired_utf8(text.substr(0, kLongestText)) + "… (" + std::to_string(id) + ')';
  return cut_text_;
}

void TableWriter::write_places() {
  write_rows(TableId::kTrace, 1, [&](ColumnWriter& columns, std::size_t) { columns_of(columns, trace_); });
  write_rows(TableId::kStrings, trace_.strings.size() - 1,
             [&](ColumnWriter& columns, std::size_t i) { columns.words(text_of(static_cast<StringId>(i + 1))); });
  write_list(TableId::kProcesses, trace_.processes);
  write_list(TableId::kTracks, trace_.tracks);
  write_list(TableId::kDevices, trace_.devices);
}

void TableWriter::write_events() {
  write_rows(TableId::kLabels, labels_.size(),
             [&](ColumnWriter& columns, std::size_t i) { columns_of(columns, labels_[i]); });
  const Events& events = trace_.events;
  write_rows(TableId::kEvents, events.size(), [&](ColumnWriter& columns, std::size_t i) {
    const EventRow row{label_of(i), events.start[i], events.duration[i], events.cause[i]};
    columns_of(columns, row);
  });
  write_list(TableId::kSteps, trace_.steps);
}

void TableWriter::write_host_details() {
  write_list(TableId::kOperatorInputs, trace_.operator_inputs);
  write_side_table(TableId::kOperators, trace_.operators);
  write_side_table(TableId::kOperatorStacks, trace_.operator_stacks);
  write_list(TableId::kSourceLocations, trace_.source_locations);
  write_number_table(TableId::kSources, trace_.sources);
  write_number_table(TableId::kCategories, trace_.categories);
  write_number_table(TableId::kOtherArguments, trace_.other_arguments);
}

void TableWriter::write_device_details() {
  write_list(TableId::kKernelLaunches, trace_.kernel_launches);
  write_side_table(TableId::kKernels, trace_.kernels);
  write_side_table(TableId::kGraphNodes, trace_.graph_nodes);
  write_side_table(TableId::kCopies, trace_.copies);
  write_side_table(TableId::kSyncs, trace_.syncs);
  write_side_table(TableId::kCollectives, trace_.collectives);
  write_side_table(TableId::kLanes, trace_.lanes,
                   [](ColumnWriter& columns, const std::uint8_t& lane) { columns.integer(lane); });
}

void TableWriter::write_other_tables() {
  const MemoryEvents& memory = trace_.memory;
  MemoryTotals totals;
  write_rows(
      TableId::kMemory, memory.size(),
      [&](ColumnWriter& columns, std::size_t i) {
        MemoryTotals::Totals& expected = totals.expected(memory.device[i], memory.bytes[i]);
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
      },
      [&] { totals = {}; });
  const Counters& counters = trace_.counters;
  write_rows(TableId::kCounterValues, counters.size(), [&](ColumnWriter& columns, std::size_t i) {
    const CounterRow row{counters.time[i], counters.value[i]};
    columns_of(columns, row);
  });
  write_list(TableId::kCounterSeries, counters.series);
  write_list(TableId::kFlows, trace_.flows);
  write_rows(TableId::kMetadata, metadata_.size(),
             [&](ColumnWriter& columns, std::size_t i) { columns_of(columns, *metadata_[i]); });
  if (trace_.distributed) {
    write_rows(TableId::kDistributed, 1,
               [&](ColumnWriter& columns, std::size_t) { columns_of(columns, *trace_.distributed); });
    write_list(TableId::kProcessGroups, trace_.distributed->groups);
  }
  write_list(TableId::kAnomalies, anomalies());
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
