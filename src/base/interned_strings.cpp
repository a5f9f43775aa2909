#include "base/interned_strings.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace telltale {
namespace {

constexpr std::size_t kFirstBlockBytes = 4096;
constexpr std::size_t kLargestBlockBytes = 1 << 18;
constexpr std::size_t kFirstIndexSlots = 256;

std::uint64_t load_u64(const char* p) {
  std::uint64_t value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
  const auto product = static_cast<unsigned __int128>(a) * b;
  return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
}

// A multiplicative hash over 16 bytes at a time; the odd constants are digits of pi.
std::uint32_t hash_of(std::string_view text) {
  constexpr std::uint64_t kA = 0x243f6a8885a308d3, kB = 0x13198a2e03707345;
  const char* p = text.data();
  std::size_t left = text.size();
  std::uint64_t hash = left * kB;
  while (left > 16) {
    hash = mix(load_u64(p) ^ kA, load_u64(p + 8) ^ hash);
    p += 16;
    left -= 16;
  }
  std::uint64_t low = 0, high = 0;
  if (left >= 8) {
    low = load_u64(p);
    high = load_u64(p + left - 8);
  } else if (left > 0) {
    char tail[8] = {};
    std::memcpy(tail, p, left);
    low = load_u64(tail);
  }
  hash = mix(low ^ kA, high ^ hash ^ kB);
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

InternedStrings::InternedStrings() { texts_.push_back({"", 0, 0}); }

StringId InternedStrings::intern(std::string_view text) {
  if (text.empty()) return kEmptyString;
  if (index_.size() < 2 * texts_.size()) grow_index();
  const std::uint32_t hash = hash_of(text);
  const std::size_t mask = index_.size() - 1;
  for (std::size_t slot = hash & mask;; slot = (slot + 1) & mask) {
    const StringId id = index_[slot];
    if (id == kEmptyString) {
      const auto fresh = static_cast<StringId>(texts_.size());
      texts_.push_back({store(text), static_cast<std::uint32_t>(text.size()), hash});
      index_[slot] = fresh;
      return fresh;
    }
    const Text& known = texts_[id];
    if (known.hash == hash && known.size == text.size() && std::memcmp(known.data, text.data(), text.size()) == 0)
      return id;
  }
}

const char* InternedStrings::store(std::string_view text) {
  if (block_used_ + text.size() > block_size_) {
    const std::size_t next = std::clamp(block_size_ * 2, kFirstBlockBytes, kLargestBlockBytes);
    block_size_ = std::max(next, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
    stored_bytes_ += block_size_;
    block_used_ = 0;
  }
  char* place = blocks_.back().get() + block_used_;
  std::memcpy(place, text.data(), text.size());
  block_used_ += text.size();
  return place;
}

void InternedStrings::grow_index() {
  const std::size_t slots = std::max(kFirstIndexSlots, std::bit_ceil(texts_.size() * 4));
  index_.assign(slots, kEmptyString);
  for (std::size_t id = 1; id < texts_.size(); ++id) {
    std::size_t slot = texts_[id].hash & (slots - 1);
    while (index_[slot] != kEmptyString) slot = (slot + 1) & (slots - 1);
    index_[slot] = static_cast<StringId>(id);
  }
}

std::size_t InternedStrings::memory_bytes() const {
  return stored_bytes_ + texts_.capacity() * sizeof(Text) + index_.capacity() * sizeof(StringId);
}

void InternedStrings::shrink() {
  index_.clear();
  index_.shrink_to_fit();
  texts_.shrink_to_fit();
}

}  // namespace telltale
