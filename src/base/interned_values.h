// Values stored once and numbered in the order in which they were first seen; the counterpart of InternedStrings for
// small structs.
//
// `Value` needs operator== and a function `hash_value(const Value&)` that argument-dependent lookup finds.
// Not thread-safe while interning.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace telltale {

// Mixes one more number into a hash.
inline std::uint64_t hash_with(std::uint64_t hash, std::uint64_t number) {
  hash = (hash ^ number) * 0x9E3779B97F4A7C15;
  return hash ^ (hash >> 29);
}

template <typename Value>
class InternedValues {
 public:
  std::uint32_t intern(const Value& value) {
    if (index_.size() < 2 * (values_.size() + 1)) grow_index();
    for (std::size_t slot = first_slot(value);; slot = (slot + 1) & (index_.size() - 1)) {
      if (index_[slot] == kFree) {
        index_[slot] = static_cast<std::uint32_t>(values_.size());
        values_.push_back(value);
        return index_[slot];
      }
      if (values_[index_[slot]] == value) return index_[slot];
    }
  }

  // UINT32_MAX when it was never interned.
  std::uint32_t find(const Value& value) const {
    if (index_.empty()) return kFree;
    std::size_t slot = first_slot(value);
    while (index_[slot] != kFree && values_[index_[slot]] != value) slot = (slot + 1) & (index_.size() - 1);
    return index_[slot];
  }

  const Value& operator[](std::size_t id) const { return values_[id]; }
  std::size_t size() const { return values_.size(); }

  // The values, in the order of their numbers; the table is empty afterwards.
  std::vector<Value> take() {
    index_.clear();
    return std::exchange(values_, {});
  }

 private:
  static constexpr std::uint32_t kFree = UINT32_MAX;

  std::size_t first_slot(const Value& value) const {
    const std::uint64_t hash = hash_value(value);
    return static_cast<std::size_t>(hash ^ (hash >> 32)) & (index_.size() - 1);
  }

  void grow_index() {
    index_.assign(std::bit_ceil(4 * (values_.size() + 8)), kFree);
    for (std::uint32_t id = 0; id < values_.size(); ++id) {
      std::size_t slot = first_slot(values_[id]);
      while (index_[slot] != kFree) slot = (slot + 1) & (index_.size() - 1);
      index_[slot] = id;
    }
  }

  std::vector<Value> values_;
  std::vector<std::uint32_t> index_;
};

}  // namespace telltale
