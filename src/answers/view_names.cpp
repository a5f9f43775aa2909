#include "answers/view_names.h"

#include <string_view>

#include "analysis/host_work.h"
#include "report/shown_names.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kMostColumns = 160;
// Signatures of kernels reach some thousand characters. What is longer is no name that could be understood.
constexpr std::size_t kMostBytesToUnderstand = 20'000;

std::string_view understood(std::string_view name) { return name.substr(0, kMostBytesToUnderstand); }

ColorIndex color_of(Kind kind, std::string_view name) {
  return color_index(kind, work_of_call(kind, understood(name)));
}

}  // namespace

ViewNames::ViewNames(const Trace& trace, const std::vector<NameUse>& uses) : trace_(trace), place_of_(uses.size(), 0) {
  std::vector<NamedRow> rows;
  for (StringId name = 0; name < uses.size(); ++name) {
    if (uses[name].events == 0) continue;
    place_of_[name] = static_cast<std::uint32_t>(rows.size());
    rows.push_back({uses[name].kind, std::string(understood(trace.strings[name]))});
    colors_.push_back({uses[name].kind, color_of(uses[name].kind, trace.strings[name])});
  }
  names_ = shortened_names(rows);
  for (std::string& name : names_) {
    name = cut_to_width(name, kMostColumns);
    name.shrink_to_fit();
  }
}

ColorIndex ViewNames::color_of_call(Kind kind, StringId name) const {
  const NamedColor& known = colors_[place_of_[name]];
  return known.kind == kind ? known.color : color_of(kind, trace_.strings[name]);
}

}  // namespace telltale::answers
