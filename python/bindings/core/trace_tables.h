// The tables of a trace, as docs/python.md lists them.
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/call_tree.h"
#include "bindings/core/table.h"
#include "trace/trace.h"

namespace telltale::python {

using SharedTrace = std::shared_ptr<const Trace>;

// All events, in the trace's own memory as far as possible; or those of some kinds, copied.
Table events_table(const SharedTrace& trace, const std::optional<KindSet>& kinds = {});

// What the trace has besides: each function makes the table of that name.
Table tracks_table(const SharedTrace& trace);
Table processes_table(const SharedTrace& trace);
Table devices_table(const SharedTrace& trace);
Table steps_table(const SharedTrace& trace);
Table memory_table(const SharedTrace& trace);
Table counters_table(const SharedTrace& trace);
Table flows_table(const SharedTrace& trace);
Table metadata_table(const SharedTrace& trace);

// What only some events have; `event` names the event, and is in each table at most once, except in that of tensors.
Table operators_table(const SharedTrace& trace);
Table tensors_table(const SharedTrace& trace);
Table stacks_table(const SharedTrace& trace);
Table sources_table(const SharedTrace& trace);
Table kernels_table(const SharedTrace& trace);
Table graph_nodes_table(const SharedTrace& trace);
Table copies_table(const SharedTrace& trace);
Table syncs_table(const SharedTrace& trace);
Table collectives_table(const SharedTrace& trace);
Table lanes_table(const SharedTrace& trace);
Table categories_table(const SharedTrace& trace);
Table arguments_table(const SharedTrace& trace);

struct NamedTable {
  std::string_view name;
  Table (*make)(const SharedTrace& trace);
};
// In the order in which people are shown them.
const std::vector<NamedTable>& all_tables();

}  // namespace telltale::python
