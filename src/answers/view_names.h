// The names of events as the page shows them: shortened as in tables, and never longer than anybody reads.
//
// Made once for a trace, in time linear in its names; then immutable and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "timeline/name_uses.h"
#include "trace/trace.h"

namespace telltale::answers {

class ViewNames {
 public:
  ViewNames(const Trace& trace, const std::vector<NameUse>& uses);

  // Of a text that names events.
  const std::string& shown(StringId name) const { return names_[place_of_[name]]; }

 private:
  std::vector<std::string> names_;
  std::vector<std::uint32_t> place_of_;  // by StringId: in names_
};

}  // namespace telltale::answers
