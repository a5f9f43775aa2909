// A trace's contents under the names that expectations use.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "trace/trace.h"

namespace telltale::oracle {

struct NamedFacts {
  std::map<std::string, std::string> facts;
  std::size_t fields_used = 1;  // fields of the line that name what it is about
};

// `fields` are those of a line: what it is about, in most cases which one ("event", "aten::mm"), and claims about it.
// Nothing when the trace has no such thing.
std::optional<NamedFacts> facts_about(const Trace& trace, const std::vector<std::string>& fields);

}  // namespace telltale::oracle
