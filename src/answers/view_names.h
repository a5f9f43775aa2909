// The names of events as the page shows them: shortened as in tables, and never longer than anybody reads.
//
// Made once for a trace, which must outlive it, in time linear in its names; then immutable and thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "answers/view_colors.h"
#include "timeline/name_uses.h"
#include "trace/trace.h"

namespace telltale::answers {

class ViewNames {
 public:
  ViewNames(const Trace& trace, const std::vector<NameUse>& uses);

  // Of a text that names events.
  const std::string& shown(StringId name) const { return names_[place_of_[name]]; }

  // Its place among the colors, by what the call does.
  ColorIndex color_of_call(Kind kind, StringId name) const;

 private:
  struct NamedColor {
    Kind kind;  // which most names have alone
    ColorIndex color;
  };

  const Trace& trace_;
  std::vector<std::string> names_;
  std::vector<NamedColor> colors_;       // likewise
  std::vector<std::uint32_t> place_of_;  // by StringId: in names_
};

}  // namespace telltale::answers
