// How calls of some kinds nest on their threads when all other kinds are left out.
//
// Pure and thread-safe; linear in the trace's events, but for a search among steps that overlap.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "trace/kind.h"
#include "trace/trace.h"

namespace telltale {

// A set of kinds of events.
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

struct CallTree {
  // For every event of the trace, in the tree or not: the innermost call of the tree around it, or kNoEvent.
  std::vector<EventId> parent;
  std::vector<bool> is_call;    // whether an event is a call of the tree
  std::vector<bool> is_folded;  // a call that counts as part of its parent: same name, and the parent's only child
};

// Names that torch.profiler leaves out of its tables: its own marks, and accessors too small to matter.
bool is_left_out_by_torch(std::string_view name);

struct CallTreeOptions {
  KindSet kinds;
  // torch.profiler's own tree: folds pairs of one name, such as autocast makes, and leaves its own marks out.
  bool as_torch = false;
};

CallTree call_tree(const Trace& trace, const CallTreeOptions& options);

}  // namespace telltale
