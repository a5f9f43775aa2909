// The columns of each table, in their order: one description for writing (ColumnWriter) and reading (ColumnReader).
#pragma once

#include <concepts>
#include <type_traits>

#include "formats/tell/table_layout.h"

namespace telltale::tell {

// A row that is written is const, one that is read is not.
template <typename Row, typename Of>
concept RowOf = std::same_as<std::remove_const_t<Row>, Of>;

template <typename Columns, RowOf<RowCount> Row>
void columns_of(Columns& columns, Row& row) {
  columns.integer(row.table);
  columns.integer(row.rows);
}

template <typename Columns, RowOf<Process> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.name);
  columns.text(row.labels);
  columns.integer(row.native_id);
  columns.integer(row.sort_index);
}

template <typename Columns, RowOf<Track> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.name);
  columns.choice(row.kind, kFileTrackKinds);
  columns.index(row.process, TableId::kProcesses);
  columns.integer(row.device);
  columns.integer(row.native_id);
  columns.integer(row.sort_index);
  columns.integer(row.first_event);
  columns.integer(row.event_count);
}

template <typename Columns, RowOf<Device> Row>
void columns_of(Columns& columns, Row& row) {
  columns.integer(row.id);
  columns.words(row.name);
  columns.maybe(row.memory_bytes);
  columns.maybe(row.compute_major);
  columns.maybe(row.compute_minor);
  columns.maybe(row.multiprocessors);
  columns.maybe(row.warp_size);
  columns.maybe(row.max_threads_per_multiprocessor);
  columns.maybe(row.registers_per_multiprocessor);
  columns.maybe(row.shared_memory_per_multiprocessor);
}

template <typename Columns, RowOf<Label> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.name);
  columns.choice(row.kind, kFileKinds);
}

template <typename Columns, RowOf<Step> Row>
void columns_of(Columns& columns, Row& row) {
  columns.rising(row.index);
  columns.index(row.event, TableId::kEvents);
  columns.rising(row.start);
  columns.integer(row.duration);
}

template <typename Columns, RowOf<OperatorInputs> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.shapes);
  columns.text(row.strides);
  columns.text(row.types);
  columns.text(row.concrete);
}

template <typename Columns, RowOf<OperatorInfo> Row>
void columns_of(Columns& columns, Row& row) {
  columns.optional_index(row.inputs, TableId::kOperatorInputs);
  columns.integer(row.forward_thread);
  columns.rising(row.sequence);
}

template <typename Columns, RowOf<OperatorStack> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.call_stack);
  columns.text(row.module_hierarchy);
}

template <typename Columns, RowOf<SourceLocation> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.file);
  columns.text(row.function);
  columns.integer(row.line);
}

template <typename Columns, RowOf<KernelLaunch> Row>
void columns_of(Columns& columns, Row& row) {
  for (auto& size : row.grid) columns.integer(size);
  for (auto& size : row.block) columns.integer(size);
  columns.integer(row.registers_per_thread);
  columns.integer(row.shared_memory_bytes);
  columns.integer(row.occupancy_percent);
  columns.real(row.blocks_per_multiprocessor);
  columns.real(row.warps_per_multiprocessor);
}

template <typename Columns, RowOf<KernelInfo> Row>
void columns_of(Columns& columns, Row& row) {
  columns.index(row.launch, TableId::kKernelLaunches);
}

template <typename Columns, RowOf<GraphNode> Row>
void columns_of(Columns& columns, Row& row) {
  columns.rising(row.graph);
  columns.rising(row.node);
}

template <typename Columns, RowOf<CopyInfo> Row>
void columns_of(Columns& columns, Row& row) {
  columns.integer(row.bytes);
  columns.choice(row.from, kFileMemorySpaces);
  columns.choice(row.to, kFileMemorySpaces);
}

template <typename Columns, RowOf<SyncInfo> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.kind);
  columns.integer(row.wait_on_stream);
  columns.rising(row.wait_on_event);
}

template <typename Columns, RowOf<CollectiveInfo> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.collective);
  columns.text(row.dtype);
  columns.text(row.group_name);
  columns.text(row.group_description);
  columns.text(row.group_ranks);
  columns.text(row.in_split);
  columns.text(row.out_split);
  columns.integer(row.in_elements);
  columns.integer(row.out_elements);
  columns.integer(row.group_size);
  columns.integer(row.rank);
  columns.integer(row.source_rank);
  columns.integer(row.destination_rank);
  columns.rising(row.sequence);
  columns.integer(row.is_async);
}

template <typename Columns, RowOf<CounterSeries> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.name);
  columns.text(row.series);
  columns.index(row.track, TableId::kTracks);
  columns.integer(row.first);
  columns.integer(row.count);
}

template <typename Columns, RowOf<Flow> Row>
void columns_of(Columns& columns, Row& row) {
  columns.text(row.name);
  columns.event(row.from);
  columns.event(row.to);
}

template <typename Columns, RowOf<std::pair<std::string, std::string>> Row>
void columns_of(Columns& columns, Row& row) {
  columns.words(row.first);
  columns.words(row.second);
}

template <typename Columns, RowOf<Distributed> Row>
void columns_of(Columns& columns, Row& row) {
  columns.words(row.backend);
  columns.words(row.nccl_version);
  columns.maybe(row.rank);
  columns.maybe(row.world_size);
}

template <typename Columns, RowOf<ProcessGroup> Row>
void columns_of(Columns& columns, Row& row) {
  columns.words(row.name);
  columns.words(row.description);
  columns.words(row.backend);
  columns.integer(row.size);
  columns.list(row.ranks);
}

// An anomaly by its word, so that it does not depend on the order in the program.
struct AnomalyRow {
  std::string name;
  std::uint64_t count = 0;
  std::uint64_t byte_offset = 0;
  std::string text;
};

template <typename Columns, RowOf<AnomalyRow> Row>
void columns_of(Columns& columns, Row& row) {
  columns.words(row.name);
  columns.integer(row.count);
  columns.integer(row.byte_offset);
  columns.words(row.text);
}

// What a trace has once.
template <typename Columns, RowOf<Trace> Row>
void columns_of(Columns& columns, Row& row) {
  columns.words(row.format);
  columns.integer(row.origin_epoch_ns);
  columns.integer(row.duration);
  columns.integer(row.text_bytes);
  columns.flag(row.recorded.shapes);
  columns.flag(row.recorded.stacks);
  columns.flag(row.recorded.memory);
  columns.flag(row.recorded.modules);
  columns.flag(row.recorded.flops);
}

// Rows of side tables that are one number: what number it is depends on the table.
template <typename Columns, typename Row>
void number_of(Columns& columns, Row& row, TableId table) {
  if (table == TableId::kSources)
    columns.index(row, TableId::kSourceLocations);
  else
    columns.text(row);
}

}  // namespace telltale::tell
