// The tables of what only some events have.
#include <array>

#include "bindings/core/arrow_columns.h"
#include "bindings/core/trace_tables.h"
#include "trace/shapes.h"

namespace telltale::python {
namespace {

// The column that every one of these tables starts with.
template <typename Row>
ArrowColumn events_of(const SideTable<Row>& rows) {
  return numbers("event", rows.size(), [&](std::size_t i) { return rows.event(i); });
}

// What a member of each row holds.
template <typename Row>
auto member_of(const SideTable<Row>& rows, auto member) {
  return [&rows, member](std::size_t i) { return rows.row(i).*member; };
}
// The same, null where it was not recorded.
template <typename Row>
auto recorded_member_of(const SideTable<Row>& rows, auto member) {
  return [&rows, member](std::size_t i) { return recorded(rows.row(i).*member); };
}

template <typename Row>
ArrowColumn interned_member(std::string name, const Trace& trace, const SideTable<Row>& rows, StringId Row::* member) {
  return interned(std::move(name), trace, ids_of(rows.size(), member_of(rows, member)));
}

}  // namespace

ArrowTable operators_table(const SharedTrace& trace) {
  const auto& operators = trace->operators;
  const std::size_t rows = operators.size();
  const auto forward_thread = [&](std::size_t i) {
    const std::uint32_t thread = operators.row(i).forward_thread;
    return thread == 0 ? std::nullopt : std::optional(thread);
  };
  const auto inputs = [&](std::string name, StringId OperatorInputs::* member) {
    return interned(std::move(name), *trace, ids_of(rows, [&](std::size_t i) {
                      const std::uint32_t index = operators.row(i).inputs;
                      return index == OperatorInfo::kNoInputs ? kEmptyString : trace->operator_inputs[index].*member;
                    }));
  };
  return table_of(
      "operators", rows,
      {events_of(operators), numbers("sequence", rows, recorded_member_of(operators, &OperatorInfo::sequence)),
       numbers("forward_thread", rows, forward_thread), inputs("input_shapes", &OperatorInputs::shapes),
       inputs("input_strides", &OperatorInputs::strides), inputs("input_types", &OperatorInputs::types),
       inputs("input_values", &OperatorInputs::concrete)});
}

ArrowTable tensors_table(const SharedTrace& trace) {
  const auto& operators = trace->operators;
  // Equal inputs are stored once, and read once.
  struct Inputs {
    std::vector<Shape> shapes;
    std::vector<std::string> types;
  };
  std::vector<Inputs> all;
  for (const OperatorInputs& each : trace->operator_inputs)
    all.push_back({tensor_shapes(trace->strings[each.shapes]), concrete_values(trace->strings[each.types])});

  std::vector<EventId> events;
  std::vector<std::int32_t> arguments;
  std::vector<std::int64_t> offsets = {0}, sizes;
  std::vector<std::string_view> types;
  for (std::size_t i = 0; i < operators.size(); ++i) {
    if (operators.row(i).inputs == OperatorInfo::kNoInputs) continue;
    const Inputs& inputs = all[operators.row(i).inputs];
    for (std::size_t argument = 0; argument < inputs.shapes.size(); ++argument) {
      const Shape& shape = inputs.shapes[argument];
      if (shape.empty()) continue;  // no tensor, or one without dimensions, which recorders do not tell apart
      events.push_back(operators.event(i));
      arguments.push_back(static_cast<std::int32_t>(argument));
      sizes.insert(sizes.end(), shape.begin(), shape.end());
      offsets.push_back(static_cast<std::int64_t>(sizes.size()));
      types.push_back(argument < inputs.types.size() ? std::string_view(inputs.types[argument]) : std::string_view());
    }
  }
  const std::size_t rows = events.size();
  return table_of("tensors", rows,
                  {column_of("event", std::move(events)), column_of("argument", std::move(arguments)),
                   number_lists("shape", std::move(offsets), std::move(sizes)),
                   with_nulls(texts("type", types), [&](std::size_t i) { return types[i].empty(); })});
}

ArrowTable stacks_table(const SharedTrace& trace) {
  const auto& stacks = trace->operator_stacks;
  return table_of("stacks", stacks.size(),
                  {events_of(stacks), interned_member("call_stack", *trace, stacks, &OperatorStack::call_stack),
                   interned_member("module_hierarchy", *trace, stacks, &OperatorStack::module_hierarchy)});
}

ArrowTable sources_table(const SharedTrace& trace) {
  const auto& sources = trace->sources;
  const std::size_t rows = sources.size();
  const auto place = [&](std::size_t i) -> const SourceLocation& { return trace->source_locations[sources.row(i)]; };
  const auto line = [&](std::size_t i) { return place(i).line == 0 ? std::nullopt : std::optional(place(i).line); };
  return table_of(
      "sources", rows,
      {events_of(sources), interned("file", *trace, ids_of(rows, [&](std::size_t i) { return place(i).file; })),
       numbers("line", rows, line),
       interned("function", *trace, ids_of(rows, [&](std::size_t i) { return place(i).function; }))});
}

ArrowTable kernels_table(const SharedTrace& trace) {
  const auto& kernels = trace->kernels;
  const std::size_t rows = kernels.size();
  const auto launch = [&](std::size_t i) -> const KernelLaunch& {
    return trace->kernel_launches[kernels.row(i).launch];
  };
  const auto size = [&](std::string name, auto member, std::size_t dimension) {
    return numbers(std::move(name), rows, [&](std::size_t i) { return (launch(i).*member)[dimension]; });
  };
  const auto number = [&](std::string name, auto member) {
    return numbers(std::move(name), rows, [&](std::size_t i) { return recorded(launch(i).*member); });
  };
  return table_of("kernels", rows,
                  {events_of(kernels), size("grid_x", &KernelLaunch::grid, 0), size("grid_y", &KernelLaunch::grid, 1),
                   size("grid_z", &KernelLaunch::grid, 2), size("block_x", &KernelLaunch::block, 0),
                   size("block_y", &KernelLaunch::block, 1), size("block_z", &KernelLaunch::block, 2),
                   number("registers_per_thread", &KernelLaunch::registers_per_thread),
                   number("shared_memory_bytes", &KernelLaunch::shared_memory_bytes),
                   number("occupancy_percent", &KernelLaunch::occupancy_percent),
                   number("blocks_per_multiprocessor", &KernelLaunch::blocks_per_multiprocessor),
                   number("warps_per_multiprocessor", &KernelLaunch::warps_per_multiprocessor)});
}

ArrowTable graph_nodes_table(const SharedTrace& trace) {
  const auto& nodes = trace->graph_nodes;
  return table_of("graph_nodes", nodes.size(),
                  {events_of(nodes), numbers("graph", nodes.size(), member_of(nodes, &GraphNode::graph)),
                   numbers("node", nodes.size(), member_of(nodes, &GraphNode::node))});
}

ArrowTable copies_table(const SharedTrace& trace) {
  const auto& copies = trace->copies;
  const std::size_t rows = copies.size();
  constexpr std::array kSpaces = {MemorySpace::kUnknown, MemorySpace::kPageable, MemorySpace::kPinned,
                                  MemorySpace::kDevice,  MemorySpace::kArray,    MemorySpace::kManaged};
  std::vector<std::string_view> names;
  for (const MemorySpace space : kSpaces) names.push_back(name_of(space));
  const auto space = [&](std::string name, MemorySpace CopyInfo::* member) {
    const auto number = [&](std::size_t i) { return static_cast<std::int8_t>(copies.row(i).*member); };
    return with_nulls(dictionary_of(numbers(std::move(name), rows, number), names),
                      [&](std::size_t i) { return copies.row(i).*member == MemorySpace::kUnknown; });
  };
  return table_of("copies", rows,
                  {events_of(copies), numbers("bytes", rows, recorded_member_of(copies, &CopyInfo::bytes)),
                   space("source", &CopyInfo::from), space("destination", &CopyInfo::to)});
}

ArrowTable syncs_table(const SharedTrace& trace) {
  const auto& syncs = trace->syncs;
  return table_of("syncs", syncs.size(),
                  {events_of(syncs), interned_member("kind", *trace, syncs, &SyncInfo::kind),
                   numbers("wait_on_stream", syncs.size(), recorded_member_of(syncs, &SyncInfo::wait_on_stream)),
                   numbers("wait_on_event", syncs.size(), recorded_member_of(syncs, &SyncInfo::wait_on_event))});
}

ArrowTable collectives_table(const SharedTrace& trace) {
  const auto& rows = trace->collectives;
  const auto number = [&](std::string name, std::int64_t CollectiveInfo::* member) {
    return numbers(std::move(name), rows.size(), recorded_member_of(rows, member));
  };
  const auto text = [&](std::string name, StringId CollectiveInfo::* member) {
    return interned_member(std::move(name), *trace, rows, member);
  };
  const auto is_async = [&](std::size_t i) {
    const std::int8_t value = rows.row(i).is_async;
    return value < 0 ? std::nullopt : std::optional(value != 0);
  };
  return table_of(
      "collectives", rows.size(),
      {events_of(rows), text("collective", &CollectiveInfo::collective), text("dtype", &CollectiveInfo::dtype),
       number("in_elements", &CollectiveInfo::in_elements), number("out_elements", &CollectiveInfo::out_elements),
       text("in_split", &CollectiveInfo::in_split), text("out_split", &CollectiveInfo::out_split),
       text("group_name", &CollectiveInfo::group_name), text("group_description", &CollectiveInfo::group_description),
       text("group_ranks", &CollectiveInfo::group_ranks), number("group_size", &CollectiveInfo::group_size),
       number("rank", &CollectiveInfo::rank), number("source_rank", &CollectiveInfo::source_rank),
       number("destination_rank", &CollectiveInfo::destination_rank), number("sequence", &CollectiveInfo::sequence),
       truths("is_async", rows.size(), is_async)});
}

ArrowTable lanes_table(const SharedTrace& trace) {
  const auto& lanes = trace->lanes;
  return table_of("lanes", lanes.size(),
                  {events_of(lanes), numbers("lane", lanes.size(), [&](std::size_t i) { return lanes.row(i); })});
}

ArrowTable categories_table(const SharedTrace& trace) {
  const auto& rows = trace->categories;
  const std::vector<StringId> ids = ids_of(rows.size(), [&](std::size_t i) { return rows.row(i); });
  return table_of("categories", rows.size(), {events_of(rows), interned("category", *trace, ids)});
}

ArrowTable arguments_table(const SharedTrace& trace) {
  const auto& rows = trace->other_arguments;
  const std::vector<StringId> ids = ids_of(rows.size(), [&](std::size_t i) { return rows.row(i); });
  return table_of("arguments", rows.size(), {events_of(rows), interned("arguments", *trace, ids)});
}

}  // namespace telltale::python
