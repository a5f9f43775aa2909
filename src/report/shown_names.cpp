#include "report/shown_names.h"

#include <algorithm>
#include <set>
#include <string_view>
#include <unordered_map>

#include "report/kernel_name.h"
#include "report/text_width.h"

namespace telltale {
namespace {

// /usr/lib/python3/site-packages/torch/nn/modules/module.py(1775): call is modules/module.py(1775): call.
// <built-in method mul of type object at 0x7fc07a73e180> is <built-in method mul>: where it lies tells nobody anything.
std::string short_python_name(std::string_view name) {
  const std::size_t owner = name.find(" of ");
  if (name.starts_with("<built-in ") && name.ends_with('>') && owner != std::string_view::npos) {
    return std::string(name.substr(0, owner)) + '>';
  }
  const std::size_t path_end = std::min(name.find("): "), name.size());
  const std::size_t last = name.substr(0, path_end).rfind('/');
  if (last == std::string_view::npos || last == 0) return std::string(name);
  const std::size_t before = name.substr(0, last).rfind('/');
  return std::string(name.substr(before == std::string_view::npos ? 0 : before + 1));
}

std::string short_name(const NamedRow& row) {
  switch (row.kind) {
    case Kind::kKernel:
    case Kind::kDeviceOther:
      return short_kernel_name(row.name);
    case Kind::kPython:
      return short_python_name(row.name);
    case Kind::kModule: {
      constexpr std::string_view kPrefix = "nn.Module: ";
      return row.name.starts_with(kPrefix) ? row.name.substr(kPrefix.size()) : row.name;
    }
    default:
      return row.name;
  }
}

std::string longer_name(const NamedRow& row) {
  return row.kind == Kind::kKernel || row.kind == Kind::kDeviceOther ? medium_kernel_name(row.name) : row.name;
}

using Group = std::vector<std::size_t>;

// The rows that share a text, for each text that several have.
std::vector<Group> repeated(const std::vector<std::string>& texts) {
  std::unordered_map<std::string_view, Group> rows_of;
  for (std::size_t i = 0; i < texts.size(); ++i) rows_of[texts[i]].push_back(i);
  std::vector<Group> groups;
  for (auto& [text, rows] : rows_of) {
    if (rows.size() > 1) groups.push_back(std::move(rows));
  }
  return groups;
}

std::size_t common_prefix(const std::vector<std::string>& names, const Group& rows) {
  std::size_t length = names[rows.front()].size();
  for (const std::size_t row : rows) {
    const std::string& name = names[row];
    const auto [end, _] = std::ranges::mismatch(names[rows.front()], name);
    length = std::min(length, static_cast<std::size_t>(end - names[rows.front()].begin()));
  }
  return length;
}

bool is_continuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) == 0x80; }

std::size_t start_of_character(const std::string& text, std::size_t at) {
  while (at > 0 && at < text.size() && is_continuation(text[at])) --at;
  return at;
}

// The name's beginning and what follows each of `places` (ascending), as much of each as fits.
std::string cut_around(const std::string& name, const std::vector<std::size_t>& places, std::size_t width) {
  std::string shown;
  std::size_t end = name.size();
  for (auto place = places.rbegin(); place != places.rend(); ++place) {
    const std::size_t room = width - display_width(shown);
    const std::string_view piece = std::string_view(name).substr(*place, end - *place);
    shown.insert(0, cut_to_width(piece, room - room / 3));
    end = *place;
  }
  return cut_to_width(std::string_view(name).substr(0, end), width - display_width(shown)) + shown;
}

// What stands in <> tells kernels apart: where it fits, the name before it is cut instead.
std::string cut_before_arguments(const std::string& name, std::size_t width) {
  constexpr std::size_t kLeastBeforeArguments = 12;
  const std::size_t open = name.find('<');
  if (open == std::string::npos || open == 0) return cut_to_width(name, width);
  const std::string_view arguments = std::string_view(name).substr(open);
  const std::size_t taken = display_width(arguments);
  if (taken + kLeastBeforeArguments > width) return cut_to_width(name, width);
  return cut_to_width(name.substr(0, open), width - taken).append(arguments);
}

}  // namespace

std::string shortened_name(Kind kind, std::string_view name) {
  return printable(short_name({kind, std::string(name)}));
}

std::string name_in_sentence(std::string_view name) {
  constexpr std::size_t kLongest = 60;
  const bool is_frame = name.find(".py(") != std::string_view::npos;
  return cut_to_width(is_frame ? shortened_name(Kind::kPython, name) : printable(name), kLongest);
}

std::vector<std::string> shortened_names(const std::vector<NamedRow>& rows) {
  std::vector<std::string> names;
  for (const NamedRow& row : rows) names.push_back(printable(short_name(row)));
  for (const Group& group : repeated(names)) {
    for (const std::size_t row : group) names[row] = printable(longer_name(rows[row]));
  }
  return names;
}

std::vector<std::string> fitted_names(const std::vector<std::string>& names, std::size_t width) {
  constexpr std::size_t kLeastToCutInTheMiddle = 12;
  constexpr std::size_t kShownBeforeDifference = 3;
  constexpr int kMostDifferences = 3;
  std::vector<std::string> fitted;
  for (const std::string& name : names) fitted.push_back(cut_before_arguments(name, width));
  if (width < kLeastToCutInTheMiddle) return fitted;

  // What tells a group of equal-looking names apart is shown; what then still looks the same is told apart further on.
  std::vector<std::set<std::size_t>> places(names.size());
  for (int round = 0; round < kMostDifferences; ++round) {
    for (const Group& group : repeated(fitted)) {
      const std::size_t differs_at = common_prefix(names, group);
      for (const std::size_t row : group) {
        if (names[row] == fitted[row]) continue;
        places[row].insert(start_of_character(names[row], differs_at - std::min(differs_at, kShownBeforeDifference)));
        fitted[row] = cut_around(names[row], {places[row].begin(), places[row].end()}, width);
      }
    }
  }
  return fitted;
}

}  // namespace telltale
