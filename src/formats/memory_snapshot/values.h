// What a pickle or a JSON text holds, as plain data: numbers, texts, lists and dicts that name one another.
//
// A snapshot has hundreds of millions of references and few distinct values, so a reference takes four bytes and a
// value sixteen. Values may be shared and may contain themselves: whoever walks them bounds how far. Used by one thread
// while it grows; any number of threads may read it then.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace telltale::memory_snapshot {

using ValueId = std::uint32_t;
inline constexpr ValueId kNothing = 0, kFalse = 1, kTrue = 2;
inline constexpr ValueId kNoValue = UINT32_MAX;

enum class ValueKind : std::uint8_t {
  kNone,
  kTruth,
  kInteger,
  kBigInteger,  // beyond 64 bits with sign
  kReal,
  kText,
  kBytes,
  kList,  // tuples and sets, too
  kDict,
  kFunction,  // one of the few that a pickle may name; see pickle.h
};

// A list that grows without moving what it holds.
template <typename T>
class Pages {
 public:
  std::uint64_t size() const { return size_; }
  void push_back(T value) {
    if (size_ == pages_.size() << kPageBits) pages_.push_back(std::make_unique_for_overwrite<T[]>(kPageSize));
    pages_[size_ >> kPageBits][size_ & (kPageSize - 1)] = value;
    ++size_;
  }
  void append(std::span<const T> values) {
    while (!values.empty()) {
      if (size_ == pages_.size() << kPageBits) pages_.push_back(std::make_unique_for_overwrite<T[]>(kPageSize));
      const std::uint64_t count = std::min<std::uint64_t>(values.size(), kPageSize - (size_ & (kPageSize - 1)));
      std::copy_n(values.begin(), count, &(*this)[size_]);
      size_ += count;
      values = values.subspan(count);
    }
  }
  // From number i on, as far as they lie side by side.
  std::span<const T> run(std::uint64_t i, std::uint64_t most) const {
    return {&(*this)[i], std::min(most, kPageSize - (i & (kPageSize - 1)))};
  }
  T& operator[](std::uint64_t i) { return pages_[i >> kPageBits][i & (kPageSize - 1)]; }
  const T& operator[](std::uint64_t i) const { return pages_[i >> kPageBits][i & (kPageSize - 1)]; }
  std::size_t memory_bytes() const { return pages_.size() * kPageSize * sizeof(T); }

 private:
  static constexpr int kPageBits = 16;
  static constexpr std::uint64_t kPageSize = std::uint64_t{1} << kPageBits;
  std::vector<std::unique_ptr<T[]>> pages_;
  std::uint64_t size_ = 0;
};

class Values {
 public:
  Values();

  ValueId integer(std::int64_t number);
  ValueId big_integer(std::string_view little_endian);  // in two's complement, as pickles have it
  ValueId real(double number);
  ValueId text(std::string_view text);
  ValueId bytes(std::string_view bytes);
  ValueId list();
  ValueId dict();
  ValueId function(std::int64_t which);
  // Of dicts: keys and values in turn. The last of equal keys counts.
  void append(ValueId container, std::span<const ValueId> items);

  ValueKind kind(ValueId value) const { return static_cast<ValueKind>(nodes_[value].head >> kKindShift); }
  bool is_list(ValueId value) const { return kind(value) == ValueKind::kList; }
  bool is_dict(ValueId value) const { return kind(value) == ValueKind::kDict; }
  bool is_empty(ValueId container) const { return (nodes_[container].head & kPayload) == 0; }

  // Each of these only where the value is one, and fits.
  std::optional<std::int64_t> as_integer(ValueId value) const;  // truths, too
  std::optional<std::uint64_t> as_unsigned(ValueId value) const;
  std::optional<double> as_real(ValueId value) const;
  std::optional<std::string_view> as_text(ValueId value) const;
  std::int64_t as_function(ValueId value) const { return static_cast<std::int64_t>(nodes_[value].tail); }
  std::string_view bytes_of(ValueId value) const;  // of a text, of bytes, of a big integer

  // Calls `visit(item)` for each, until it returns false. Of dicts: keys and values in turn.
  template <typename Visit>
  void each_item(ValueId container, Visit visit) const {
    for (std::uint64_t chunk = nodes_[container].head & kPayload; chunk != 0;) {
      std::uint64_t first = chunk + kChunkHeader;
      for (const std::uint64_t end = first + items_[chunk]; first < end;) {
        const std::span<const ValueId> run = items_.run(first, end - first);
        for (const ValueId item : run)
          if (!visit(item)) return;
        first += run.size();
      }
      chunk = next_chunk(chunk);
    }
  }

  std::uint64_t value_count() const { return nodes_.size(); }
  // How many items all lists and dicts have together: whoever has visited more of them visits some again.
  std::uint64_t item_count() const { return items_.size(); }
  std::size_t memory_bytes() const;

 private:
  struct Node {
    std::uint64_t head = 0;  // the kind, and the first chunk of a container or the place of a text
    std::uint64_t tail = 0;  // a number's value, a text's length, the last chunk of a container
  };
  static constexpr int kKindShift = 56;
  static constexpr std::uint64_t kPayload = (std::uint64_t{1} << kKindShift) - 1;
  // A chunk of items: how many, the next chunk in two halves, the items. Chunk 0 stands for none.
  static constexpr std::uint64_t kChunkHeader = 3;

  ValueId add(ValueKind kind, std::uint64_t payload, std::uint64_t tail);
  ValueId add_text(ValueKind kind, std::string_view text);
  std::uint64_t next_chunk(std::uint64_t chunk) const {
    return items_[chunk + 1] | std::uint64_t{items_[chunk + 2]} << 32;
  }

  Pages<Node> nodes_;
  Pages<std::uint32_t> items_;
  std::vector<std::unique_ptr<char[]>> text_blocks_;
  std::size_t block_used_ = 0, block_size_ = 0, text_bytes_ = 0;
};

// What a file turned out to hold.
struct Document {
  Values values;
  ValueId top = kNothing;
  std::uint64_t text_bytes = 0;
  bool was_cut = false;                    // the file ends in the middle; `top` is what was known by then
  std::unordered_set<ValueId> unfinished;  // dicts in the middle of which it ends
};

// What a file may ask of us. A snapshot of 2 GB has about 400 million references.
struct DocumentLimits {
  std::uint64_t bytes = std::uint64_t{16} << 30;
  std::uint64_t values = std::uint64_t{1} << 30;      // 16 bytes each
  std::uint64_t references = std::uint64_t{4} << 30;  // 4 bytes each
  std::size_t depth = 1000;                           // of lists and dicts that are open at once
};
// Why the file is refused; nothing while it is within them. Nesting is not looked at.
std::optional<std::string> beyond_limits(const DocumentLimits& limits, std::uint64_t bytes, std::uint64_t values,
                                         std::uint64_t references);
std::string too_deep(const DocumentLimits& limits);

}  // namespace telltale::memory_snapshot
