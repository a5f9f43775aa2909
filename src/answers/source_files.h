// Reads files of the program for those who may look at them: only inside of the folders that the user named, only
// regular files, and only by the path that a trace has them under.
//
// Safe to use by several threads.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace telltale::answers {

// What stands in folders and below them, as it is when this is made. Links that lead out of a folder are not followed;
// hidden folders and those of packages are left out, and so is what lies beyond the first 50,000 entries.
class SourceIndex {
 public:
  explicit SourceIndex(const std::vector<std::string>& folders);

  // The file in one of the folders that ends in as many components of the path as possible, the name at least; without
  // one, that below them of which the same is true. Otherwise a sentence that says what to do.
  Result<std::string> find(std::string_view path) const;

 private:
  struct Entry {
    std::filesystem::path file;      // absolute
    std::filesystem::path relative;  // to its folder
  };
  void add(const std::filesystem::path& folder);
  Result<std::string> find_below(const std::vector<std::string>& components) const;

  std::vector<std::string> names_;              // of the folders, as the user has them
  std::vector<std::filesystem::path> folders_;  // those that exist
  std::multimap<std::string, Entry> by_name_;
};

// Its lines, or a sentence about why it is not shown.
Result<std::vector<std::string>> read_lines(const std::string& file);

}  // namespace telltale::answers
