// What only some events have: the rows of the side tables, each with its description (see columns.h).
//
// To add a side table, write its row and description here, a member of SideTables and a line in for_each_side_table().
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "base/interned_strings.h"
#include "trace/columns.h"
#include "trace/side_table.h"

namespace telltale {

// The arguments of an operator call; equal ones are stored once. Each is compact JSON text as the recorder wrote
// it, a list with one element an argument; kEmptyString when it was not recorded. See shapes.h to read them.
struct OperatorInputs {
  StringId shapes = kEmptyString;    // [[16,1000],[],[]]
  StringId strides = kEmptyString;   // [[1000,1],[],[]]
  StringId types = kEmptyString;     // ["float","Scalar",""]
  StringId concrete = kEmptyString;  // ["","2",""]
  auto operator<=>(const OperatorInputs&) const = default;
};
constexpr void describe(auto& columns, RowOf<OperatorInputs>) {
  columns.text(&OperatorInputs::shapes, {.name = "input_shapes", .text = "as JSON: `[[16,1000],[],[]]`"});
  columns.text(&OperatorInputs::strides, {.name = "input_strides", .text = "as JSON: `[[1000,1],[],[]]`"});
  columns.text(&OperatorInputs::types, {.name = "input_types", .text = "as JSON: `[\"float\",\"Scalar\",\"\"]`"});
  columns.text(&OperatorInputs::concrete, {.name = "input_values", .text = "as JSON: `[\"\",\"2\",\"\"]`"});
}
static_assert(describes_all_members<OperatorInputs>);

struct OperatorInfo {
  static constexpr std::uint32_t kNoInputs = UINT32_MAX;
  static constexpr std::int64_t kNoSequence = -1;
  std::uint32_t inputs = kNoInputs;     // index of Trace::operator_inputs
  std::uint32_t forward_thread = 0;     // > 0 only on backward operators; torch's own numbering
  std::int64_t sequence = kNoSequence;  // autograd's sequence number
};
constexpr void describe(auto& columns, RowOf<OperatorInfo>) {
  columns.optional_index(&OperatorInfo::inputs, RowOf<OperatorInputs>{}, {.name = "inputs", .text = "its arguments"});
  columns.number(
      &OperatorInfo::forward_thread,
      {.name = "forward_thread", .text = "of a backward operator, as torch numbers it", .null = Null::kZero});
  columns.number(&OperatorInfo::sequence,
                 {.name = "sequence", .text = "autograd's sequence number", .null = Null::kNegative, .rises = true});
}
static_assert(describes_all_members<OperatorInfo>);

// Where an operator was called from, as recorders without Python events write it.
struct OperatorStack {
  StringId call_stack = kEmptyString;  // frames joined by ";", innermost first
  StringId module_hierarchy = kEmptyString;
};
constexpr void describe(auto& columns, RowOf<OperatorStack>) {
  columns.text(&OperatorStack::call_stack, {.name = "call_stack", .text = "frames joined by `;`, innermost first"});
  columns.text(&OperatorStack::module_hierarchy, {.name = "module_hierarchy", .text = "the modules around it"});
}
static_assert(describes_all_members<OperatorStack>);

// A place in a program's source; equal ones are stored once.
struct SourceLocation {
  StringId file = kEmptyString, function = kEmptyString;
  std::int32_t line = 0;  // 0: not recorded
  auto operator<=>(const SourceLocation&) const = default;
};
constexpr void describe(auto& columns, RowOf<SourceLocation>) {
  columns.text(&SourceLocation::file, {.name = "file", .text = "as the recorder names it"});
  columns.text(&SourceLocation::function, {.name = "function", .text = "the function around it"});
  columns.number(&SourceLocation::line, {.name = "line", .text = "from 1 on", .null = Null::kZero});
}
static_assert(describes_all_members<SourceLocation>);

// A row of Trace::sources is an index of Trace::source_locations.
struct SourceRow;
constexpr void describe(auto& columns, RowOf<SourceRow>) {
  columns.index(kWholeRow, RowOf<SourceLocation>{}, {.name = "location", .text = "its place in the program"});
}

// How a kernel was launched; equal launches are stored once.
struct KernelLaunch {
  std::array<std::int32_t, 3> grid{}, block{};
  std::int32_t registers_per_thread = -1;  // -1: not recorded, likewise below
  std::int32_t shared_memory_bytes = -1;
  std::int32_t occupancy_percent = -1;
  float blocks_per_multiprocessor = -1;
  float warps_per_multiprocessor = -1;
  auto operator<=>(const KernelLaunch&) const = default;
};
constexpr void describe(auto& columns, RowOf<KernelLaunch>) {
  columns.numbers(&KernelLaunch::grid, {"grid_x", "grid_y", "grid_z"}, {.text = "blocks in the grid"});
  columns.numbers(&KernelLaunch::block, {"block_x", "block_y", "block_z"}, {.text = "threads in a block"});
  columns.number(&KernelLaunch::registers_per_thread,
                 {.name = "registers_per_thread", .text = "as compiled", .null = Null::kNegative});
  columns.number(&KernelLaunch::shared_memory_bytes, {.name = "shared_memory_bytes",
                                                      .text = "of a block, static and dynamic",
                                                      .unit = Unit::kBytes,
                                                      .null = Null::kNegative});
  columns.number(&KernelLaunch::occupancy_percent, {.name = "occupancy_percent",
                                                    .text = "achieved, as the recorder estimates it",
                                                    .unit = Unit::kPercent,
                                                    .null = Null::kNegative});
  columns.number(&KernelLaunch::blocks_per_multiprocessor,
                 {.name = "blocks_per_multiprocessor", .text = "blocks of the grid for each", .null = Null::kNegative});
  columns.number(&KernelLaunch::warps_per_multiprocessor,
                 {.name = "warps_per_multiprocessor", .text = "warps of the grid for each", .null = Null::kNegative});
}
static_assert(describes_all_members<KernelLaunch>);

struct KernelInfo {
  std::uint32_t launch = 0;  // index of Trace::kernel_launches
};
constexpr void describe(auto& columns, RowOf<KernelInfo>) {
  columns.index(&KernelInfo::launch, RowOf<KernelLaunch>{}, {.name = "launch", .text = "how it was launched"});
}
static_assert(describes_all_members<KernelInfo>);

// A node of a CUDA graph.
struct GraphNode {
  std::int64_t graph = 0;
  std::int64_t node = 0;
};
constexpr void describe(auto& columns, RowOf<GraphNode>) {
  columns.number(&GraphNode::graph, {.name = "graph", .text = "CUDA's number of the graph", .rises = true});
  columns.number(&GraphNode::node, {.name = "node", .text = "CUDA's number of the node", .rises = true});
}
static_assert(describes_all_members<GraphNode>);

// What the work of a CUDA graph comes from. Its launch is that of the whole graph; what made it is what captured it.
struct GraphOrigin {
  EventId captured_in = kNoEvent;      // the innermost event that was open then
  StringId call_stack = kEmptyString;  // frames joined by ";", innermost first
};
constexpr void describe(auto& columns, RowOf<GraphOrigin>) {
  columns.event(
      &GraphOrigin::captured_in,
      {.name = "captured_in", .text = "the innermost event that was open at the capture; null: not recorded"});
  columns.text(&GraphOrigin::call_stack, {.name = "call_stack", .text = "at the capture: frames joined by `;`"});
}
static_assert(describes_all_members<GraphOrigin>);

enum class MemorySpace : std::uint8_t { kUnknown, kPageable, kPinned, kDevice, kArray, kManaged };
std::string_view name_of(MemorySpace space);
inline constexpr MemorySpace kMemorySpaces[] = {MemorySpace::kUnknown, MemorySpace::kPageable, MemorySpace::kPinned,
                                                MemorySpace::kDevice,  MemorySpace::kArray,    MemorySpace::kManaged};

struct CopyInfo {
  std::int64_t bytes = -1;                   // -1: not recorded
  MemorySpace from = MemorySpace::kUnknown;  // of a memset: unknown
  MemorySpace to = MemorySpace::kUnknown;
};
constexpr void describe(auto& columns, RowOf<CopyInfo>) {
  columns.number(&CopyInfo::bytes,
                 {.name = "bytes", .text = "copied or set", .unit = Unit::kBytes, .null = Null::kNegative});
  columns.choice(
      &CopyInfo::from, kMemorySpaces,
      {.name = "source", .text = "`pageable`, `pinned`, `device`, `array` or `managed`", .null = Null::kZero});
  columns.choice(&CopyInfo::to, kMemorySpaces, {.name = "destination", .text = "likewise", .null = Null::kZero});
}
static_assert(describes_all_members<CopyInfo>);

struct SyncInfo {
  StringId kind = kEmptyString;  // "Stream Wait Event", "Context Sync"
  std::int64_t wait_on_stream = -1;
  std::int64_t wait_on_event = -1;
};
constexpr void describe(auto& columns, RowOf<SyncInfo>) {
  columns.text(&SyncInfo::kind, {.name = "kind", .text = "`Stream Wait Event`, `Context Sync`"});
  columns.number(&SyncInfo::wait_on_stream,
                 {.name = "wait_on_stream", .text = "the stream it waits for", .null = Null::kNegative});
  columns.number(&SyncInfo::wait_on_event, {.name = "wait_on_event",
                                            .text = "CUDA's number of the event it waits for",
                                            .null = Null::kNegative,
                                            .rises = true});
}
static_assert(describes_all_members<SyncInfo>);

struct CollectiveInfo {
  StringId collective = kEmptyString;  // "allreduce"
  StringId dtype = kEmptyString;
  StringId group_name = kEmptyString, group_description = kEmptyString;
  StringId group_ranks = kEmptyString;  // compact JSON text
  StringId in_split = kEmptyString, out_split = kEmptyString;
  std::int64_t in_elements = -1, out_elements = -1;  // -1: not recorded, likewise below
  std::int64_t group_size = -1;
  std::int64_t rank = -1, source_rank = -1, destination_rank = -1;
  std::int64_t sequence = -1;
  std::int8_t is_async = -1;
};
constexpr void describe(auto& columns, RowOf<CollectiveInfo>) {
  using Info = CollectiveInfo;
  columns.text(&Info::collective, {.name = "collective", .text = "`allreduce`"});
  columns.text(&Info::dtype, {.name = "dtype", .text = "of the elements"});
  columns.text(&Info::group_name, {.name = "group_name", .text = "of the process group"});
  columns.text(&Info::group_description, {.name = "group_description", .text = "what the group is for"});
  columns.text(&Info::group_ranks, {.name = "group_ranks", .text = "as JSON"});
  columns.text(&Info::in_split, {.name = "in_split", .text = "how the input is split among ranks, as JSON"});
  columns.text(&Info::out_split, {.name = "out_split", .text = "likewise the output"});
  columns.number(&Info::in_elements, {.name = "in_elements", .text = "sent", .null = Null::kNegative});
  columns.number(&Info::out_elements, {.name = "out_elements", .text = "received", .null = Null::kNegative});
  columns.number(&Info::group_size, {.name = "group_size", .text = "ranks in the group", .null = Null::kNegative});
  columns.number(&Info::rank, {.name = "rank", .text = "of this process in the group", .null = Null::kNegative});
  columns.number(&Info::source_rank, {.name = "source_rank", .text = "who sends", .null = Null::kNegative});
  columns.number(&Info::destination_rank,
                 {.name = "destination_rank", .text = "who receives", .null = Null::kNegative});
  columns.number(&Info::sequence,
                 {.name = "sequence", .text = "counted by the group", .null = Null::kNegative, .rises = true});
  columns.truth(&Info::is_async, {.name = "is_async", .text = "whether its caller went on without it"});
}
static_assert(describes_all_members<CollectiveInfo>);

// Rows of Trace::lanes, Trace::categories and Trace::other_arguments are a number or a text.
struct LaneRow;
constexpr void describe(auto& columns, RowOf<LaneRow>) {
  columns.number(kWholeRow, {.name = "lane", .text = "beside which it is drawn, from 1 on"});
}
struct CategoryRow;
constexpr void describe(auto& columns, RowOf<CategoryRow>) {
  columns.text(kWholeRow, {.name = "category", .text = "as the file has it"});
}
struct OtherArgumentsRow;
constexpr void describe(auto& columns, RowOf<OtherArgumentsRow>) {
  columns.text(kWholeRow, {.name = "arguments", .text = "a JSON object"});
}

// One table for each kind of detail. In a trace they are `SideTable`s; while a file is read, lists in its order.
template <template <typename> typename Table>
struct SideTables {
  Table<OperatorInfo> operators;
  Table<OperatorStack> operator_stacks;
  Table<std::uint32_t> sources;  // where an event stands in the program: index of Trace::source_locations
  Table<KernelInfo> kernels;
  Table<GraphNode> graph_nodes;
  Table<GraphOrigin> graph_origins;
  Table<CopyInfo> copies;  // of memcpy and memset
  Table<SyncInfo> syncs;
  Table<CollectiveInfo> collectives;
  Table<StringId> categories;       // of events whose category no kind stands for
  Table<StringId> other_arguments;  // compact JSON object of the arguments that no column holds
  Table<std::uint8_t> lanes;        // > 0: overlaps another event of its track, drawn beside it
};

// Calls `visit(info, table_of, row)` for each of them: `table_of(tables)` is the table, `describe(columns, row)` its
// description.
constexpr void for_each_side_table(auto&& visit) {
  visit(
      TableInfo{.name = "operators", .number = 10, .text = "Arguments of operators, and their place in autograd."},
      [](auto& tables) -> auto& { return tables.operators; }, RowOf<OperatorInfo>{});
  visit(
      TableInfo{.name = "stacks",
                .number = 11,
                .text = "Where operators were called from, as recorders without Python events write it."},
      [](auto& tables) -> auto& { return tables.operator_stacks; }, RowOf<OperatorStack>{});
  visit(
      TableInfo{.name = "sources", .number = 13, .text = "Where events stand in the program."},
      [](auto& tables) -> auto& { return tables.sources; }, RowOf<SourceRow>{});
  visit(
      TableInfo{.name = "kernels", .number = 15, .text = "How kernels were launched."},
      [](auto& tables) -> auto& { return tables.kernels; }, RowOf<KernelInfo>{});
  visit(
      TableInfo{.name = "graph_nodes", .number = 16, .text = "Device work that is a node of a CUDA graph."},
      [](auto& tables) -> auto& { return tables.graph_nodes; }, RowOf<GraphNode>{});
  visit(
      TableInfo{.name = "graph_origins",
                .number = 31,
                .text = "What work of CUDA graphs was captured from, where the recorder saw it."},
      [](auto& tables) -> auto& { return tables.graph_origins; }, RowOf<GraphOrigin>{});
  visit(
      TableInfo{.name = "copies", .number = 17, .text = "Copies and fills: how much, from where and to where."},
      [](auto& tables) -> auto& { return tables.copies; }, RowOf<CopyInfo>{});
  visit(
      TableInfo{.name = "syncs", .number = 18, .text = "What synchronizations wait for."},
      [](auto& tables) -> auto& { return tables.syncs; }, RowOf<SyncInfo>{});
  visit(
      TableInfo{.name = "collectives", .number = 19, .text = "What collectives communicate, and with whom."},
      [](auto& tables) -> auto& { return tables.collectives; }, RowOf<CollectiveInfo>{});
  visit(
      TableInfo{.name = "categories", .number = 21, .text = "Categories of events that no kind stands for."},
      [](auto& tables) -> auto& { return tables.categories; }, RowOf<CategoryRow>{});
  visit(
      TableInfo{.name = "arguments", .number = 22, .text = "What the file says of events and no other column holds."},
      [](auto& tables) -> auto& { return tables.other_arguments; }, RowOf<OtherArgumentsRow>{});
  visit(
      TableInfo{.name = "lanes",
                .number = 20,
                .text = "Events that overlap another of their track without being inside it.",
                .is_worked_out = true},
      [](auto& tables) -> auto& { return tables.lanes; }, RowOf<LaneRow>{});
}

// Rows that many events share and that are stored once: side tables name them by their number.
template <template <typename> typename List>
struct SharedRows {
  List<OperatorInputs> operator_inputs;
  List<KernelLaunch> kernel_launches;
  List<SourceLocation> source_locations;
};

// Calls `visit(info, rows_in, row)` for each of them: `rows_in(shared)` is the list.
constexpr void for_each_shared_list(auto&& visit) {
  visit(
      TableInfo{.name = "", .number = 9, .text = "operator inputs"},
      [](auto& shared) -> auto& { return shared.operator_inputs; }, RowOf<OperatorInputs>{});
  visit(
      TableInfo{.name = "", .number = 14, .text = "kernel launches"},
      [](auto& shared) -> auto& { return shared.kernel_launches; }, RowOf<KernelLaunch>{});
  visit(
      TableInfo{.name = "", .number = 12, .text = "source locations"},
      [](auto& shared) -> auto& { return shared.source_locations; }, RowOf<SourceLocation>{});
}

// What the side tables hold about one event after another, for those who write all of it.
//
// Used by one thread. Quick when events come in ascending order.
struct DetailWalks : SideTables<SideTableWalk> {
  explicit DetailWalks(const SideTables<SideTable>& tables) {
    for_each_side_table([&](const TableInfo&, auto table_of, auto) {
      auto& walk = table_of(static_cast<SideTables<SideTableWalk>&>(*this));
      walk = std::remove_reference_t<decltype(walk)>(table_of(tables));
    });
  }
};

}  // namespace telltale
