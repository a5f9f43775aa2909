#include "formats/memory_snapshot/block_rules.h"

#include <algorithm>
#include <bit>

namespace telltale::memory_snapshot {
namespace {

constexpr std::int64_t kSmallestBlock = 512;
constexpr std::int64_t kLargestSmallRequest = std::int64_t{1} << 20;
constexpr int kFirstDivisionBit = 20;

std::int64_t up_to_division(std::int64_t bytes, std::int64_t divisions) {
  const auto size = static_cast<std::uint64_t>(bytes);
  if (std::has_single_bit(size)) return bytes;
  const std::uint64_t floor = std::bit_floor(size);
  const std::uint64_t step = floor >> (std::bit_width(static_cast<std::uint64_t>(divisions)) - 1);
  if (step == 0) return static_cast<std::int64_t>(floor << 1);
  const std::uint64_t below = size & ~(step - 1);
  return static_cast<std::int64_t>(below == size ? size : below + step);
}

}  // namespace

std::int64_t rounded(const BlockRules& rules, std::int64_t requested) {
  if (requested < kSmallestBlock) return kSmallestBlock;
  const int bit = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(requested))) - 1;
  const auto interval = static_cast<std::size_t>(std::clamp(bit - kFirstDivisionBit, 0, 15));
  const std::int64_t divisions = rules.divisions[interval];
  if (divisions > 1 && requested / divisions >= kSmallestBlock && requested > kSmallestBlock * divisions)
    return up_to_division(requested, divisions);
  return (requested + kSmallestBlock - 1) / kSmallestBlock * kSmallestBlock;
}

std::int64_t smallest_rest(bool splits_finely) { return splits_finely ? kSmallestBlock : kLargestSmallRequest + 1; }

std::int64_t block_bytes(const BlockRules& rules, bool splits_finely, std::int64_t requested, std::int64_t available) {
  const std::int64_t wanted = rounded(rules, requested);
  if (wanted >= available || available - wanted < smallest_rest(splits_finely)) return available;
  return !splits_finely && wanted >= rules.max_split ? available : wanted;
}

}  // namespace telltale::memory_snapshot
