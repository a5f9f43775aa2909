// The tables of a trace, as docs/python.md lists them.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/call_tree.h"
#include "bindings/core/arrow_table.h"
#include "trace/trace.h"

namespace telltale::python {

using SharedTrace = std::shared_ptr<const Trace>;

// All events, in the trace's own memory as far as possible; or those of some kinds, copied.
ArrowTable events_table(const SharedTrace& trace, const std::optional<KindSet>& kinds = {});

struct NamedTable {
  std::string_view name;
  std::string_view text;  // what it holds, in a sentence
  std::function<ArrowTable(const SharedTrace& trace)> make;
};
// In the order in which people are shown them: the events; what only some events have, where `event` names the event
// and is in each table at most once, except in that of tensors; what the trace has besides.
const std::vector<NamedTable>& all_tables();

}  // namespace telltale::python
