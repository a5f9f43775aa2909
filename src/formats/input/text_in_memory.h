// Bytes in memory as the input of a reader. They must outlive it.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>
#include <string_view>

#include "formats/input/text_input.h"

namespace telltale {

class TextInMemory : public TextInput {
 public:
  explicit TextInMemory(std::string_view text) : rest_(text), size_(text.size()) {}

  Result<std::size_t> read(std::span<char> into) override {
    const std::size_t count = std::min(into.size(), rest_.size());
    if (count > 0) std::memcpy(into.data(), rest_.data(), count);
    rest_.remove_prefix(count);
    return count;
  }
  std::uint64_t file_bytes_read() const override { return size_ - rest_.size(); }
  std::uint64_t file_bytes() const override { return size_; }

 private:
  std::string_view rest_;
  std::uint64_t size_;
};

}  // namespace telltale
