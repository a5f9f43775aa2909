// What a trace holds and the format that it is written to has no place for.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

namespace telltale {

struct LeftOut {
  std::uint64_t count = 0;
  std::string_view one, many;  // "memory event", "memory events"
  std::string_view why;        // "folded stacks have no place for them"

  bool operator==(const LeftOut&) const = default;
};

// In the order of a writer's choice; never with a count of 0.
class LeftOutList {
 public:
  void add(std::uint64_t count, std::string_view one, std::string_view many, std::string_view why) {
    if (count > 0) entries_.push_back({count, one, many, why});
  }
  const std::vector<LeftOut>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

 private:
  std::vector<LeftOut> entries_;
};

// Told how much of the work is done, from 0 to 1, every now and then.
using WriteProgress = std::function<void(double)>;

}  // namespace telltale
