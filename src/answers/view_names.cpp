#include "answers/view_names.h"

#include <string_view>

#include "report/shown_names.h"
#include "report/text_width.h"

namespace telltale::answers {
namespace {

constexpr std::size_t kMostColumns = 160;
// Signatures of kernels reach some thousand characters. What is longer is no name that could be understood.
constexpr std::size_t kMostBytesToUnderstand = 20'000;

}  // namespace

ViewNames::ViewNames(const Trace& trace, const std::vector<NameUse>& uses) : place_of_(uses.size(), 0) {
  std::vector<NamedRow> rows;
  for (StringId name = 0; name < uses.size(); ++name) {
    if (uses[name].events == 0) continue;
    place_of_[name] = static_cast<std::uint32_t>(rows.size());
    rows.push_back({uses[name].kind, std::string(trace.strings[name].substr(0, kMostBytesToUnderstand))});
  }
  names_ = shortened_names(rows);
  for (std::string& name : names_) {
    name = cut_to_width(name, kMostColumns);
    name.shrink_to_fit();
  }
}

}  // namespace telltale::answers
