#include "bindings/core/torch_numbers.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

namespace telltale::python {
namespace {

bool is_numbered(Kind kind) {
  return kind == Kind::kOperator || kind == Kind::kAnnotation || kind == Kind::kPython || kind == Kind::kModule;
}

bool is_of_record_function(Kind kind) { return kind == Kind::kOperator || kind == Kind::kAnnotation; }

// What an event has beside them: an object, or a value that stands alone and stays as it is.
std::string with_numbers(std::string_view others, Kind kind, std::size_t index) {
  if (!others.empty() && !others.starts_with('{')) return std::string(others);
  const std::string_view members = others.size() > 2 ? others.substr(1, others.size() - 2) : std::string_view();
  return fmt::format(R"({{{}{}{}"Ev Idx":{}}})", members, members.empty() ? "" : ",",
                     is_of_record_function(kind) ? R"("Record function id":0,)" : "", index);
}

}  // namespace

void add_kineto_numbers(Trace& trace) {
  const std::vector<Kind>& kinds = trace.events.kind;
  std::vector<EventId> by_start(kinds.size());
  std::iota(by_start.begin(), by_start.end(), EventId{0});
  std::erase_if(by_start, [&](EventId event) { return !is_numbered(kinds[event]); });
  std::ranges::stable_sort(by_start, {}, [&](EventId event) {
    return std::pair(!is_of_record_function(kinds[event]), trace.events.start[event]);
  });
  std::vector<std::size_t> index(kinds.size());
  for (std::size_t i = 0; i < by_start.size(); ++i) index[by_start[i]] = i;

  SideTable<StringId> all;
  SideTableWalk<StringId> before(trace.other_arguments);
  for (EventId event = 0; event < kinds.size(); ++event) {
    const StringId* const known = before.find(event);
    if (is_numbered(kinds[event])) {
      const std::string text =
          with_numbers(known == nullptr ? std::string_view() : trace.strings[*known], kinds[event], index[event]);
      all.append(event, trace.strings.intern(text));
    } else if (known != nullptr) {
      all.append(event, *known);
    }
  }
  trace.other_arguments = std::move(all);
}

}  // namespace telltale::python
