// How Python files are named: without the folder of packages that they were found in.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace telltale::python {

// Without the first of the prefixes that it begins with.
inline std::string_view without_prefix(std::string_view file, const std::vector<std::string>& prefixes) {
  for (const std::string& prefix : prefixes)
    if (file.starts_with(prefix)) return file.substr(prefix.size());
  return file;
}

}  // namespace telltale::python
