// The tables of a trace, as docs/python.md lists them.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/kind_set.h"
#include "bindings/core/arrow_table.h"
#include "trace/trace.h"

namespace telltale::python {

using SharedTrace = std::shared_ptr<const Trace>;

// All events, in the trace's own memory as far as possible; or those of some kinds, copied.
ArrowTable events_table(const SharedTrace& trace, const std::optional<KindSet>& kinds = {});

// What the trace has besides: each function makes the table of that name.
ArrowTable tracks_table(const SharedTrace& trace);
ArrowTable processes_table(const SharedTrace& trace);
ArrowTable devices_table(const SharedTrace& trace);
ArrowTable steps_table(const SharedTrace& trace);
ArrowTable memory_table(const SharedTrace& trace);
ArrowTable counters_table(const SharedTrace& trace);
ArrowTable flows_table(const SharedTrace& trace);
ArrowTable metadata_table(const SharedTrace& trace);

// What only some events have; `event` names the event, and is in each table at most once, except in that of tensors.
ArrowTable operators_table(const SharedTrace& trace);
ArrowTable tensors_table(const SharedTrace& trace);
ArrowTable stacks_table(const SharedTrace& trace);
ArrowTable sources_table(const SharedTrace& trace);
ArrowTable kernels_table(const SharedTrace& trace);
ArrowTable graph_nodes_table(const SharedTrace& trace);
ArrowTable copies_table(const SharedTrace& trace);
ArrowTable syncs_table(const SharedTrace& trace);
ArrowTable collectives_table(const SharedTrace& trace);
ArrowTable lanes_table(const SharedTrace& trace);
ArrowTable categories_table(const SharedTrace& trace);
ArrowTable arguments_table(const SharedTrace& trace);

struct NamedTable {
  std::string_view name;
  ArrowTable (*make)(const SharedTrace& trace);
};
// In the order in which people are shown them.
const std::vector<NamedTable>& all_tables();

}  // namespace telltale::python
