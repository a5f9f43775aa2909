#include "formats/memory_snapshot/values.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/amounts.h"

namespace telltale::memory_snapshot {
namespace {

constexpr std::int64_t kSmallIntegers = 256;  // they are made once
constexpr ValueId kFirstSmallInteger = kTrue + 1;
constexpr std::size_t kTextBlockBytes = std::size_t{1} << 18;

}  // namespace

Values::Values() {
  add(ValueKind::kNone, 0, 0);
  add(ValueKind::kTruth, 0, 0);
  add(ValueKind::kTruth, 0, 1);
  for (std::int64_t i = 0; i < kSmallIntegers; ++i) add(ValueKind::kInteger, 0, static_cast<std::uint64_t>(i));
  items_.push_back(0);  // no chunk is number 0
}

ValueId Values::add(ValueKind kind, std::uint64_t payload, std::uint64_t tail) {
  nodes_.push_back({static_cast<std::uint64_t>(kind) << kKindShift | payload, tail});
  return static_cast<ValueId>(nodes_.size() - 1);
}

ValueId Values::integer(std::int64_t number) {
  if (number >= 0 && number < kSmallIntegers) return kFirstSmallInteger + static_cast<ValueId>(number);
  return add(ValueKind::kInteger, 0, static_cast<std::uint64_t>(number));
}

ValueId Values::real(double number) { return add(ValueKind::kReal, 0, std::bit_cast<std::uint64_t>(number)); }

ValueId Values::list() { return add(ValueKind::kList, 0, 0); }

ValueId Values::dict() { return add(ValueKind::kDict, 0, 0); }

ValueId Values::function(std::int64_t which) { return add(ValueKind::kFunction, 0, static_cast<std::uint64_t>(which)); }

ValueId Values::add_text(ValueKind kind, std::string_view text) {
  if (text_blocks_.empty() || block_size_ - block_used_ < text.size()) {
    block_size_ = std::max(kTextBlockBytes, text.size());
    block_used_ = 0;
    text_blocks_.push_back(std::make_unique_for_overwrite<char[]>(block_size_));
    text_bytes_ += block_size_;
  }
  const std::uint64_t place = (text_blocks_.size() - 1) << 32 | block_used_;
  if (!text.empty()) std::memcpy(text_blocks_.back().get() + block_used_, text.data(), text.size());
  block_used_ += text.size();
  return add(kind, place, text.size());
}

ValueId Values::text(std::string_view text) { return add_text(ValueKind::kText, text); }

ValueId Values::bytes(std::string_view bytes) { return add_text(ValueKind::kBytes, bytes); }

ValueId Values::big_integer(std::string_view little_endian) { return add_text(ValueKind::kBigInteger, little_endian); }

void Values::append(ValueId container, std::span<const ValueId> items) {
  if (items.empty()) return;
  Node& node = nodes_[container];
  const std::uint64_t last = node.tail;
  const bool is_at_end = (node.head & kPayload) != 0 && last + kChunkHeader + items_[last] == items_.size();
  if (is_at_end && items_[last] + items.size() <= UINT32_MAX) {
    items_[last] += static_cast<std::uint32_t>(items.size());
  } else {
    const std::uint64_t chunk = items_.size();
    items_.push_back(static_cast<std::uint32_t>(items.size()));
    items_.push_back(0);
    items_.push_back(0);
    if ((node.head & kPayload) == 0) {
      node.head |= chunk;
    } else {
      items_[last + 1] = static_cast<std::uint32_t>(chunk);
      items_[last + 2] = static_cast<std::uint32_t>(chunk >> 32);
    }
    node.tail = chunk;
  }
  items_.append(items);
}

std::optional<std::int64_t> Values::as_integer(ValueId value) const {
  const ValueKind it = kind(value);
  if (it != ValueKind::kInteger && it != ValueKind::kTruth) return std::nullopt;
  return static_cast<std::int64_t>(nodes_[value].tail);
}

std::optional<std::uint64_t> Values::as_unsigned(ValueId value) const {
  if (const auto number = as_integer(value)) {
    if (*number < 0) return std::nullopt;
    return static_cast<std::uint64_t>(*number);
  }
  if (kind(value) != ValueKind::kBigInteger) return std::nullopt;
  const std::string_view bytes = bytes_of(value);
  std::uint64_t number = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    if (i >= sizeof number && byte != 0) return std::nullopt;
    if (i < sizeof number) number |= std::uint64_t{byte} << (8 * i);
  }
  return number;
}

std::optional<double> Values::as_real(ValueId value) const {
  if (kind(value) == ValueKind::kReal) return std::bit_cast<double>(nodes_[value].tail);
  if (const auto number = as_integer(value)) return static_cast<double>(*number);
  return std::nullopt;
}

std::optional<std::string_view> Values::as_text(ValueId value) const {
  if (kind(value) != ValueKind::kText) return std::nullopt;
  return bytes_of(value);
}

std::string_view Values::bytes_of(ValueId value) const {
  const Node& node = nodes_[value];
  const std::uint64_t place = node.head & kPayload;
  return {text_blocks_[place >> 32].get() + static_cast<std::uint32_t>(place), node.tail};
}

std::size_t Values::memory_bytes() const { return nodes_.memory_bytes() + items_.memory_bytes() + text_bytes_; }

std::optional<std::string> beyond_limits(const DocumentLimits& limits, std::uint64_t bytes, std::uint64_t values,
                                         std::uint64_t references) {
  if (bytes > limits.bytes) return "is larger than the " + format_bytes(limits.bytes) + " that Telltale reads";
  if (values > limits.values) return "holds more values than Telltale reads (" + std::to_string(limits.values) + ")";
  if (references > limits.references)
    return "holds more references than Telltale reads (" + std::to_string(limits.references) + ")";
  return std::nullopt;
}

std::string too_deep(const DocumentLimits& limits) {
  return "is nested more than " + std::to_string(limits.depth) + " deep, as no memory snapshot is";
}

}  // namespace telltale::memory_snapshot
