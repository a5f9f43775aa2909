// The raw bytes of a file or of standard input.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "base/error.h"

namespace telltale {

// Owns the descriptor; move-only.
class FileBytes {
 public:
  static Result<FileBytes> open(const std::string& path);
  FileBytes(FileBytes&& other) noexcept
      : path_(std::move(other.path_)),
        descriptor_(std::exchange(other.descriptor_, -1)),
        size_(other.size_),
        bytes_read_(other.bytes_read_) {}
  FileBytes& operator=(FileBytes&&) = delete;
  ~FileBytes();

  // Fewer bytes than asked for mean the end of the file.
  Result<std::size_t> read(std::span<char> into);

  const std::string& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  std::uint64_t bytes_read() const { return bytes_read_; }

 private:
  FileBytes(std::string path, int descriptor, std::uint64_t size)
      : path_(std::move(path)), descriptor_(descriptor), size_(size) {}

  std::string path_;
  int descriptor_;
  std::uint64_t size_;
  std::uint64_t bytes_read_ = 0;
};

}  // namespace telltale
