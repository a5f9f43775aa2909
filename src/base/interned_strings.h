// Strings stored once and named by a small number, in the order in which they were first seen.
//
// Id 0 is always the empty string. Views stay valid as long as the table lives: text never moves.
// Not thread-safe while interning; any number of threads may read a table that nobody changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace telltale {

using StringId = std::uint32_t;
inline constexpr StringId kEmptyString = 0;

class InternedStrings {
 public:
  InternedStrings();

  StringId intern(std::string_view text);

  std::string_view operator[](StringId id) const { return {texts_[id].data, texts_[id].size}; }
  std::size_t size() const { return texts_.size(); }

  // Bytes held, the hash index included.
  std::size_t memory_bytes() const;

  // Drops the index that only interning needs, and spare capacity. Interning again rebuilds it.
  void shrink();

 private:
  struct Text {
    const char* data;
    std::uint32_t size;
    std::uint32_t hash;
  };

  const char* store(std::string_view text);
  void grow_index();

  std::vector<Text> texts_;
  std::vector<StringId> index_;  // open addressing; kEmptyString marks a free slot
  std::vector<std::unique_ptr<char[]>> blocks_;
  std::size_t block_used_ = 0;
  std::size_t block_size_ = 0;
  std::size_t stored_bytes_ = 0;
};

}  // namespace telltale
