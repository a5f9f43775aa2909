#include "trace/event_details.h"

#include <string_view>

#include "trace/remembered.h"

namespace telltale {
namespace {

MemorySpace space_named(std::string_view name) {
  constexpr std::pair<std::string_view, MemorySpace> kSpaces[] = {
      {"Pageable", MemorySpace::kPageable}, {"Pinned", MemorySpace::kPinned},   {"Device", MemorySpace::kDevice},
      {"Array", MemorySpace::kArray},       {"Managed", MemorySpace::kManaged}, {"Unified", MemorySpace::kManaged},
  };
  for (const auto& [spelling, space] : kSpaces)
    if (name == spelling) return space;
  return MemorySpace::kUnknown;
}

}  // namespace

EventDetails::CopySpaces EventDetails::copy_spaces(StringId name) {
  std::optional<CopySpaces>& known = remembered(copy_spaces_, name);
  if (known) return *known;
  CopySpaces spaces;
  const std::string_view text = names_.strings[name];
  const auto open = text.find('('), close = text.rfind(')');
  if (open != std::string_view::npos && close != std::string_view::npos && open < close) {
    const std::string_view inside = text.substr(open + 1, close - open - 1);
    constexpr std::string_view kArrow = " -> ";
    if (const auto arrow = inside.find(kArrow); arrow != std::string_view::npos)
      spaces = {space_named(inside.substr(0, arrow)), space_named(inside.substr(arrow + kArrow.size()))};
    else
      spaces.to = space_named(inside);
  }
  known = spaces;
  return spaces;
}

}  // namespace telltale
