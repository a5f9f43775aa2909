// A set of kinds of events.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "trace/kind.h"

namespace telltale {

class KindSet {
 public:
  constexpr KindSet() = default;
  constexpr KindSet(std::initializer_list<Kind> kinds) {
    for (const Kind kind : kinds) bits_ |= bit(kind);
  }
  static constexpr KindSet all() {
    KindSet set;
    set.bits_ = (std::uint32_t{1} << kKindCount) - 1;
    return set;
  }

  constexpr void add(Kind kind) { bits_ |= bit(kind); }
  constexpr bool contains(Kind kind) const { return (bits_ & bit(kind)) != 0; }
  constexpr bool overlaps(KindSet other) const { return (bits_ & other.bits_) != 0; }
  constexpr bool operator==(const KindSet&) const = default;

 private:
  static constexpr std::uint32_t bit(Kind kind) { return std::uint32_t{1} << static_cast<unsigned>(kind); }
  std::uint32_t bits_ = 0;
};
static_assert(kKindCount < 32);

}  // namespace telltale
