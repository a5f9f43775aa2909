// A request as it came in: its first line and its fields. Nothing in it is to be trusted.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace telltale::serve {

struct RequestHead {
  std::string method;
  std::string target;                                       // "/api/tiles?level=3"
  std::vector<std::pair<std::string, std::string>> fields;  // names in lower case

  std::string_view path() const { return std::string_view(target).substr(0, target.find('?')); }
  std::string_view query() const {
    const std::size_t mark = target.find('?');
    return mark == std::string::npos ? std::string_view() : std::string_view(target).substr(mark + 1);
  }
  std::vector<std::string_view> values(std::string_view name) const {
    std::vector<std::string_view> found;
    for (const auto& [field, value] : fields)
      if (field == name) found.push_back(value);
    return found;
  }
};

}  // namespace telltale::serve
