// The files that tests read, and texts written for the reader to find.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "formats/input/read_options.h"

namespace telltale::oracle {

// In alphabetical order.
std::vector<std::filesystem::path> bundled_traces();
std::vector<std::filesystem::path> diagnosed_traces();
std::vector<std::filesystem::path> trap_files();

std::string bytes_of(const std::filesystem::path& path);
// Decompressed, by other means than the reader's own.
std::string text_of_file(const std::filesystem::path& path);

// How tests ask the reader to read; blocks of the usual size where none is given.
ReadOptions with_threads(unsigned threads, std::size_t block_bytes = ReadOptions().block_bytes);

// A file with that content, removed with the object.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string_view content, std::string_view suffix = ".json");
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::string path() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

}  // namespace telltale::oracle
